//! Repositories inside the working tree that are no submodules (T-004, T-201).

use run_loop::domain::code::Code;

use crate::support::repo::{self, Repo};
use crate::trial::{refused, same};

fn nested() -> Repo {
    let repo = Repo::new();
    repo.git(&["init", "-q", "deep/nested"]);
    repo.write("deep/nested/file.txt", "x");
    repo
}

fn commit(repo: &Repo) {
    let nested = repo.root().join("deep/nested");
    repo::git(&nested, &["commit", "-q", "--allow-empty", "-m", "x"]);
}

/// It would enter the tree as a link without content.
#[test]
fn with_commits_is_refused() {
    let repo = nested();
    commit(&repo);
    refused(&repo, Code::NestedRepository, "deep/nested");
}

/// `add` fails, and a `write-tree` after it would still give a tree.
#[test]
fn without_commits_is_refused() {
    let repo = nested();
    refused(&repo, Code::NestedRepository, "deep/nested");
}

/// Neither the advice nor the settings of submodules turn the refusal off.
#[test]
fn with_advice_off_is_refused() {
    let repo = nested();
    commit(&repo);
    repo.git(&["config", "advice.addEmbeddedRepo", "false"]);
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    refused(&repo, Code::NestedRepository, "deep/nested");
}

#[test]
fn ignored() {
    let repo = nested();
    commit(&repo);
    repo.write(".gitignore", "/deep/nested/\n");
    same(&repo).lacks("deep/nested");
}

#[test]
fn linked_worktree_inside_is_refused() {
    let repo = Repo::new();
    repo.git(&["worktree", "add", "-q", "inside"]);
    refused(&repo, Code::NestedRepository, "inside");
}

/// Its files are files like any other.
#[test]
fn bare_repository_inside() {
    let repo = Repo::new();
    repo.git(&["init", "-q", "--bare", "bare.git"]);
    same(&repo).has_mode("bare.git/HEAD", "100644");
}

/// A `.git` that leads nowhere makes no repository: plain git adds the files beside it.
#[test]
fn broken_git_file() {
    let repo = Repo::new();
    repo.write("nested/.git", "gitdir: /nonexistent\n");
    repo.write("nested/file.txt", "x");
    same(&repo).shows("nested/file.txt", "x");
}

#[test]
fn folder_named_git_that_is_no_repository() {
    let repo = Repo::new();
    repo.write("nested/.git/file.txt", "x");
    repo.write("nested/file.txt", "x");
    same(&repo)
        .shows("nested/file.txt", "x")
        .lacks("nested/.git");
}

/// Tracked files below a folder that became a repository of its own.
#[test]
fn around_tracked_files() {
    let repo = Repo::new();
    repo.git(&["init", "-q", "src"]);
    repo.write("src/lib.rs", "// edited\n");
    same(&repo).shows("src/lib.rs", "// edited\n");
}

/// … in which new files would be left out.
#[test]
fn around_tracked_and_new_files() {
    let repo = Repo::new();
    repo.git(&["init", "-q", "src"]);
    repo::git(
        &repo.root().join("src"),
        &["commit", "-q", "--allow-empty", "-m", "x"],
    );
    repo.write("src/new.rs", "// new\n");
    same(&repo);
}

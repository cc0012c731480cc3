//! Finding repositories and working trees (rows M-020, T-030, T-031).

use run_loop::domain::code::Code;
use run_loop::git::repository::{ObjectFormat, worktree_source};
use run_loop::git::{Git, GitEnvironment, Repository};

use crate::support::repo::{self, Repo};
use crate::support::source::{discover, git};

#[test]
fn the_main_working_tree_is_found_from_a_folder_inside() {
    let repo = Repo::new();
    let found = discover(&repo.root().join("src"));
    assert_eq!(
        found,
        Repository {
            source_root: repo.root().to_owned(),
            git_dir: repo.root().join(".git"),
            common_dir: repo.root().join(".git"),
            control_root: repo.root().to_owned(),
            object_format: ObjectFormat::Sha1,
        }
    );
}

/// T-031: git answers `.git` from the main working tree and an absolute path from a linked one.
#[test]
fn a_linked_worktree_of_the_same_repository_is_accepted() {
    let repo = Repo::new();
    let linked = repo.linked("feature", "feature", "HEAD");
    let found = worktree_source(&git(), &discover(repo.root()), &linked).unwrap();
    assert_eq!(found.source_root, linked);
    assert_eq!(found.git_dir, repo.root().join(".git/worktrees/feature"));
    assert_eq!(found.common_dir, repo.root().join(".git"));
    assert_eq!(found.control_root, repo.root());
    let back = worktree_source(&git(), &found, repo.root()).unwrap();
    assert_eq!(back, discover(repo.root()));
}

/// T-030.
#[test]
fn what_is_no_worktree_root_of_this_repository_is_refused() {
    let repo = Repo::new();
    let other = Repo::new();
    let control = discover(repo.root());
    let code = |path: &std::path::Path| worktree_source(&git(), &control, path).unwrap_err().code;
    assert_eq!(code(&repo.root().join("src")), Code::WorktreeNotRoot);
    assert_eq!(code(&repo.root().join("README.md")), Code::WorktreeNotFound);
    assert_eq!(code(&repo.beside("nowhere")), Code::WorktreeNotFound);
    assert_eq!(code(other.root()), Code::WorktreeForeign);
    let plain = repo.beside("plain");
    std::fs::create_dir(&plain).unwrap();
    assert_eq!(code(&plain), Code::NotARepository);
}

#[test]
fn a_bare_repository_is_refused_and_its_worktrees_are_accepted() {
    let repo = Repo::new();
    let bare = repo.beside("bare.git");
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let failure = Repository::discover(&git(), &bare).unwrap_err();
    assert_eq!(failure.code, Code::NoWorkingTree);
    let linked = repo.beside("of-bare");
    repo::git(
        &bare,
        &["worktree", "add", "-q", linked.to_str().unwrap(), "main"],
    );
    let found = discover(&linked);
    assert_eq!(found.common_dir, bare);
    assert_eq!(
        found.control_root, linked,
        "a bare repository has no main working tree"
    );
}

#[test]
fn a_folder_inside_the_git_directory_is_no_working_tree() {
    let repo = Repo::new();
    let failure = Repository::discover(&git(), &repo.root().join(".git")).unwrap_err();
    assert_eq!(failure.code, Code::NoWorkingTree);
}

#[test]
fn a_separate_git_directory_keeps_its_working_tree() {
    let repo = Repo::new();
    let apart = repo.beside("apart.git");
    repo.git(&["init", "-q", "--separate-git-dir", apart.to_str().unwrap()]);
    let found = discover(repo.root());
    assert_eq!(found.common_dir, apart);
    assert_eq!(found.control_root, repo.root());
}

#[test]
fn a_missing_or_an_old_git_is_refused() {
    let missing = Git::find_in(&GitEnvironment::new("/nonexistent")).unwrap_err();
    assert_eq!(missing.code, Code::GitTooOld);
    let repo = Repo::new();
    let folder = repo.beside("old");
    std::fs::create_dir(&folder).unwrap();
    let version = "#!/bin/sh\necho git version 2.33.9\n";
    let old = crate::support::agents::executable(&folder, "git", version);
    let environment = GitEnvironment {
        program: Some(old),
        ..GitEnvironment::new("/usr/bin:/bin")
    };
    let failure = Git::find_in(&environment).unwrap_err();
    assert_eq!(failure.code, Code::GitTooOld);
    assert!(failure.message.contains("2.33"), "{}", failure.message);
}

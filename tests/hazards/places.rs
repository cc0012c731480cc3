//! Where a repository, its objects and its working tree lie.

use std::path::PathBuf;

use run_loop::domain::code::Code;

use crate::support::reference::{Untouched, reference};
use crate::support::repo::{self, Repo};
use crate::support::source::{Source, discover, git};
use crate::trial::{Trial, same};

#[test]
fn linked_worktree() {
    let repo = Repo::new();
    let linked = repo.linked("linked", "other", "HEAD");
    repo.write("README.md", "# Not this one\n");
    repo.git(&["add", "-A"]);
    std::fs::write(linked.join("new.txt"), "linked\n").unwrap();
    Trial::at(&repo, &linked)
        .same()
        .shows("new.txt", "linked\n")
        .shows("README.md", "# A project\n");
}

/// Settings of one working tree count there and nowhere else.
#[test]
fn worktree_config() {
    let repo = Repo::new();
    let linked = repo.linked("linked", "other", "HEAD");
    repo.git(&["config", "extensions.worktreeConfig", "true"]);
    repo::git(&linked, &["config", "--worktree", "core.autocrlf", "input"]);
    for root in [repo.root(), &linked] {
        std::fs::write(root.join("new.txt"), "a\r\n").unwrap();
    }
    Trial::at(&repo, &linked).same().shows("new.txt", "a\n");
    same(&repo).shows("new.txt", "a\r\n");
}

#[test]
fn bare_repository_with_worktrees() {
    let repo = Repo::new();
    let (bare, linked) = (repo.beside("bare.git"), repo.beside("linked"));
    repo.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    repo::git(&bare, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("new.txt"), "x\n").unwrap();
    Trial::at(&repo, &linked).same().shows("new.txt", "x\n");
}

#[test]
fn separate_git_dir() {
    let repo = Repo::new();
    let (tree, apart) = (repo.beside("tree"), repo.beside("apart"));
    let option = format!("--separate-git-dir={}", apart.display());
    repo.git(&["clone", "-q", &option, ".", tree.to_str().unwrap()]);
    std::fs::write(tree.join("new.txt"), "x\n").unwrap();
    assert!(tree.join(".git").is_file());
    Trial::at(&repo, &tree).same().shows("new.txt", "x\n");
}

#[test]
fn submodule_as_the_source() {
    let (sub, repo) = (Repo::new(), Repo::new());
    let url = sub.root().to_str().unwrap();
    repo.git(&["submodule", "--quiet", "add", url, "sub"]);
    repo.commit("with sub");
    let inside = repo.root().join("sub");
    std::fs::write(inside.join("new.txt"), "x\n").unwrap();
    repo.write("outside.txt", "x\n");
    Trial::at(&repo, &inside)
        .same()
        .shows("new.txt", "x\n")
        .lacks("outside.txt");
}

#[test]
fn core_worktree_that_names_the_same_folder() {
    let repo = Repo::new();
    repo.git(&["config", "core.worktree", repo.root().to_str().unwrap()]);
    repo.write("new.txt", "x\n");
    same(&repo).shows("new.txt", "x\n");
}

#[test]
fn alternates() {
    let repo = Repo::new();
    let (shared, twice) = (repo.beside("shared"), repo.beside("twice"));
    repo.git(&["clone", "-q", "--shared", ".", shared.to_str().unwrap()]);
    repo::git(
        &shared,
        &["clone", "-q", "--shared", ".", twice.to_str().unwrap()],
    );
    std::fs::write(twice.join("new.txt"), "x\n").unwrap();
    Trial::at(&repo, &twice)
        .same()
        .shows("new.txt", "x\n")
        .shows("README.md", "# A project\n");
}

/// A folder of objects that is gone takes objects away: no tree is made of what is left.
#[test]
fn alternates_that_are_gone_are_refused() {
    let repo = Repo::new();
    let shared = repo.beside("shared");
    repo.git(&["clone", "-q", "--shared", ".", shared.to_str().unwrap()]);
    let source = Source::at(&repo, &shared, Some("HEAD"), git());
    std::fs::rename(repo.root().join(".git"), repo.beside("away")).unwrap();
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable, "{failure}");
    assert!(failure.message.contains(".git/objects"), "{failure}");
}

/// A clone whose remote is away: what is not there stays away, and nothing is asked for.
fn clone_of(origin: &Repo, option: &str, more: &[&str]) -> PathBuf {
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.write("docs/guide.md", "one\n");
    origin.commit("second");
    origin.write("docs/guide.md", "two\n");
    origin.commit("third");
    let clone = origin.beside("clone");
    let url = format!("file://{}", origin.root().display());
    let ends = [url.as_str(), clone.to_str().unwrap()];
    origin.git(&[&["clone", "-q", option], more, &ends].concat());
    let away = "file:///nonexistent";
    repo::git(&clone, &["remote", "set-url", "origin", away]);
    std::fs::write(clone.join("README.md"), "# Fourth\n").unwrap();
    std::fs::write(clone.join("new.txt"), "x\n").unwrap();
    clone
}

#[test]
fn shallow_clone() {
    let origin = Repo::new();
    let clone = clone_of(&origin, "--depth=2", &[]);
    let source = Source::at(&origin, &clone, Some("HEAD~1"), git());
    assert_eq!(source.pin().commits, 1);
    Trial::at(&origin, &clone)
        .same()
        .shows("README.md", "# Fourth\n");
}

#[test]
fn partial_clone() {
    let origin = Repo::new();
    let clone = clone_of(&origin, "--filter=blob:none", &[]);
    let source = Source::at(&origin, &clone, Some("HEAD~1"), git());
    assert_eq!(source.pin().commits, 1);
    Trial::at(&origin, &clone)
        .same()
        .shows("README.md", "# Fourth\n");
}

/// Most files are neither in the working tree nor in the repository.
#[test]
fn partial_clone_that_is_sparse() {
    let origin = Repo::new();
    let clone = clone_of(&origin, "--filter=blob:none", &["--sparse"]);
    assert!(!clone.join("docs").exists(), "the checkout is sparse");
    let full = origin.beside("full");
    origin.git(&["clone", "-q", ".", full.to_str().unwrap()]);
    std::fs::create_dir(clone.join("docs")).unwrap();
    for root in [&clone, &full] {
        std::fs::write(root.join("README.md"), "# Fourth\n").unwrap();
        std::fs::write(root.join("new.txt"), "x\n").unwrap();
        std::fs::write(root.join("docs/new.md"), "new\n").unwrap();
    }
    let before = Untouched::of(&origin, &clone);
    let source = Source::at(&origin, &clone, Some("HEAD"), git());
    let pin = source.pin();
    assert_eq!(pin.identity.tree.as_str(), reference(&full, &[]));
    assert_eq!(source.measure(&pin).pin, pin);
    assert_eq!(before, Untouched::of(&origin, &clone));
}

/// A colon would cut a list of object folders in two, with exit 0.
#[test]
fn colons_and_quotes_in_every_path() {
    let repo = Repo::new();
    let odd = repo.beside("od:d \"quoted\" 'tree' \\n");
    repo.git(&["clone", "-q", ".", odd.to_str().unwrap()]);
    std::fs::write(odd.join("new.txt"), "x\n").unwrap();
    let found = discover(&odd);
    let store = run_loop::git::ReviewStore::open(&git(), &found, &repo.beside("ca:che \"x\""));
    let mut source = Source::at(&repo, &odd, Some("HEAD"), git());
    source.store = store.unwrap();
    let reference = reference(&odd, &[]);
    assert_eq!(source.pin().identity.tree.as_str(), reference);
    Trial::at(&repo, &odd).same().shows("new.txt", "x\n");
}

#[test]
fn folder_that_is_reached_by_a_link() {
    let repo = Repo::new();
    let other = repo.beside("by-link");
    std::os::unix::fs::symlink(repo.root(), &other).unwrap();
    repo.write("new.txt", "x\n");
    Trial::at(&repo, &other).same().shows("new.txt", "x\n");
}

/// Another folder would be captured than the one the command was started in.
#[test]
fn core_worktree_elsewhere_is_refused() {
    let repo = Repo::new();
    let elsewhere = repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let source = Source::of(&repo, "HEAD");
    repo.git(&["config", "core.worktree", elsewhere.to_str().unwrap()]);
    let failure = run_loop::git::Repository::discover(&git(), repo.root()).unwrap_err();
    assert_eq!(failure.code, Code::NoWorkingTree, "{failure}");
    assert!(source.try_pin(1).is_err());
}

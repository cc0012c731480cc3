//! What the user may not read. Root may read everything, so the thread that takes the captures gives that up:
//! both the engine's own look and git meet it.

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::Pin;
use run_loop::git::{Git, GitEnvironment};

use crate::both_ways::aged;
use crate::support::reference::reference;
use crate::support::repo::Repo;
use crate::support::rights::reading_as_anybody;
use crate::support::source::{Source, environment};
use crate::trial::chmod;

/// What becomes of a capture while something has no rights for its owner but these; afterwards it has all.
#[track_caller]
fn captured(repo: &Repo, path: &str, rights: u32) -> Result<Pin, Failure> {
    let path = repo.root().join(path);
    chmod(&path, rights);
    let both = reading_as_anybody(|| {
        let is_closed = std::fs::read(&path).is_err() && std::fs::read_dir(path.join(".")).is_err();
        // Only its names can be read.
        let is_listed = std::fs::symlink_metadata(path.join("deep")).is_err();
        assert!(is_closed || is_listed, "{} is read", path.display());
        [false, true].map(|captures_alone| {
            let git = Git::find_in(&GitEnvironment {
                captures_alone,
                ..environment()
            });
            Source::at(repo, repo.root(), Some("HEAD"), git.unwrap()).try_pin(1)
        })
    });
    chmod(&path, 0o700);
    let [pinned, by_git] = both;
    assert_eq!(pinned, by_git, "by git alone, and as it is taken");
    pinned
}

#[track_caller]
fn refused(repo: &Repo, path: &str, rights: u32) {
    let failure = captured(repo, path, rights).unwrap_err();
    assert_eq!(failure.code, Code::UnreadableFile, "{rights:o} {failure}");
    assert!(failure.message.contains(path), "{rights:o} {failure}");
    assert_ne!(failure.next.0[1], "explain", "a next command that helps");
}

#[test]
fn file_is_refused_and_named() {
    let repo = aged();
    repo.write("docs/b.md", "edited\n");
    refused(&repo, "docs/b.md", 0o000);
    repo.write("locked.txt", "x");
    refused(&repo, "locked.txt", 0o000);
}

/// Neither what an index says of the files in it, nor that nothing was seen of them, is an answer: with no
/// rights at all, with its names alone, and with its files alone.
#[test]
fn folder_is_refused_and_named() {
    for rights in [0o000, 0o400, 0o100] {
        let repo = aged();
        refused(&repo, "docs", rights);
        refused(&repo, "docs/deep", rights);
    }
}

#[test]
fn new_folder_is_refused_and_named() {
    let repo = aged();
    repo.write("new/deep/file.txt", "x");
    for rights in [0o000, 0o400, 0o100] {
        refused(&repo, "new", rights);
    }
}

/// A rule that cannot be read may ignore whatever is new.
#[test]
fn rules_are_refused_and_named() {
    let repo = aged();
    repo.write("new.txt", "x");
    refused(&repo, ".gitignore", 0o000);
    repo.write("more/.gitignore", "*.log\n");
    repo.write("more/new.txt", "x");
    refused(&repo, "more/.gitignore", 0o000);
}

/// Git looks into none, and nothing of it belongs to the tree.
#[test]
fn ignored_folder_is_no_obstacle() {
    let repo = aged();
    repo.write("build/deep/out.txt", "ignored");
    repo.write("docs/b.md", "edited\n");
    let pin = captured(&repo, "build", 0o000).unwrap();
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

#[test]
fn index_is_refused_and_named() {
    refused(&aged(), ".git/index", 0o000);
}

//! `worktree remove` with submodules: their repositories go with the working tree, so everything
//! in them that no remote has keeps it (T-155, M-228 to M-230).

use std::path::Path;

use crate::fixture::{User, commit};
use crate::submodules::{modules, with_submodules};
use crate::support::repo::git;

struct Place {
    user: User,
    tree: std::path::PathBuf,
}

fn place() -> Place {
    let user = with_submodules();
    let tree = user.prepare(&["topic", "--base", "main", "--submodules"]);
    Place { user, tree }
}

#[track_caller]
fn kept(words: &str, harm: impl FnOnce(&Place, &Path)) {
    let place = place();
    harm(&place, &place.tree.join("libs/a"));
    let args = ["worktree", "remove", "../repo-topic"];
    place
        .user
        .refuses(&[&args[..], &["--dry-run"]].concat(), 3, "RL0129", words);
    place.user.refuses(&args, 3, "RL0129", words);
}

/// A commit that is no longer HEAD; `holds` says what still holds it.
fn left_behind(sub: &Path, holds: impl FnOnce(&Path, &str)) {
    let pinned = git(sub, &["rev-parse", "HEAD"]);
    let commit = commit(sub, "local.txt");
    holds(sub, &commit);
    git(sub, &["checkout", "-q", &pinned]);
}

/// M-227: clean and pushed, it goes, though git refuses a plain removal; the clones of the main
/// working tree stay.
#[test]
fn m227_a_clean_one_is_removed() {
    let place = place();
    let main = crate::fixture::photo(&place.user.root().join(".git/modules"));
    place
        .user
        .run(&["worktree", "remove", "../repo-topic"])
        .ends(0);
    assert!(!place.tree.exists());
    assert!(!modules(&place.user).exists());
    let now = crate::fixture::photo(&place.user.root().join(".git/modules"));
    crate::fixture::same(&main, &now);
}

/// T-155, M-229.
#[test]
fn t155_a_stash() {
    kept("stashes of the submodule repository", |_, sub| {
        std::fs::write(sub.join("content.txt"), "edited\n").unwrap();
        git(sub, &["stash", "push", "-q"]);
    });
}

#[test]
fn t155_a_commit_that_only_a_tag_holds() {
    kept("1 commit of the submodule repository", |_, sub| {
        left_behind(sub, |sub, commit| drop(git(sub, &["tag", "keep", commit])));
    });
}

#[test]
fn t155_a_commit_that_only_an_annotated_tag_holds() {
    kept("1 commit of the submodule repository", |_, sub| {
        left_behind(sub, |sub, commit| {
            git(sub, &["tag", "-a", "-m", "keep", "keep", commit]);
        });
    });
}

#[test]
fn t155_a_note() {
    kept("1 commit of the submodule repository", |_, sub| {
        git(sub, &["notes", "add", "-m", "remember"]);
    });
}

#[test]
fn t155_a_branch() {
    kept("1 commit of the submodule repository", |_, sub| {
        left_behind(sub, |sub, commit| {
            drop(git(sub, &["branch", "local", commit]));
        });
    });
}

#[test]
fn t155_a_commit_in_a_nested_submodule() {
    kept("1 commit of the submodule repository", |_, sub| {
        left_behind(&sub.join("inner"), |sub, commit| {
            git(sub, &["branch", "local", commit]);
        });
    });
}

/// `git submodule update` moved HEAD away from a commit: only reflogs know it.
#[test]
fn a_commit_that_only_a_reflog_holds() {
    kept("only the reflogs of the submodule repository", |_, sub| {
        left_behind(sub, |_, _| {});
    });
}

#[test]
fn a_tag_on_something_else_than_a_commit() {
    kept("which names a blob", |_, sub| {
        let blob = git(sub, &["hash-object", "-w", "content.txt"]);
        git(sub, &["tag", "thing", &blob]);
    });
}

/// M-230: deinitialised, so `git submodule foreach` passes it over; its repository is still here.
#[test]
fn t155_a_commit_in_a_repository_that_is_checked_out_nowhere() {
    kept("1 commit of the submodule repository", |place, sub| {
        left_behind(sub, |sub, commit| {
            drop(git(sub, &["branch", "local", commit]));
        });
        git(
            &place.tree,
            &["submodule", "--quiet", "deinit", "--force", "libs/a"],
        );
    });
}

/// M-230: something that is no whole repository may hold anything.
#[test]
fn t155_a_partial_repository() {
    kept("it is no whole repository", |place, _| {
        git(
            &place.tree,
            &["submodule", "--quiet", "deinit", "--force", "libs/b"],
        );
        std::fs::remove_file(modules(&place.user).join("libs/b/HEAD")).unwrap();
    });
    kept("cannot be examined", |place, _| {
        git(
            &place.tree,
            &["submodule", "--quiet", "deinit", "--force", "libs/b"],
        );
        std::fs::remove_dir_all(modules(&place.user).join("libs/b/objects")).unwrap();
    });
}

/// M-225: nothing uncommitted, submodules included.
#[test]
fn m225_uncommitted_and_ignored_files_of_submodules() {
    kept("holds what its commit does not", |_, sub| {
        std::fs::write(sub.join("inner/mine.txt"), "work\n").unwrap();
    });
    kept("ignored files: libs/a/mine.log", |place, sub| {
        let exclude = modules(&place.user).join("libs/a/info/exclude");
        std::fs::write(exclude, "*.log\n").unwrap();
        std::fs::write(sub.join("mine.log"), "work\n").unwrap();
    });
}

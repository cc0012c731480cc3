//! `worktree prepare --submodules`: all of them, or exactly what was there before.

use std::path::{Path, PathBuf};

use crate::fixture::{User, commit, same};
use crate::support::repo::git;

/// A user whose repository has the submodules `libs/a` (with `inner` in it) and `libs/b` on
/// `main`, neither of them initialised.
pub(crate) fn with_submodules() -> User {
    let user = User::new();
    user.git(&["switch", "-q", "main"]);
    let remote = |name: &str| {
        let path = user.beside(name);
        git(
            user.root(),
            &["init", "-q", "-b", "main", path.to_str().unwrap()],
        );
        commit(&path, "content.txt");
        path
    };
    let add = |to: &Path, from: &Path, at: &str| {
        let from = from.to_str().unwrap();
        git(
            to,
            &[
                "-c",
                "protocol.file.allow=always",
                "submodule",
                "--quiet",
                "add",
                from,
                at,
            ],
        );
        git(to, &["commit", "-q", "-m", "submodule"]);
    };
    let (inner, a, b) = (
        remote("remote-inner"),
        remote("remote-a"),
        remote("remote-b"),
    );
    add(&a, &inner, "inner");
    add(user.root(), &a, "libs/a");
    add(user.root(), &b, "libs/b");
    user.git(&["submodule", "--quiet", "deinit", "--force", "--all"]);
    user
}

pub(crate) fn modules(user: &User) -> PathBuf {
    user.root().join(".git/worktrees/repo-topic/modules")
}

/// M-222: only by option, nested ones too, each usable.
#[test]
fn m222_submodules_by_option_alone() {
    let user = with_submodules();
    let before = std::fs::read(user.root().join(".git/config")).unwrap();
    let tree = user.prepare(&["topic", "--base", "main"]);
    assert!(!tree.join("libs/a/content.txt").exists());
    assert_eq!(
        std::fs::read(user.root().join(".git/config")).unwrap(),
        before
    );
    assert_eq!(user.prepare(&["topic", "--submodules"]), tree);
    for file in [
        "libs/a/content.txt",
        "libs/a/inner/content.txt",
        "libs/b/content.txt",
    ] {
        assert!(tree.join(file).is_file(), "{file}");
    }
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");
}

/// T-151 and M-223: the second clone fails in a new working tree: everything goes, the shared
/// configuration is as it was, and a retry works.
#[test]
fn t151_a_failed_clone_in_a_new_working_tree() {
    let user = with_submodules();
    let (there, away) = (user.beside("remote-b"), user.beside("away"));
    std::fs::rename(&there, &away).unwrap();
    let before = user.photo();
    let args = [
        "worktree",
        "prepare",
        "topic",
        "--base",
        "main",
        "--submodules",
    ];
    let ran = user.run(&args);
    ran.ends(6).with("RL0505").says("taken back");
    assert_eq!(ran.stdout, "");
    same(&before, &user.photo());
    std::fs::rename(&away, &there).unwrap();
    user.run(&args).ends(0);
    assert!(user.beside("repo-topic/libs/b/content.txt").is_file());
}

/// T-151 and M-223: the same in a working tree that was there, with one submodule that the user
/// initialised before: that one stays, with the user's work in it.
#[test]
fn t151_a_failed_clone_keeps_what_was_there_before() {
    let user = with_submodules();
    let tree = user.prepare(&["topic", "--base", "main"]);
    let allow = "protocol.file.allow=always";
    git(
        &tree,
        &[
            "-c",
            allow,
            "submodule",
            "--quiet",
            "update",
            "--init",
            "libs/a",
        ],
    );
    std::fs::write(tree.join("libs/a/mine.txt"), "work\n").unwrap();
    user.git(&["config", "submodule.libs/b.update", "checkout"]);
    let (there, away) = (user.beside("remote-b"), user.beside("away"));
    std::fs::rename(&there, &away).unwrap();
    let config = std::fs::read(user.root().join(".git/config")).unwrap();
    let ran = user.run(&["worktree", "prepare", "topic", "--submodules"]);
    ran.ends(6).with("RL0505").says("taken back");
    assert_eq!(
        std::fs::read(user.root().join(".git/config")).unwrap(),
        config
    );
    assert_eq!(
        std::fs::read_to_string(tree.join("libs/a/mine.txt")).unwrap(),
        "work\n"
    );
    assert!(modules(&user).join("libs/a/HEAD").is_file());
    assert!(!modules(&user).join("libs/b").exists());
    // `inner` of `libs/a` was cloned by this attempt, and is gone with it.
    assert!(!modules(&user).join("libs/a/modules/inner").exists());
    assert!(!tree.join("libs/a/inner/content.txt").exists());

    std::fs::rename(&away, &there).unwrap();
    user.run(&["worktree", "prepare", "topic", "--submodules"])
        .ends(0);
    assert!(tree.join("libs/b/content.txt").is_file());
    assert!(tree.join("libs/a/inner/content.txt").is_file());
    assert!(tree.join("libs/a/mine.txt").is_file());
}

/// T-152: files where a submodule would go.
#[test]
fn t152_files_in_an_uninitialised_submodule_are_refused() {
    let user = with_submodules();
    let tree = user.prepare(&["topic", "--base", "main"]);
    std::fs::write(tree.join("libs/b/mine.txt"), "work\n").unwrap();
    user.refuses(
        &["worktree", "prepare", "topic", "--submodules"],
        3,
        "RL0109",
        "libs/b is a submodule that is not initialised, and holds files",
    );
    assert_eq!(
        std::fs::read_to_string(tree.join("libs/b/mine.txt")).unwrap(),
        "work\n"
    );
}

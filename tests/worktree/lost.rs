//! `worktree remove`: everything that would be lost keeps the working tree (M-225, W07, W15).

use std::path::Path;

use crate::fixture::{User, commit};
use crate::support::repo::{git, git_command};

/// Prepares a working tree, does something to it, and sees the removal refused.
#[track_caller]
fn kept(words: &str, harm: impl FnOnce(&User, &Path)) -> String {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    harm(&user, &tree);
    let args = ["worktree", "remove", "../repo-topic"];
    user.refuses(&[&args[..], &["--dry-run"]].concat(), 3, "RL0129", words);
    // Also when ignored files are given up.
    user.refuses(
        &[&args[..], &["--delete-ignored"]].concat(),
        3,
        "RL0129",
        words,
    );
    user.refuses(&args, 3, "RL0129", words)
}

#[test]
fn w07_uncommitted_changes() {
    kept("uncommitted changes: README.md", |_, tree| {
        std::fs::write(tree.join("README.md"), "# edited\n").unwrap();
    });
    kept("uncommitted changes: README.md", |_, tree| {
        std::fs::write(tree.join("README.md"), "# staged\n").unwrap();
        git(tree, &["add", "README.md"]);
    });
    kept("uncommitted changes: README.md", |_, tree| {
        std::fs::remove_file(tree.join("README.md")).unwrap();
    });
}

/// Edits that git was told not to look at.
#[test]
fn w07_hidden_edits() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        kept("uncommitted changes: README.md", |_, tree| {
            git(tree, &["update-index", flag, "README.md"]);
            std::fs::write(tree.join("README.md"), "# A PROJECT\n").unwrap();
        });
    }
}

/// T-157: a file that the user's settings hide.
#[test]
fn t157_untracked_files_that_settings_hide() {
    let next = kept("untracked files: hidden.txt", |user, tree| {
        user.git(&["config", "status.showUntrackedFiles", "no"]);
        std::fs::write(tree.join("hidden.txt"), "mine\n").unwrap();
    });
    assert!(next.ends_with("status --untracked-files=all"), "{next}");
    kept("untracked files: nested/", |_, tree| {
        git(tree, &["init", "-q", "nested"]);
        commit(&tree.join("nested"), "inner.txt");
    });
}

/// W15: a detached HEAD ahead of every ref. Another working tree's HEAD does not count.
#[test]
fn w15_a_detached_head_that_nothing_holds() {
    let next = kept("2 commits up to", |user, tree| {
        git(tree, &["switch", "-q", "--detach"]);
        commit(tree, "one.txt");
        let tip = commit(tree, "two.txt");
        git(
            &user.beside("other"),
            &["checkout", "-q", "-f", "--detach", &tip],
        );
    });
    assert!(next.contains(" branch rescue-"), "{next}");
}

/// The next command of that refusal saves what it names.
#[test]
fn w15_the_next_command_rescues_the_commits() {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    git(&tree, &["switch", "-q", "--detach"]);
    let tip = commit(&tree, "one.txt");
    let args = ["worktree", "remove", "../repo-topic"];
    let next = user.refuses(&args, 3, "RL0129", "the detached HEAD");
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    user.git(&words);
    user.run(&args).ends(0);
    let holders = user.git(&["branch", "--contains", &tip, "--format=%(refname:short)"]);
    assert!(holders.starts_with("rescue-"), "{holders}");
}

/// Left behind on a detached HEAD: only this working tree's reflog knows it.
#[test]
fn w15_commits_that_only_the_reflog_holds() {
    kept("only the reflog of this working tree's HEAD", |_, tree| {
        git(tree, &["switch", "-q", "--detach"]);
        commit(tree, "one.txt");
        git(tree, &["switch", "-q", "topic"]);
    });
}

/// The same where HEAD names nothing now: its branch is not born, or was taken away.
#[test]
fn w15_commits_that_an_unborn_head_has_left() {
    let words = "only the reflog of this working tree's HEAD";
    kept(words, |_, tree| {
        git(tree, &["switch", "-q", "--detach"]);
        commit(tree, "one.txt");
        git(tree, &["switch", "-q", "--orphan", "fresh"]);
    });
    kept(words, |user, tree| {
        git(tree, &["switch", "-q", "-c", "passing"]);
        commit(tree, "one.txt");
        user.git(&["update-ref", "-d", "refs/heads/passing"]);
        git(tree, &["rm", "-q", "-r", "--cached", "."]);
        git(tree, &["clean", "-qfdx"]);
    });
}

/// Refs of one working tree alone go with it.
#[test]
fn commits_that_only_a_private_ref_holds() {
    kept("refs/worktree/mine", |_, tree| {
        git(tree, &["switch", "-q", "--detach"]);
        let tip = commit(tree, "one.txt");
        git(tree, &["update-ref", "refs/worktree/mine", &tip]);
        git(tree, &["switch", "-q", "topic"]);
    });
}

/// They may hold what is no commit: what the next command names saves it.
#[test]
fn what_a_private_ref_holds_besides_commits() {
    let blob = kept("the blob ", |_, tree| {
        std::fs::write(tree.join("../note"), "kept nowhere else\n").unwrap();
        let blob = git(tree, &["hash-object", "-w", "../note"]);
        git(tree, &["update-ref", "refs/worktree/note", blob.trim()]);
    });
    assert!(blob.contains(" tag rescue-"), "{blob}");
    kept("the tree ", |_, tree| {
        let content = git(tree, &["rev-parse", "HEAD^{tree}"]);
        git(tree, &["update-ref", "refs/worktree/tree", content.trim()]);
    });
}

/// W15: without reflogs `ORIG_HEAD` is all that knows a commit that was reset away.
#[test]
fn w15_a_commit_that_only_orig_head_holds() {
    kept("or its ORIG_HEAD", |user, tree| {
        user.git(&["config", "core.logAllRefUpdates", "false"]);
        git(tree, &["switch", "-q", "--detach"]);
        let log = git(
            tree,
            &[
                "rev-parse",
                "--path-format=absolute",
                "--git-path",
                "logs/HEAD",
            ],
        );
        std::fs::remove_file(log.trim()).unwrap();
        commit(tree, "one.txt");
        git(tree, &["reset", "-q", "--hard", "HEAD~1"]);
    });
}

/// W18: operations that are not finished.
#[test]
fn w18_operations_in_progress() {
    let conflicting = |user: &User, tree: &Path| {
        std::fs::write(tree.join("src/lib.rs"), "ours\n").unwrap();
        git(tree, &["commit", "-qam", "ours"]);
        user.git(&["rev-parse", "feature"])
    };
    kept("a merge that is not finished", |user, tree| {
        let theirs = conflicting(user, tree);
        let merged = git_command(tree).args(["merge", "-q", &theirs]).output();
        assert!(!merged.unwrap().status.success());
    });
    kept("a rebase", |user, tree| {
        let theirs = conflicting(user, tree);
        let rebased = git_command(tree).args(["rebase", "-q", &theirs]).output();
        assert!(!rebased.unwrap().status.success());
    });
    kept("a bisect that is not finished", |_, tree| {
        git(tree, &["bisect", "start"]);
    });
    kept("index.lock exists", |user, _| {
        std::fs::write(user.root().join(".git/worktrees/repo-topic/index.lock"), "").unwrap();
    });
}

/// Another working tree inside of it, even where the outer one ignores it.
#[test]
fn another_working_tree_inside() {
    kept("which lies inside it", |user, tree| {
        std::fs::write(tree.join(".gitignore"), "inner/\n").unwrap();
        git(tree, &["add", ".gitignore"]);
        git(tree, &["commit", "-q", "-m", "ignore"]);
        let inner = tree.join("inner");
        user.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            "inner",
            inner.to_str().unwrap(),
            "main",
        ]);
    });
}

/// What cannot be examined is not "nothing": an index that git cannot read.
#[test]
fn what_cannot_be_examined_is_an_error() {
    let user = User::new();
    user.prepare(&["topic", "--base", "main"]);
    let index = user.root().join(".git/worktrees/repo-topic/index");
    std::fs::write(&index, "no index").unwrap();
    user.refuses(
        &["worktree", "remove", "../repo-topic"],
        6,
        "RL0502",
        "index file",
    );
}

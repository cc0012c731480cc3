//! `worktree remove` where nothing is lost, and between its two looks.

use run_loop::domain::code::Code;
use run_loop::git::worktree::remove::{Request, carry_out, look};
use run_loop::git::{Git, Repository};

use crate::fixture::{User, commit, same};
use crate::support::folders::hide;
use crate::support::repo::git;

/// A clean working tree goes, from within too (W23); branch (W20), stash, configuration and the user's
/// other working tree stay byte by byte.
#[test]
fn a_clean_working_tree_is_removed_and_nothing_else() {
    let user = User::new();
    let before = user.photo();
    let tree = user.prepare(&["topic", "--base", "main"]);
    let tip = commit(&tree, "work.txt");
    // Given up by hand, but the branch's reflog stays, and holds it.
    git(&tree, &["reset", "-q", "--hard", "HEAD~1"]);
    git(&tree, &["reset", "-q", "--hard", &tip]);
    let dry = user.run_in(&tree, &["worktree", "remove", ".", "--dry-run"]);
    dry.ends(0).says("could be removed").says(&tip);
    assert!(tree.join("work.txt").is_file());
    let ran = user.run_in(&tree, &["worktree", "remove", "."]);
    ran.ends(0)
        .says(&format!("refs/heads/topic stays at {tip}"));
    assert!(!tree.exists());
    assert!(!user.git(&["worktree", "list"]).contains("repo-topic"));
    assert_eq!(user.git(&["rev-parse", "topic"]), tip);

    let mut after = user.photo();
    let common = user.root().join(".git");
    let grown = |path: &std::path::PathBuf| {
        path.ends_with("refs/heads/topic") || path.starts_with(common.join("objects"))
    };
    let mut before = before;
    before.retain(|path, _| !grown(path));
    after.retain(|path, _| !grown(path));
    same(&before, &after);
}

/// A branch that only a detached HEAD had is fine once a branch or tag holds it.
#[test]
fn a_detached_head_that_a_tag_holds_is_removed() {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    git(&tree, &["switch", "-q", "--detach"]);
    let lost = commit(&tree, "work.txt");
    user.git(&["tag", "keep", &lost]);
    user.run(&["worktree", "remove", "../repo-topic"]).ends(0);
}

/// What the index says of its folders decides nothing: git's own status believes it.
#[test]
fn what_is_staged_behind_the_folders_of_head_is_kept() {
    for options in [&[][..], &["--split-index"]] {
        let user = User::new();
        let tree = user.prepare(&["topic", "--base", "main"]);
        hide(&tree, "src", "lib.rs", "// hidden\n", options);
        let args = ["worktree", "remove", "../repo-topic"];
        user.refuses(&args, 3, "RL0129", "uncommitted changes: src/lib.rs");
    }
}

/// M-226 and T-154: what comes up after the first look is found by the second.
#[test]
fn t154_what_comes_up_between_the_looks_is_kept() {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    let program = Git::find(&std::env::var_os("PATH").unwrap()).unwrap();
    let repository = Repository::discover(&program, user.root()).unwrap();
    let request = Request {
        git: &program,
        repository: &repository,
        path: &tree,
        delete_ignored: false,
        allow_filters: &[],
    };
    let seen = look(&request).unwrap();
    std::fs::write(tree.join("late.txt"), "written while stopping\n").unwrap();
    let failure = carry_out(&request, &seen).unwrap_err();
    assert_eq!(failure.code, Code::WorktreeAtRisk);
    assert!(failure.message.contains("late.txt"), "{failure}");
    assert!(tree.join("late.txt").is_file());

    std::fs::remove_file(tree.join("late.txt")).unwrap();
    // A commit on the branch is not lost, but it is another state than the one that was shown.
    commit(&tree, "more.txt");
    let failure = carry_out(&request, &seen).unwrap_err();
    assert_eq!(failure.code, Code::WorktreeNotRemovable);
    assert!(tree.join("more.txt").is_file());
    let seen = look(&request).unwrap();
    carry_out(&request, &seen).unwrap();
    assert!(!tree.exists());
}

/// Ignored files are given up by an option alone, and never a repository among them (W07).
#[test]
fn w07_ignored_files_are_given_up_by_option_alone() {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    std::fs::write(tree.join(".gitignore"), "target/\n*.log\n").unwrap();
    git(&tree, &["add", ".gitignore"]);
    git(&tree, &["commit", "-q", "-m", "ignore"]);
    std::fs::create_dir_all(tree.join("target/debug")).unwrap();
    std::fs::write(tree.join("target/debug/a"), "made\n").unwrap();
    std::fs::write(tree.join("run.log"), "made\n").unwrap();
    let args = ["worktree", "remove", "../repo-topic"];
    let next = user.refuses(&args, 3, "RL0129", "ignored files: run.log, target");
    assert_eq!(
        next,
        format!("git -C {} status --ignored", tree.display()),
        "the next command loses nothing"
    );
    let giving_up = [&args[..], &["--delete-ignored"]].concat();
    git(&tree, &["init", "-q", "target/vendored"]);
    user.refuses(
        &giving_up,
        3,
        "RL0129",
        "a repository among the ignored files",
    );
    std::fs::remove_dir_all(tree.join("target/vendored")).unwrap();
    git(&tree, &["init", "-q", "--bare", "target/bare"]);
    user.refuses(
        &giving_up,
        3,
        "RL0129",
        "a repository among the ignored files",
    );
    std::fs::remove_dir_all(tree.join("target/bare")).unwrap();
    user.run(&giving_up).ends(0);
    assert!(!tree.exists());
}

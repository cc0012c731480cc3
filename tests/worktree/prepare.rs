//! `worktree prepare`: a working tree for a branch, or nothing at all.

use std::os::unix::fs::PermissionsExt as _;

use crate::fixture::{User, commit, same};
use crate::support::agents::{Point, within};
use crate::support::bench::Ran;
use crate::support::repo::{git, git_command};

/// M-220: beside the control root, from any folder of any working tree, with hooks behind a link
/// (W23); `BASE=` and `WORKTREE=` alone on stdout; nothing of the user's is touched.
#[test]
fn m220_a_new_branch_gets_a_working_tree_beside_the_repository() {
    let user = User::new();
    // A hook that would show itself, reached through a link.
    let hooks = user.beside("hooks");
    std::fs::create_dir(&hooks).unwrap();
    let hook = hooks.join("post-checkout");
    std::fs::write(&hook, "#!/bin/sh\ntouch hooked\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(user.root().join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink(&hooks, user.root().join(".git/hooks")).unwrap();

    let before = user.photo();
    let inside = user.beside("other").join("src");
    let args = ["worktree", "prepare", "fix/login", "--base", "main"];
    let ran = user.run_in(&inside, &args);
    ran.ends(0);
    let main = user.git(&["rev-parse", "main"]);
    let tree = user.beside("repo-fix-login");
    assert_eq!(
        ran.stdout,
        format!("BASE={main}\nWORKTREE={}\n", tree.display())
    );
    assert_eq!(
        git(&tree, &["symbolic-ref", "HEAD"]),
        "refs/heads/fix/login"
    );
    assert_eq!(git(&tree, &["rev-parse", "HEAD"]), main);
    assert_eq!(git(&tree, &["status", "--porcelain"]), "");

    let mut after = user.photo();
    let common = user.root().join(".git");
    let new = |path: &std::path::PathBuf| {
        path.starts_with(&tree)
            || path.starts_with(common.join("worktrees/repo-fix-login"))
            || path.starts_with(common.join("refs/heads/fix"))
            || path.starts_with(common.join("logs/refs/heads/fix"))
    };
    assert!(after.keys().any(new));
    after.retain(|path, _| !new(path));
    same(&before, &after);
}

/// M-220: what is printed is what the main job takes.
#[test]
fn m220_base_and_worktree_feed_the_main_job() {
    let user = User::new();
    let tree = user.prepare(&["topic", "--base", "main"]);
    commit(&tree, "new.txt");
    let base = user.git(&["rev-parse", "main"]);
    let path = tree.to_str().unwrap();
    let ran = user.run(&[
        "--worktree",
        path,
        "--base",
        &base,
        "--review-only",
        "--reviewer",
        "checks",
    ]);
    ran.ends(0).says("nobody read this change");
}

/// What is printed to go on with can be pasted, whatever the path.
#[test]
fn the_review_that_comes_next_is_quoted_for_a_shell() {
    let user = User::with_config("setup: []");
    let ran = user.run(&[
        "worktree", "prepare", "topic", "--base", "main", "--at", "../a b",
    ]);
    let tree = user.beside("a b");
    ran.ends(0)
        .says(&format!("run-loop --worktree '{}' --base ", tree.display()));
}

/// M-220: repeatable; the second time nothing is made, and `setup:` is not run again.
#[test]
fn m220_again_keeps_what_is_there() {
    let user = User::with_config("setup: ['echo once >> ../count', 'echo noise; echo more >&2']");
    let tree = user.prepare(&["topic", "--base", "main"]);
    std::fs::write(tree.join("mine.txt"), "work\n").unwrap();
    let before = user.photo();
    let ran = user.run_in(&tree, &["worktree", "prepare", "topic"]);
    let main = user.git(&["rev-parse", "main"]);
    assert_eq!(
        ran.stdout,
        format!("BASE={main}\nWORKTREE={}\n", tree.display())
    );
    same(&before, &user.photo());
    assert_eq!(
        std::fs::read_to_string(user.beside("count")).unwrap(),
        "once\n"
    );
}

/// M-220 and T-161: an existing branch stays where it is, `--base` has no effect on it, and that is said.
/// `BASE=` is the merge base, so that its own commits are under review (W23).
#[test]
fn m220_an_existing_branch_stays() {
    let user = User::new();
    let tip = user.git(&["rev-parse", "feature"]);
    let base = user.git(&["rev-parse", "main"]);
    user.git(&["switch", "-q", "--detach", "main"]);
    let ran = user.run(&[
        "worktree", "prepare", "feature", "--base", "main", "--format", "json",
    ]);
    ran.ends(0).says("exists and stays");
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["base"], base.as_str());
    assert_eq!(document["kept"], false);
    assert_eq!(user.git(&["rev-parse", "feature"]), tip);
    assert_eq!(
        git(&user.beside("repo-feature"), &["rev-parse", "HEAD"]),
        tip
    );
}

/// T-150, and every other place inside a repository.
#[test]
fn t150_a_place_inside_a_repository_is_refused() {
    let user = User::new();
    let elsewhere = user.beside("elsewhere");
    git(user.root(), &["init", "-q", elsewhere.to_str().unwrap()]);
    std::os::unix::fs::symlink(user.root(), user.beside("link")).unwrap();
    for at in [
        "inside",
        "a/b/c",
        ".git/x",
        ".git",
        "../other/x",
        "../elsewhere/x",
        "../elsewhere/.git/x",
        "../link/x",
    ] {
        let code = if at == ".git" { "RL0128" } else { "RL0127" };
        let next = user.refuses(&["worktree", "prepare", "topic", "--at", at], 3, code, "");
        assert!(!next.is_empty());
    }
}

/// What lies at the place, or has the branch, is not ours to touch (T-153's leftover link, T-160).
#[test]
fn a_place_or_branch_that_is_taken_is_refused() {
    let user = User::new();
    let at = |name: &str| user.beside(name);
    std::fs::create_dir(at("empty")).unwrap();
    std::fs::write(at("file"), "").unwrap();
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    for name in ["../empty", "../file", "../dangling", "../other"] {
        user.refuses(
            &["worktree", "prepare", "topic", "--at", name],
            3,
            "RL0128",
            "",
        );
    }
    user.refuses(
        &["worktree", "prepare", "feature"],
        3,
        "RL0128",
        "main working tree",
    );
    user.refuses(
        &["worktree", "prepare", "other"],
        3,
        "RL0128",
        "is checked out in",
    );
    // A branch that only a remote has: another one of its name would show an empty change (W23).
    user.git(&["update-ref", "refs/remotes/origin/theirs", "feature"]);
    let next = user.refuses(
        &["worktree", "prepare", "theirs"],
        3,
        "RL0128",
        "origin/theirs",
    );
    assert!(
        next.contains("branch --track theirs origin/theirs"),
        "{next}"
    );
    // A branch that cannot be made beside one that is there.
    user.refuses(
        &["worktree", "prepare", "main/x"],
        3,
        "RL0128",
        "refs/heads/main",
    );
    for name in ["a..b", "HEAD", "refs/heads/x", "x.lock", "a b"] {
        user.refuses(
            &["worktree", "prepare", name],
            2,
            "RL0013",
            "no name for a branch",
        );
    }
    user.refuses(
        &["worktree", "prepare", "topic", "--base", "nope"],
        3,
        "RL0113",
        "nope",
    );
}

/// T-160: a record of a dead working tree is one clear error with its way out; a damaged one is
/// told and in nobody's way.
#[test]
fn t160_stale_records_are_one_clear_error() {
    let user = User::new();
    let tree = user.prepare(&["topic"]);
    std::fs::remove_dir_all(&tree).unwrap();
    let next = user.refuses(
        &["worktree", "prepare", "topic"],
        3,
        "RL0128",
        "folder is gone",
    );
    assert!(next.ends_with("worktree prune --verbose"), "{next}");
    user.git(&["worktree", "prune"]);
    assert_eq!(user.prepare(&["topic"]), tree);

    let damaged = user.root().join(".git/worktrees/other/gitdir");
    let was = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, "").unwrap();
    let ran = user.run(&["worktree", "prepare", "more"]);
    ran.ends(0).says("is damaged");
    std::fs::write(&damaged, was).unwrap();
}

/// T-153, M-221: a failed `setup:` leaves nothing of the attempt, and the next run makes it anew.
#[test]
fn t153_a_failed_setup_is_taken_back() {
    let user = User::with_config(
        "setup: ['touch made-by-setup', 'echo NO-WAY >&2; test -e ../../../go || exit 7']",
    );
    let before = user.photo();
    let args = [
        "worktree",
        "prepare",
        "topic",
        "--base",
        "main",
        "--at",
        "../new/deep/tree",
    ];
    let ran = user.run(&args);
    ran.ends(6)
        .with("RL0505")
        .says("exit 7")
        .says("NO-WAY")
        .says("taken back");
    assert_eq!(ran.stdout, "");
    same(&before, &user.photo());

    std::fs::write(user.beside("go"), "").unwrap();
    user.run(&args).ends(0);
    assert!(user.beside("new/deep/tree/made-by-setup").is_file());
}

/// M-221: what `setup:` wrote in a working tree that was there stays, and that is said: nobody knows whose
/// the files are.
#[test]
fn what_a_failed_setup_wrote_in_a_tree_that_was_there_is_named() {
    let user = User::with_config("setup: ['touch made-by-setup; exit 7']");
    let tree = user.bench.repo.linked("repo-topic", "topic", "main");
    let ran = user.run(&["worktree", "prepare", "topic", "--base", "main"]);
    ran.ends(6)
        .with("RL0505")
        .says("but for what `setup:` wrote in");
    let shows = ran.next();
    assert_eq!(
        shows,
        ["git", "-C", tree.to_str().unwrap(), "status", "--ignored"]
    );
    assert!(tree.join("made-by-setup").is_file());
}

/// What `setup:` wrote beside a new working tree is not said to be taken back.
#[test]
fn what_a_failed_setup_wrote_elsewhere_is_not_said_to_be_gone() {
    let user = User::with_config("setup: ['touch ../agents/made; exit 7']");
    let ran = user.run(&["worktree", "prepare", "topic", "--base", "main"]);
    ran.ends(6)
        .says("but for what `setup:` may have written elsewhere");
    assert!(user.beside("agents/made").is_file());
    assert!(!user.beside("repo-topic").exists());
}

/// W17, T-162: the user's checkout is none of it. A merge with conflicts and edits stay as they are, whether
/// the preparation succeeds or fails (W13: what is said of it is what is).
#[test]
fn w17_a_merge_in_progress_is_left_alone() {
    let user = User::with_config("setup: ['test -e ../../go || test -e ../go']");
    let repo = &user.bench.repo;
    repo.git(&["switch", "-q", "-c", "rival", "main"]);
    repo.write("src/lib.rs", "pub fn rival() {}\n");
    repo.commit("rival");
    repo.git(&["switch", "-q", "feature"]);
    let merge = git_command(repo.root())
        .args(["merge", "-q", "rival"])
        .status();
    assert!(!merge.unwrap().success(), "it was to conflict");
    repo.write("mine.txt", "mine\n");
    let before = user.photo();
    let line = ["worktree", "prepare", "topic", "--base", "main"];
    user.run(&line).ends(6).says("taken back");
    same(&before, &user.photo());
    std::fs::write(user.beside("go"), "").unwrap();
    user.run(&line).ends(0);
    let status = repo.git(&["status", "--porcelain"]);
    assert!(
        status.contains("UU src/lib.rs") && status.contains("?? mine.txt"),
        "{status}"
    );
}

/// A folder that a preparation left which was killed at once is named with what removes it.
#[test]
fn an_empty_folder_in_its_place_can_be_removed() {
    let user = User::new();
    let tree = user.beside("repo-topic");
    std::fs::create_dir(&tree).unwrap();
    let line = ["worktree", "prepare", "topic", "--base", "main"];
    let next = user.refuses(&line, 3, "RL0128", "is empty");
    let words: Vec<&str> = next.split(' ').collect();
    assert_eq!(words[0], "rmdir");
    std::fs::remove_dir(words[1]).unwrap();
    user.run(&line).ends(0);
}

/// T-159 in spirit: a path with white space is taken, and the command for a review is one that a shell reads.
#[test]
fn the_told_review_is_quoted() {
    let user = User::new();
    let at = [
        "worktree",
        "prepare",
        "topic",
        "--base",
        "main",
        "--at",
        "../a tree",
    ];
    let tree = user.beside("a tree");
    user.run(&at)
        .ends(0)
        .says(&format!("run-loop --worktree '{}' --base", tree.display()));
}

/// Work that came to be on the branch meanwhile is not taken back with it.
#[test]
fn a_branch_that_moved_is_not_taken_back() {
    let user = User::with_config("setup: ['git commit -q --allow-empty -m work && exit 1']");
    let ran = user.run(&["worktree", "prepare", "topic", "--base", "main"]);
    ran.ends(6).with("RL0505").says("refs/heads/topic");
    assert!(!user.beside("repo-topic").exists());
    assert_eq!(user.git(&["log", "-1", "--format=%s", "topic"]), "work");
}

/// A signal while `setup:` runs: its processes are ended, and everything is taken back.
#[test]
fn a_signal_takes_everything_back() {
    let user = User::with_config("setup: ['echo $$ > ../../agents/ready; exec sleep 1000']");
    let point = Point::new(&user.beside("agents"), "ready");
    let before = user.photo();
    let tree = user.beside("a/tree");
    let line = ["worktree", "prepare", "topic", "--base", "main", "--at"];
    let child = user.bench.spawn(&[&line[..], &["../a/tree"]].concat());
    let setup = point.reached();
    let pid = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(kill.unwrap().success());
    let ran = Ran::of(&within("the command to end", move || {
        child.wait_with_output().unwrap()
    }));
    ran.ends(143).with("RL0802").says("taken back");
    // It makes the same, and not another branch in another place.
    let again = [&["run-loop"], &line[..], &[tree.to_str().unwrap()]].concat();
    assert_eq!(ran.next(), again);
    assert!(!std::path::Path::new("/proc").join(setup).exists());
    same(&before, &user.photo());
}

/// A command that is wrong in the base's configuration is a usage error, before anything is made.
#[test]
fn a_wrong_configuration_makes_nothing() {
    let user = User::with_config("setup: 7");
    user.refuses(
        &["worktree", "prepare", "topic", "--base", "main"],
        2,
        "RL0009",
        "setup",
    );
}

/// A bare repository has no working tree before its first one is prepared.
#[test]
fn a_bare_repository_gets_its_first_working_tree() {
    let user = User::new();
    let bare = user.beside("bare.git");
    user.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let ran = user.run_in(&bare, &["worktree", "prepare", "topic", "--base", "main"]);
    ran.ends(0);
    let tree = std::fs::canonicalize(user.beside("bare.git-topic")).unwrap();
    let told = format!("WORKTREE={}\n", tree.display());
    assert!(ran.stdout.ends_with(&told), "{}", ran.stdout);
    assert_eq!(git(&tree, &["branch", "--show-current"]).trim(), "topic");
    // In the git directory of one that is not bare nobody can tell which is meant.
    let inside = user.root().join(".git");
    user.run_in(&inside, &["worktree", "prepare", "topic"])
        .ends(3)
        .with("RL0102");
}

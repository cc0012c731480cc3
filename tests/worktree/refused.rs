//! `worktree remove`: which paths are no working tree that can be removed (scenario W02).

use crate::fixture::{User, commit};
use crate::support::agents::{Point, ScriptedAgent, within};
use crate::support::bench::{Bench, Ran};
use crate::support::repo::git;
use run_loop::domain::id::LoopId;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::{RunLock, StateFolder};

fn refuses(user: &User, path: &str, code: &str, words: &str) -> String {
    let args = ["worktree", "remove", path];
    user.refuses(&[&args[..], &["--dry-run"]].concat(), 3, code, words);
    user.refuses(&args, 3, code, words)
}

/// W08 and W02: never the main one, never through a link, never a part of one, never another
/// repository's.
#[test]
fn w02_only_a_registered_working_tree_under_its_own_name() {
    let user = User::new();
    let tree = user.prepare(&["topic"]);
    let link = user.beside("link");
    std::os::unix::fs::symlink(&tree, &link).unwrap();
    let next = refuses(&user, "../link", "RL0130", "is a link to");
    assert_eq!(next, format!("run-loop worktree remove {}", tree.display()));
    refuses(&user, "../link/", "RL0130", "is a link to");
    refuses(&user, ".", "RL0130", "is the main working tree");
    refuses(
        &user,
        "../repo-topic/src",
        "RL0130",
        "lies inside the working tree",
    );
    refuses(
        &user,
        "../home",
        "RL0130",
        "no working tree that git can read",
    );
    refuses(&user, "../repo-topic/README.md", "RL0130", "is no folder");
    refuses(&user, "../nothing", "RL0130", "does not exist");
    let elsewhere = user.beside("elsewhere");
    git(user.root(), &["init", "-q", elsewhere.to_str().unwrap()]);
    refuses(&user, "../elsewhere", "RL0130", "belongs to the repository");
    // A copy of a working tree is none: git has another place on record.
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([&tree, &user.beside("copy")])
        .status();
    assert!(copied.unwrap().success());
    refuses(
        &user,
        "../copy",
        "RL0130",
        "not where git has registered it",
    );
}

/// T-156 and M-231: the folder is gone.
#[test]
fn t156_a_folder_that_is_gone_is_refused_with_a_hint() {
    let user = User::new();
    let tree = user.prepare(&["topic"]);
    std::fs::remove_dir_all(tree).unwrap();
    let next = refuses(&user, "../repo-topic", "RL0130", "its folder is gone");
    assert!(next.ends_with("worktree prune --verbose"), "{next}");
}

/// M-225: a lock is somebody's word that it stays.
#[test]
fn m225_a_locked_working_tree_is_refused() {
    let user = User::new();
    let tree = user.prepare(&["topic"]);
    let path = tree.to_str().unwrap();
    user.git(&["worktree", "lock", "--reason", "on a stick", path]);
    let next = refuses(&user, "../repo-topic", "RL0130", "is locked: on a stick");
    assert_eq!(next, format!("git worktree unlock {path}"));
}

/// M-225 and T-158 in spirit: a loop that runs there keeps it; so does one that another machine
/// may be running (W05).
#[test]
fn t158_a_working_tree_under_a_loop_is_refused() {
    let user = User::new();
    let tree = user.prepare(&["topic"]);
    let state = StateFolder::open(&user.root().join(".git")).unwrap();
    let stamp = Stamp {
        at: Timestamp::from_millis(1_700_000_000_000),
        seed: [7; 32],
    };
    let run = LoopId::mint(&stamp, "loop");
    let lock = RunLock::acquire(&state, &tree, run).unwrap();
    let next = refuses(&user, "../repo-topic", "RL0118", &run.to_string());
    assert_eq!(next, format!("run-loop status {run}"));
    drop(lock);

    // The lock is free, but whether that says anything about another machine is not known.
    let record = std::fs::read_dir(state.locks().path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().ends_with(".owner.json"))
        .unwrap();
    let text = std::fs::read_to_string(&record).unwrap();
    let mut owner: serde_json::Value = serde_json::from_str(&text).unwrap();
    owner["host"] = "another-machine".into();
    std::fs::write(&record, owner.to_string()).unwrap();
    refuses(&user, "../repo-topic", "RL0118", "another-machine");
    owner["host"] = serde_json::from_str::<serde_json::Value>(&text).unwrap()["host"].clone();
    owner["boot_id"] = "an earlier boot".into();
    std::fs::write(&record, owner.to_string()).unwrap();
    user.run(&["worktree", "remove", "../repo-topic"]).ends(0);
}

/// An interrupted run can go on only where its source is, whatever run ended there after it; once it is
/// cancelled nothing holds it.
#[test]
fn a_working_tree_that_a_run_can_be_resumed_in_is_refused() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let user = User {
        bench: bench.reviewer("ann", &agent).ready(),
    };
    let tree = user.prepare(&["topic", "--base", "main"]);
    commit(&tree, "new.txt");
    let path = tree.to_str().unwrap();
    let args = ["--worktree", path, "--base", "main", "--review-only"];
    let child = user.bench.spawn(&args);
    point.reached();
    let pid = child.id().to_string();
    let kill = std::process::Command::new("kill")
        .args(["-TERM", &pid])
        .status();
    assert!(kill.unwrap().success());
    let ran = Ran::of(&within("the run to end", move || {
        child.wait_with_output().unwrap()
    }));
    ran.ends(143);
    user.run(&args).ends(0);
    let next = refuses(&user, path, "RL0129", "can be resumed only here");
    let run = next.strip_prefix("run-loop resume ").unwrap();
    // A journal that cannot be read now is not one that nobody goes on with.
    let journal = user
        .root()
        .join(format!(".git/run-loop/runs/{run}/journal.db"));
    let was = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, "no journal").unwrap();
    let ran = user.run(&["worktree", "remove", path]);
    assert_ne!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    ran.says("cannot be read and may be of this working tree");
    assert!(tree.join("new.txt").exists());
    std::fs::write(&journal, was).unwrap();
    user.run(&["cancel", run]).ends(0);
    user.run(&["worktree", "remove", path]).ends(0);
}

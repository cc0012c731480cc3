//! The gate after a real review.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::repo::git;

fn approved() -> Bench {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .also("checks")
        .ready();
    bench.review().ends(0);
    bench
}

/// The same content is approved under another message, author and history (S32).
#[test]
fn an_amended_commit_with_the_same_content_is_approved() {
    let bench = approved();
    bench.gate().ends(0);
    bench
        .repo
        .git(&["commit", "-q", "--amend", "-m", "another message"]);
    bench.gate().ends(0);
    // Committing the evidence itself does not change the content.
    bench.repo.git(&["add", "-f", ".agents"]);
    bench.repo.git(&["commit", "-q", "-m", "evidence"]);
    bench.gate().ends(0);
}

/// One byte more (S01).
#[test]
fn one_byte_more_is_not_approved() {
    let bench = approved();
    bench.repo.write(
        "src/lib.rs",
        "pub fn one() -> u32 {\n    1\n}\n\npub fn two() -> u32 {\n    2\n} \n",
    );
    bench.repo.commit("a byte");
    bench.gate().ends(4).with("RL0902").says("src/lib.rs");
}

/// S04: main moved on.
#[test]
fn a_base_that_moved_on_is_not_an_ancestor() {
    let bench = approved();
    bench.repo.git(&["switch", "-q", "main"]);
    bench.repo.write("main.txt", "main\n");
    bench.repo.git(&["add", "main.txt"]);
    bench.repo.git(&["commit", "-q", "-m", "main moved"]);
    bench.gate().ends(4).with("RL0903");
}

/// A later run on the same content that ended NOT PASS revokes.
#[test]
fn a_later_not_pass_revokes() {
    let bench = Bench::new();
    let agent = ScriptedAgent::in_turn(
        &bench.repo.beside("turn"),
        &[ScriptedAgent::passing(), ScriptedAgent::not_passing("[]")],
    );
    let bench = bench.reviewer("ann", &agent).ready();
    bench.review().ends(0);
    bench.gate().ends(0);
    bench.review().ends(1);
    bench.gate().ends(1).with("RL0907");
}

/// The same where the content moved in the round that it was said in: that makes approvals void, and no refusal.
#[test]
fn a_later_not_pass_in_a_round_that_is_void_revokes() {
    let bench = Bench::new();
    let moved = bench.repo.root().join("moved.txt");
    let refuses = ScriptedAgent::not_passing("[]");
    let refuses = refuses.after(&format!("echo moved > '{}'", moved.display()));
    let turns = [ScriptedAgent::passing(), refuses];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &agent).ready();
    bench.review().ends(0);
    let last = ["--base", "main", "--review-only", "--max-rounds", "1"];
    bench.run(&last).ends(4).with("RL0201");
    std::fs::remove_file(moved).unwrap();
    bench.gate().ends(1).with("RL0907");
}

/// Issue 4.3: an engine that is killed while it makes its run leaves nothing that the gate could doubt, and
/// what it leaves is taken by `cleanup`. It is killed as soon as anything of the run is there.
#[test]
fn a_run_that_was_killed_while_it_was_made_is_no_doubt() {
    let bench = approved();
    let runs = bench.repo.root().join(".git/run-loop/runs");
    let count = || std::fs::read_dir(&runs).unwrap().count();
    // One that is quicker has begun, and is interrupted.
    let was_being_made = || {
        let before = count();
        let mut run = bench.spawn(&["--base", "main", "--review-only"]);
        while count() == before && run.try_wait().unwrap().is_none() {
            std::hint::spin_loop();
        }
        run.kill().unwrap();
        run.wait().unwrap();
        bench.gate().ends(0);
        let cleaned = bench.run(&["cleanup"]);
        cleaned.ends(0);
        let taken = cleaned.stdout.contains("removed state");
        assert!(!taken || count() == before, "{}", cleaned.stdout);
        taken
    };
    assert!(
        (0..50).any(|_| was_being_made()),
        "no kill came while the run was made"
    );
}

/// Nor does one that ends since what it writes is too large for a limit of its shell.
#[test]
fn a_run_that_cannot_be_made_leaves_nothing() {
    let bench = approved();
    let runs = bench.repo.root().join(".git/run-loop/runs");
    for largest in 1..=11 {
        let run = bench.command(&["--base", "main", "--review-only"]);
        let mut limited = std::process::Command::new("bash");
        limited
            .args(["-c", "ulimit -f $0; exec \"$@\""])
            .arg(largest.to_string())
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(bench.repo.root())
            .env_clear()
            .envs(bench.environment());
        let ended = limited.output().unwrap().status;
        assert_eq!(ended.code(), Some(6), "{largest} KiB");
        assert_eq!(std::fs::read_dir(&runs).unwrap().count(), 1);
    }
    bench.gate().ends(0);
}

/// A fresh clone has nothing that attests (5), although the files are there.
#[test]
fn a_fresh_clone_cannot_attest() {
    let bench = approved();
    bench.repo.git(&["add", "-f", ".agents"]);
    bench.repo.git(&["commit", "-q", "-m", "evidence"]);
    let clone = bench.repo.beside("clone");
    git(
        bench.repo.root(),
        &["clone", "-q", ".", clone.to_str().unwrap()],
    );
    git(&clone, &["branch", "main", "origin/main"]);
    let mut gate = bench.command(&["gate", "--base", "main", "--head", "feature"]);
    let ran = crate::support::bench::Ran::of(&gate.current_dir(&clone).output().unwrap());
    ran.ends(5).with("RL0905");
}

/// S12, S02.
#[test]
fn the_expected_head_is_a_full_oid_and_must_match() {
    let bench = approved();
    let head = bench.repo.git(&["rev-parse", "feature"]);
    let gate = |oid: &str| {
        bench.run(&[
            "gate",
            "--base",
            "main",
            "--head",
            "feature",
            "--expect-head",
            oid,
        ])
    };
    gate(&head).ends(0);
    gate(&head[..12]).ends(2).with("RL0014");
    gate(&bench.repo.git(&["rev-parse", "main"]))
        .ends(4)
        .with("RL0911");
}

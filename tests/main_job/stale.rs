//! A source that moves: rounds are void, reviewed again, ended 4.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;

/// T-007, T-009, S01, S09: round 1 is void, round 2 counts, and only round 2 is promoted.
#[test]
fn an_edit_during_the_review_voids_the_round() {
    let bench = Bench::new();
    let moved = bench.repo.root().join("unrelated.txt");
    let counter = bench.repo.beside("turn");
    let mover = ScriptedAgent::in_turn(
        &counter,
        &[
            ScriptedAgent::writes_into(moved.to_str().unwrap()),
            ScriptedAgent::passing(),
        ],
    );
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &mover)
        .ready();
    bench.review().ends(0).says("unrelated.txt");
    let promoted = bench.promoted();
    assert_eq!(promoted.len(), 5, "{promoted:?}");
    assert_eq!(bench.sidecar("ann")["round"], 2);
    bench.repo.git(&["add", "unrelated.txt"]);
    assert_eq!(
        bench.sidecar("ann")["tree"],
        bench.repo.git(&["write-tree"])
    );
}

/// T-008: stale on the last allowed round.
#[test]
fn a_stale_last_round_ends_4() {
    let bench = Bench::new();
    let moved = bench.repo.root().join("unrelated.txt");
    let mover = ScriptedAgent::writes_into(moved.to_str().unwrap());
    let bench = bench.reviewer("ann", &mover).ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--max-rounds", "2"]);
    ran.ends(4).with("RL0201").says("unrelated.txt");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// Design, section 5: the user commits exactly what is under review; the content did not move.
#[test]
fn committing_what_is_under_review_is_not_stale() {
    let bench = Bench::new();
    let root = bench.repo.root().display().to_string();
    let commit = format!(
        "git -C '{root}' -c user.name=Ann -c user.email=a@example.org commit -q -a -m during"
    );
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing().after(&commit))
        .ready();
    bench.repo.write("src/lib.rs", "pub fn edited() {}\n");
    bench.review().ends(0);
    let sidecar = bench.sidecar("ann");
    assert_ne!(sidecar["head"], sidecar["head_at_promotion"]);
    assert_eq!(sidecar["round"], 1);
    bench.gate().ends(0);
}

/// The tripwire: a reviewer plants a hook. Its PASS is void, and it is said what moved (I01).
#[test]
fn a_planted_hook_voids_the_approvals() {
    let bench = Bench::new();
    let hook = bench.repo.root().join(".git/hooks/post-checkout");
    let plant = format!("echo 'touch /tmp/never' > '{}'", hook.display());
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing().after(&plant))
        .ready();
    bench.review().ends(5).with("RL0305").says("hooks");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// S31: the base is rewound during the run.
#[test]
fn a_rewound_base_is_stale() {
    let bench = Bench::new();
    let root = bench.repo.root().display().to_string();
    bench.repo.write("second.txt", "second\n");
    bench.repo.commit("second");
    let rewind = format!("git -C '{root}' update-ref refs/heads/main main~1");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing().after(&rewind))
        .ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--max-rounds", "1"]);
    ran.ends(4).with("RL0202");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// T-021, S21: nothing to review.
#[test]
fn an_empty_change_set_is_its_own_outcome() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench
        .run(&["--base", "feature", "--review-only"])
        .ends(3)
        .with("RL0117");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// T-006, M-065: what no snapshot can hold voids the round like any other move; the next round
/// finds it there and ends the run as stale, naming it.
#[test]
fn a_nested_repository_that_appears_is_stale() {
    let bench = Bench::new();
    let nested = bench.repo.root().join("nested");
    let agent = ScriptedAgent::passing().after(&format!("git init -q '{}'", nested.display()));
    let bench = bench.reviewer("ann", &agent).ready();
    bench
        .review()
        .ends(4)
        .with("RL0201")
        .says("nested")
        .says("STALE: what was reviewed moved");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

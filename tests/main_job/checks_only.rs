//! No agent, no configuration: the fresh machine.

use crate::support::bench::Bench;

fn fresh() -> Bench {
    let bench = Bench::new();
    bench.repo.git(&["switch", "-q", "-c", "feature"]);
    bench
}

/// Issue 2: with no configuration and no agent the main job ends 0 (`checks only`).
#[test]
fn a_clean_change_passes_and_says_that_nobody_read_it() {
    let bench = fresh();
    bench.repo.write("notes.md", "Some notes.\n");
    bench.repo.commit("notes");
    bench
        .review()
        .ends(0)
        .says("checks only: nobody read this change");
    assert_eq!(bench.sidecar("checks")["by"], "checks");
    // The gate does not take it for a review.
    bench.gate().ends(5).with("RL0906");
}

/// Issue 2: … and 1, naming the file, on one with conflict markers.
#[test]
fn conflict_markers_are_found_and_the_file_is_named() {
    let bench = fresh();
    let (open, close) = ("<".repeat(7), ">".repeat(7));
    let text = format!("a\n{open} HEAD\nb\n{}\nc\n{close} other\n", "=".repeat(7));
    bench.repo.write("src/merged.rs", text);
    bench.repo.commit("merged");
    bench.review().ends(1).with("RL0401").says("src/merged.rs");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// The project's commands run in a tree of their own; one that fails blocks (scenario T02).
#[test]
fn a_failing_check_blocks_and_a_missing_one_is_no_verdict() {
    for (command, code, reason) in [
        ("grep -q two src/lib.rs", 0, ""),
        ("false", 1, "RL0401"),
        ("no-such-program-here", 5, "RL0301"),
    ] {
        let bench = Bench::new()
            .also("checks")
            .config(&format!("checks:\n  - {{name: test, run: {command:?}}}"))
            .ready();
        let ran = bench.review();
        ran.ends(code);
        if code != 0 {
            ran.with(reason);
            assert_eq!(bench.promoted(), Vec::<String>::new());
        }
    }
}

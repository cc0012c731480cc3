//! `env` isolation and remote reviewers: by explicit option only.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;

/// T-019: the sidecar says what the reviewer judged by.
#[test]
fn env_isolation_reviews_the_source_tree() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .also("checks")
        .ready();
    let args = [
        "--base",
        "main",
        "--review-only",
        "--review-isolation",
        "env",
    ];
    let ran = bench.run(&args);
    ran.ends(0).says("run-loop gate takes no PASS of theirs");
    assert_eq!(bench.sidecar("ann")["evidence"], "source-tree");
    assert_eq!(bench.sidecar("checks")["evidence"], "review-tree");
    // The base asks for review trees: what comes next is a review that the gate takes, and the gate
    // says so too.
    let root = bench.repo.root().display();
    let next = format!("next: run-loop --worktree {root} --base main --review-only\n");
    assert!(ran.stdout.ends_with(&next), "{}", ran.stdout);
    let gate = bench.gate();
    gate.ends(5).with("RL0909").says("asks for a review tree");
    let words = gate.next();
    let root = root.to_string();
    let again = ["run-loop", "--worktree", &root, "--base", "main"];
    assert_eq!(words[..5], again);
    let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    bench.run(&words).ends(0);
    bench.gate().ends(0);
}

/// The gate takes no approval for which less blocked than the base asks: the review without the option is
/// what comes next.
#[test]
fn a_review_that_lets_more_pass_is_followed_by_one_that_does_not() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--fail-on", "critical"]);
    ran.ends(0).says("the base asks for medium");
    let root = bench.repo.root().display();
    let next = format!("next: run-loop --worktree {root} --base main --review-only\n");
    assert!(ran.stdout.ends_with(&next), "{}", ran.stdout);
    bench.gate().ends(5).with("RL0909");
}

/// The same where somebody who sees nothing but the diff would step in: who did not is no help.
#[test]
fn a_remote_fallback_does_not_make_a_reader_isolated() {
    let bench = Bench::new()
        .spare("ann", &ScriptedAgent::passing(), "")
        .spare("afar", &remote(), "remote: true")
        .also("{agent: ann, fallback: [afar]}")
        .ready();
    bench
        .run(&[
            "--base",
            "main",
            "--review-only",
            "--review-isolation",
            "env",
            "--remote-review",
            "diff-only",
        ])
        .ends(0)
        .says("run-loop gate takes no PASS of theirs");
    bench.gate().ends(5).with("RL0909");
}

/// A base that admits `env` lets its gate take it: the gate is what comes next.
#[test]
fn env_isolation_passes_the_gate_where_the_base_admits_it() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .config("review: {isolation: env}")
        .ready();
    let ran = bench.run(&[
        "--base",
        "main",
        "--review-only",
        "--review-isolation",
        "env",
    ]);
    ran.ends(0).says("next: run-loop gate --worktree ");
    assert!(!ran.stderr.contains("takes no PASS"), "{}", ran.stderr);
    bench.gate().ends(0);
}

/// A remote agent has the prompt alone: it takes receipts and paths from there.
fn remote() -> ScriptedAgent {
    ScriptedAgent::with_script(
        r#"prompt=$(cat)
        nonce=$(sed -n 's/^Nonce: //p' <<<"$prompt"); tree=$(sed -n 's/^Tree: //p' <<<"$prompt")
        receipt=$(grep -o 'receipt 001 [0-9a-f]*' <<<"$prompt" | tail -1 | cut -d' ' -f3)
        if [ -n "${RUN_LOOP_JOB_TREE-}${RUN_LOOP_JOB_EVIDENCE-}${RUN_LOOP_JOB_INBOX-}" ]; then exit 9; fi
        if grep -q "$HOME" <<<"$prompt"; then exit 9; fi
        printf '```run-loop-verdict\n{"version": 1, "nonce": "%s", "tree": "%s", "verdict": "PASS", "summary": "read", "receipts": {"001": "%s"}, "coverage": [{"path": "src/lib.rs", "how": "read"}]}\n```\n' "$nonce" "$tree" "$receipt""#,
    )
}

/// T-024, row M-090.
#[test]
fn a_remote_reviewer_is_refused_without_the_option() {
    let bench = Bench::new()
        .reviewer_with("afar", &remote(), "remote: true")
        .ready();
    bench.review().ends(2).with("RL0015");
    assert!(!bench.repo.root().join(".git/run-loop").exists());
}

/// T-025: no path and no path variable, the whole diff, and the sidecar says so.
#[test]
fn a_remote_reviewer_judges_by_the_diff() {
    let bench = Bench::new()
        .reviewer_with("afar", &remote(), "remote: true")
        .ready();
    bench
        .run(&[
            "--base",
            "main",
            "--review-only",
            "--remote-review",
            "diff-only",
        ])
        .ends(0);
    assert_eq!(bench.sidecar("afar")["evidence"], "diff-only");
}

/// T-025: a diff over the cap is refused.
#[test]
fn a_remote_reviewer_is_not_shown_a_cut_diff() {
    let bench = Bench::new()
        .reviewer_with("afar", &remote(), "remote: true")
        .config("review: {diff-cap: 1KB}")
        .ready();
    bench.repo.write("long.txt", "a line of text\n".repeat(500));
    bench.repo.commit("long");
    let args = [
        "--base",
        "main",
        "--review-only",
        "--remote-review",
        "diff-only",
    ];
    bench.run(&args).ends(3).with("RL0122");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// Reviewers of the command line are no others in the review that comes next.
#[test]
fn the_review_that_comes_next_asks_the_same_reviewers() {
    let bench = Bench::new()
        .spare("ann", &ScriptedAgent::passing(), "")
        .ready();
    let args = [
        "--base",
        "main",
        "--review-only",
        "--review-isolation",
        "env",
    ];
    for named in [&["--reviewer", "ann"][..], &["--reviewer=ann"]] {
        let ran = bench.run(&[&args, named].concat());
        ran.ends(0);
        let next = format!("--base main --review-only {}\n", named.join(" "));
        assert!(ran.stdout.ends_with(&next), "{}", ran.stdout);
    }
}

//! Nothing here may end 0 or promote anything (issue 2, "What it must show").

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::Bench;

/// Runs the main job with this one reviewer and a short budget.
fn refused(agent: &ScriptedAgent, code: i32) {
    let bench = Bench::new().reviewer("ann", agent).ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--job-timeout", "20"]);
    ran.ends(code);
    assert_eq!(
        bench.promoted(),
        Vec::<String>::new(),
        "something was promoted"
    );
    assert_ne!(bench.gate().code, Some(0));
}

/// A script that answers with a verdict block edited by sed.
fn edited(sed: &str) -> ScriptedAgent {
    ScriptedAgent::with_script(format!(
        "read_prompt; verdict PASS '[]' | sed -E {sed:?} | deliver"
    ))
}

/// V11, P15, T-175.
#[test]
fn silence() {
    refused(&ScriptedAgent::silent(), 5);
}
/// P07.
#[test]
fn a_plain_verdict_line() {
    refused(&ScriptedAgent::plain_pass(), 5);
}
/// T-173.
#[test]
fn the_echoed_prompt() {
    refused(&ScriptedAgent::echo_prompt(), 5);
}
/// V16.
#[test]
fn a_non_zero_exit_with_a_perfect_report() {
    refused(&ScriptedAgent::exits(1), 5);
}
#[test]
fn death_by_a_signal_with_a_perfect_report() {
    refused(&ScriptedAgent::dies_of("KILL"), 5);
}
/// T-109, V11.
#[test]
fn a_spent_budget_with_a_perfect_report() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::hangs())
        .ready();
    bench
        .run(&["--base", "main", "--review-only", "--job-timeout", "1"])
        .ends(5)
        .with("RL0301");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}
#[test]
fn a_wrong_nonce() {
    refused(&edited(r#"s/"nonce": *"[0-9a-f]/"nonce": "z/"#), 5);
}
#[test]
fn a_wrong_tree() {
    refused(&edited(r#"s/"tree": *"[0-9a-f]{4}/"tree": "0000/"#), 5);
}
/// V03.
#[test]
fn a_wrong_receipt() {
    refused(&edited(r#"s/"001": *"[0-9a-f]{8}/"001": "00000000/"#), 5);
}
#[test]
fn a_missing_receipt() {
    refused(&edited(r#"s/"receipts": *\{[^}]*\}/"receipts": {}/"#), 5);
}
#[test]
fn no_coverage() {
    refused(&edited(r#"s/"coverage": *\[[^]]*\]/"coverage": []/"#), 5);
}
#[test]
fn a_file_that_was_not_read() {
    refused(&edited(r#"s/"how": *"read"/"how": "not-read"/"#), 5);
}
#[test]
fn an_unknown_field() {
    refused(
        &edited(r#"s/"version": *1/"version": 1, "approved": true/"#),
        5,
    );
}
#[test]
fn lower_case() {
    refused(&edited(r#"s/"verdict": *"PASS"/"verdict": "pass"/"#), 5);
}
#[test]
fn a_negation() {
    refused(
        &edited(r#"s/"verdict": *"PASS"/"verdict": "NOT a PASS"/"#),
        5,
    );
}
/// A claim that was decoded bars the PASS: NOT PASS, not merely no verdict.
#[test]
fn a_pass_with_a_blocking_finding() {
    let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
    refused(&ScriptedAgent::passing_with(&high), 1);
}
/// T-174, P04.
#[test]
fn two_verdicts() {
    let script = "read_prompt; { verdict PASS '[]'; verdict PASS '[]'; } | deliver";
    refused(&ScriptedAgent::with_script(script), 5);
}
/// P12.
#[test]
fn a_torn_block() {
    let script = "read_prompt; verdict PASS '[]' | head -n -2 | deliver";
    refused(&ScriptedAgent::with_script(script), 5);
}
#[test]
fn a_quoted_block() {
    let script = "read_prompt; verdict PASS '[]' | sed 's/^/> /' | deliver";
    refused(&ScriptedAgent::with_script(script), 5);
}
/// V18, S11: a re-ask cannot turn NOT PASS into PASS.
#[test]
fn an_invalid_not_pass_that_becomes_a_pass_when_asked_again() {
    let bench = Bench::new();
    let bad = ScriptedAgent::with_script(
        "read_prompt; verdict 'NOT PASS' '[]' | sed 's/\"version\": *1/\"version\": 1, \"x\": 1/' | deliver",
    );
    let agent =
        ScriptedAgent::in_turn(&bench.repo.beside("turn"), &[bad, ScriptedAgent::passing()]);
    let bench = bench.reviewer("ann", &agent).ready();
    bench.review().ends(1);
    assert_eq!(bench.promoted(), Vec::<String>::new());
}
/// V21: one of two reviewers returned.
#[test]
fn one_of_two_verdicts_is_shown_as_such() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &ScriptedAgent::silent())
        .ready();
    bench.review().ends(5).with("RL0301").says("1 of 2");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}
/// NOT PASS without a finding stays NOT PASS.
#[test]
fn an_unexplained_not_pass() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::not_passing("[]"))
        .ready();
    bench.review().ends(1).with("RL0402");
}
#[test]
fn a_not_pass_names_its_findings() {
    let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::not_passing(&high))
        .ready();
    bench
        .review()
        .ends(1)
        .with("RL0401")
        .says("it is wrong")
        .says("src/lib.rs");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// V03, I04: the round's evidence is edited under a later attempt. What is there is no longer what
/// was made, so nobody is asked and nobody passes.
#[test]
fn evidence_that_was_edited_is_not_shown_to_anybody() {
    let bench = Bench::new();
    let edits = ScriptedAgent::plain_pass().after(
        "for f in \"$HOME\"/.cache/run-loop/evidence/*/1/diff.patch; do echo x >> \"$f\"; done",
    );
    let agent = ScriptedAgent::in_turn(
        &bench.repo.beside("turn"),
        &[edits, ScriptedAgent::passing()],
    );
    let bench = bench.reviewer("ann", &agent).ready();
    bench.review().ends(5).with("RL0301").says("diff.patch");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

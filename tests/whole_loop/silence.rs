//! Who says that a finding is mended: its reviewer, in a round that counts. The creator's word is none, a
//! NOT PASS does not say it by silence, another agent of the slot begins anew, and a void round says nothing.

use crate::ledger::{by_round, says};
use crate::stage::{Stage, adds, by_role};
use crate::support::agents::finding;

/// Writes something, and says this of every finding that it is asked about.
fn creator(answers: &str) -> String {
    let adds = adds("// touched $RUN_LOOP_JOB_ROUND");
    by_role(&[
        ("implement", &format!("{adds}; echo done | deliver")),
        (
            "correct",
            &format!("{adds} $RUN_LOOP_JOB_ROUND; answers {answers} | deliver"),
        ),
    ])
}

fn missing() -> String {
    finding("sum missing", "high", "src/lib.rs", 1)
}

fn typo() -> String {
    finding("a typo", "low", "src/lib.rs", 1)
}

/// A run of two rounds that must not pass, since nobody but the creator says that F-1 is mended.
#[track_caller]
fn does_not_pass(stage: &Stage, line: &[&str]) {
    let line = [&["--creator", "ann", "--max-rounds", "2"], line].concat();
    let ran = stage.run(&line);
    ran.ends(1).says("it is not said whether F-1 is mended");
    stage.promoted_nothing();
    stage.gate_ends(1);
}

#[test]
fn a_not_pass_does_not_say_by_silence_that_something_is_mended() {
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says("NOT PASS", &[typo()], &[]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator("fixed"))
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    does_not_pass(&stage, &["--reviewer", "bob"]);
}

/// The same where it says so: by its word, which is shown.
#[test]
fn a_not_pass_says_in_words_that_something_is_mended() {
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says("NOT PASS", &[typo()], &[("F-1", "fixed")]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator("fixed"))
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(stage.bench().sidecar("bob")["by"], "threshold");
    let shown = stage.bench().run(&["show", "--findings"]);
    let said = "fixed by bob (review)\n      I looked.";
    assert!(shown.stdout.contains(said), "{}", shown.stdout);
    stage.gate_ends(0);
}

/// Nor does it after its own finding was taken back.
#[test]
fn a_finding_that_is_taken_back_mends_no_other() {
    let answers = "$([ $RUN_LOOP_JOB_ROUND = 2 ] && echo fixed || echo refuted)";
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says(
            "NOT PASS",
            &[finding("a race", "high", "src/lib.rs", 1)],
            &[],
        ),
        says("NOT PASS", &[typo()], &[]),
    ]);
    let rules = "rulings withdrawn 'I was wrong.' | deliver";
    let stage = Stage::new()
        .agent("ann", &creator(answers))
        .agent(
            "bob",
            &by_role(&[("review", &reviewer), ("readjudicate", rules)]),
        )
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob", "--max-rounds", "3"]);
    ran.ends(1);
    stage.promoted_nothing();
}

/// Nor does the creator's compliance with a ruling.
#[test]
fn what_was_complied_with_is_looked_at() {
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says("NOT PASS", &[typo()], &[]),
    ]);
    let adds = adds("// touched");
    let ann = by_role(&[
        ("implement", &format!("{adds}; echo done | deliver")),
        ("correct", "answers refuted 'No.' | deliver"),
        ("comply", &format!("{adds}; answers fixed | deliver")),
    ]);
    let rules = "rulings upheld 'Yes.' | deliver";
    let stage = Stage::new()
        .agent("ann", &ann)
        .agent(
            "bob",
            &by_role(&[("review", &reviewer), ("readjudicate", rules)]),
        )
        .agent("arb", "rulings sustained 'Yes.' | deliver")
        .ready();
    does_not_pass(&stage, &["--reviewer", "bob", "--arbiter", "arb"]);
}

/// A finding of this title is no late wish.
#[track_caller]
fn blocks(stage: &Stage, title: &str) {
    let shown = stage.bench().run(&["show", "--findings"]);
    let mut lines = shown.stdout.lines();
    let line = lines.find(|line| line.starts_with("F-") && line.ends_with(title));
    assert!(
        line.is_some_and(|line| line.contains("medium, blocking")),
        "{}",
        shown.stdout
    );
}

/// Design, section 4, Convergence: two reports of the primary do not make the first word of its fallback
/// late.
#[test]
fn the_first_word_of_a_fallback_is_not_late() {
    let primary = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says("NOT PASS", &[], &[("F-1", "open")]),
        "exit 1".to_owned(),
    ]);
    let still = finding("nothing adds", "medium", "src/lib.rs", 1);
    let stage = Stage::new()
        .agent("ann", &creator("fixed"))
        .agent("bob", &by_role(&[("review", &primary)]))
        .agent("cid", &says("NOT PASS", &[still], &[]))
        .panel("{agent: bob, fallback: [cid]}")
        .ready();
    let ran = stage.run(&["--creator", "ann", "--max-rounds", "3"]);
    ran.ends(1);
    stage.promoted_nothing();
    blocks(&stage, "nothing adds");
}

/// The plan was refined after two reports: what a reviewer finds by the new one is not late.
#[test]
fn what_is_found_by_a_refined_plan_is_not_late() {
    let granted = [("F-1", "fixed"), ("F-2", "fixed")];
    let wish = |title| finding(title, "medium", "src/lib.rs", 1);
    let reviewer = by_round(&[
        says("NOT PASS", &[wish("first wish")], &[]),
        says("NOT PASS", &[wish("second wish")], &granted[..1]),
        says("NOT PASS", &[wish("the plan says three")], &granted),
    ]);
    let plan = "printf 'Do it.\\n\\n## Acceptance\\n' | deliver";
    let stage = Stage::new()
        .agent("ann", &creator("fixed"))
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .agent("pam", plan)
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--planner", "pam"];
    let ran = stage.run(&[&line[..], &["--plan", "--max-rounds", "3"]].concat());
    ran.ends(1);
    stage.promoted_nothing();
    blocks(&stage, "the plan says three");
}

/// M-080: a PASS on content that moved meanwhile has settled nothing.
#[test]
fn a_void_pass_mends_nothing() {
    let stage = Stage::new();
    let root = stage.bench().repo.root().display().to_string();
    let moves = format!(
        "echo moved >> '{root}/src/lib.rs'; {}",
        says("PASS", &[], &[])
    );
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        moves,
        says("NOT PASS", &[typo()], &[]),
    ]);
    let stage = stage
        .agent("ann", &creator("deferred"))
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob", "--max-rounds", "3"]);
    ran.ends(1).says("F-1 sum missing");
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show", "--findings"]);
    let void = "fixed by bob (review), void with its round";
    assert!(shown.stdout.contains(void), "{}", shown.stdout);
    assert!(shown.stdout.contains("F-1 high, blocking, deferred"));
}

/// What was left for later blocks on, and the creator is asked about it again.
#[test]
fn what_was_left_for_later_is_asked_again() {
    let answers = "$([ $RUN_LOOP_JOB_ROUND = 2 ] && echo deferred || echo fixed)";
    let reviewer = by_round(&[
        says("NOT PASS", &[missing()], &[]),
        says("NOT PASS", &[typo()], &[]),
        says("PASS", &[], &[]),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator(answers))
        .agent("bob", &by_role(&[("review", &reviewer)]))
        .ready();
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert!(stage.prompt("correct", "ann").contains("sum missing"));
    stage.gate_ends(0);
}

/// The arbiter is never the one whose finding is in dispute, under whatever name.
#[test]
fn nobody_overrules_ones_own_finding_under_another_name() {
    let creator = by_role(&[
        (
            "implement",
            &format!("{}; echo done | deliver", adds("// begun")),
        ),
        ("correct", "answers refuted 'No.' | deliver"),
    ]);
    let bob = by_role(&[
        ("review", &says("NOT PASS", &[missing()], &[])),
        ("readjudicate", "rulings upheld 'Yes.' | deliver"),
        ("arbitrate", "rulings overruled 'No.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &bob)
        .named_also("bob", "rob")
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--arbiter", "rob"];
    stage.run(&line).ends(8).with("RL0710");
    assert!(
        !stage
            .asked()
            .iter()
            .any(|asked| asked.starts_with("arbitrate"))
    );
    stage.promoted_nothing();
}

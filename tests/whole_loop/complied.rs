//! A finding that is refuted, upheld, sustained, and then mended.

use crate::overruled::{LINE, stage};
use crate::stage::{Stage, adds, by_role, implements, looks_for};

/// M-011: the ruling is enforced on the creator.
#[test]
fn a_sustained_finding_is_mended_and_reviewed_again() {
    let complies = format!("{}; answers fixed | deliver", adds("// sum"));
    let stage = stage("rulings sustained 'It is not called.' | deliver", &complies);
    stage.run(&LINE).ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "readjudicate bob",
            "arbitrate eve",
            "comply ann",
            "review bob",
        ]
    );
    assert!(stage.prompt("comply", "ann").contains("It is not called."));
    assert_eq!(stage.bench().sidecar("bob")["by"], "reviewer");
    stage.gate_ends(0);
}

/// A creator that goes on refuting after the ruling gets nowhere.
#[test]
fn a_ruling_that_is_not_followed_does_not_pass() {
    for complies in [
        "answers refuted 'Still no.' | deliver",
        "answers deferred 'Later.' | deliver",
    ] {
        let stage = stage("rulings sustained | deliver", complies);
        let ran = stage.run(&LINE);
        ran.ends(7).with("RL0703");
        stage.promoted_nothing();
    }
}

/// Issue 5, point 3: what changed since the tree that each reviewer last saw is in the prompt of who mends.
#[test]
fn who_mends_is_shown_what_changed_since_it_was_reviewed() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!(
                "{}; answers refuted 'It is in another file.' | deliver",
                adds("// half of it")
            ),
        ),
        (
            "comply",
            &format!("{}; answers fixed | deliver", adds("// sum")),
        ),
    ]);
    let reviewer = by_role(&[
        ("review", &looks_for("sum")),
        (
            "readjudicate",
            "rulings upheld 'That file is not called.' | deliver",
        ),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", "rulings sustained 'It is not called.' | deliver")
        .ready();
    stage.run(&LINE).ends(0);
    let prompt = stage.prompt("comply", "ann");
    let since = prompt.split("## Since they were reviewed").nth(1);
    let since = since.unwrap_or_else(|| panic!("{prompt}"));
    let since = since.split("\n## ").next().unwrap();
    assert!(since.contains("+// half of it"), "{since}");
    assert!(!since.contains("+// begun"), "{since}");
}

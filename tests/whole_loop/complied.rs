//! A finding that is refuted, upheld, sustained, and then mended.

use crate::overruled::{LINE, stage};
use crate::stage::adds;

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

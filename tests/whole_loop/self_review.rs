//! M-012, T-020: a creator without reviewers reviews its own work, joined by `checks`.

use crate::stage::{Stage, by_role, implements, looks_for};

#[test]
fn own_work_that_passes_is_promoted_as_what_it_is() {
    let creator = by_role(&[
        ("implement", &implements("// sum")),
        ("review", &looks_for("sum")),
    ]);
    let stage = Stage::new().agent("ann", &creator).ready();
    stage.run(&["--creator", "ann"]).ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review ann"]);
    assert_eq!(stage.bench().sidecar("self-review")["by"], "self-review");
    assert_eq!(stage.bench().sidecar("checks")["by"], "checks");
    stage.gate_ends(0);
}

/// NOT PASS is reviewed again, without a correction.
#[test]
fn own_work_that_does_not_pass_is_reviewed_again_and_not_corrected() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("review", &looks_for("sum")),
    ]);
    let stage = Stage::new().agent("ann", &creator).ready();
    let ran = stage.run(&["--creator", "ann", "--max-rounds", "2"]);
    ran.ends(1);
    assert_eq!(stage.asked(), ["implement ann", "review ann", "review ann"]);
    stage.promoted_nothing();
}

/// A PASS of its own against an open NOT PASS of its own on the same content is none.
#[test]
fn changing_ones_mind_about_own_work_is_no_pass() {
    let stage = Stage::new();
    let seen = stage.bench().repo.beside("seen").display().to_string();
    let review = format!(
        "if [ -e '{seen}' ]; then verdict PASS '[]' | deliver; \
         else touch '{seen}'; {}; fi",
        looks_for("never")
    );
    let creator = by_role(&[("implement", &implements("// begun")), ("review", &review)]);
    let stage = stage.agent("ann", &creator).ready();
    let ran = stage.run(&["--creator", "ann", "--max-rounds", "3"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    stage.promoted_nothing();
}

//! A turn in which nothing changes ends the run (exit 7).

use crate::stage::{Stage, by_role, implements, looks_for};

#[test]
fn a_correction_that_changes_nothing_is_no_progress() {
    for corrects in [
        "answers deferred 'Later.' | deliver",
        "block answers answers '[]' | deliver",
        // Fixed in words alone: no finding stands open, and the NOT PASS does.
        "answers fixed 'Done.' | deliver",
    ] {
        let creator = by_role(&[
            ("implement", &implements("// begun")),
            ("correct", corrects),
        ]);
        let stage = Stage::new()
            .agent("ann", &creator)
            .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
            .ready();
        stage
            .run(&["--creator", "ann", "--reviewer", "bob"])
            .ends(7)
            .with("RL0703")
            .says("its NOT PASS is not resolved");
        stage.promoted_nothing();
        stage.gate_ends(1);
    }
}

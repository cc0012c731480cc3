//! A dispute that nobody may rule on ends with a person (exit 8).

use crate::overruled::stage;

#[test]
fn without_an_arbiter_a_dispute_is_a_persons() {
    let stage = stage("rulings overruled | deliver", "true");
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    ran.ends(8).with("RL0710").says("F-1");
    stage.promoted_nothing();
}

/// The one whose finding is in dispute does not arbitrate, by whatever way it came to the role.
#[test]
fn a_reviewer_does_not_arbitrate_its_own_finding() {
    let stage = stage("rulings overruled | deliver", "true");
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob", "--arbiter", "bob"]);
    ran.ends(8).with("RL0710");
    stage.promoted_nothing();
}

//! A finding that the creator refutes and its reviewer takes back.

use crate::stage::{Stage, by_role, implements, looks_for};

fn stage(ruling: &str) -> Stage {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            "answers refuted 'It is in another file.' | deliver",
        ),
    ]);
    let reviewer = by_role(&[("review", &looks_for("sum")), ("readjudicate", ruling)]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .ready()
}

/// M-011: a refusal with reasons goes back to who found it. The content did not change, so no new round is
/// bought.
#[test]
fn a_withdrawn_finding_passes_the_slot_without_another_review() {
    let stage = stage("rulings withdrawn 'I missed that file.' | deliver");
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "readjudicate bob"
        ]
    );
    let prompt = stage.prompt("readjudicate", "bob");
    assert!(prompt.contains("It is in another file."), "{prompt}");
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "withdrawal");
    assert_eq!(sidecar["verdict"], "NOT PASS");
    assert_eq!(sidecar["rulings"][0]["finding"], "F-1");
    assert_eq!(sidecar["rulings"][0]["ruling"], "withdrawn");
    assert_eq!(sidecar["rulings"][0]["note"], "I missed that file.");
    stage.gate_ends(0);
}

/// M-009: a reviewer that was asked and gives no ruling has taken back nothing, and that is no failure of
/// the run's: what it found stands.
#[test]
fn no_ruling_withdraws_nothing() {
    for ruling in [
        "true",
        "echo 'I withdraw it.' | deliver",
        "rulings sustained | deliver",
        "rulings withdrawn | deliver; exit 3",
        "rulings withdrawn | deliver; kill -KILL $$",
    ] {
        let stage = stage(ruling);
        let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
        ran.ends(7).with("RL0703");
        assert!(
            stage.asked().contains(&"readjudicate bob".to_owned()),
            "{ruling}: {:?}",
            stage.asked()
        );
        stage.promoted_nothing();
        stage.gate_ends(1);
    }
}

/// A reviewer that rules on its own finding but changes the source meanwhile has withdrawn nothing.
#[test]
fn a_withdrawal_does_not_carry_over_to_other_content() {
    let stage = Stage::new();
    let root = stage.bench().repo.root().display().to_string();
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", "answers refuted 'No.' | deliver"),
    ]);
    let ruling =
        format!("echo '// slipped in' >> '{root}/src/lib.rs'; rulings withdrawn | deliver");
    let reviewer = by_role(&[("review", &looks_for("sum")), ("readjudicate", &ruling)]);
    let stage = stage.agent("ann", &creator).agent("bob", &reviewer).ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"]);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
}

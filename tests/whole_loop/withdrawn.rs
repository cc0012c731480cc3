//! A finding that the creator refutes and its reviewer takes back.

use crate::stage::{Stage, adds, by_role, implements, looks_for};

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

/// M-009: a reviewer that was asked and gives no ruling has taken back nothing: what it found stands. Where it
/// failed, that is said.
#[test]
fn no_ruling_withdraws_nothing() {
    let broke_off = [
        "rulings withdrawn | deliver; exit 3",
        "rulings withdrawn | deliver; kill -KILL $$",
    ];
    for ruling in [
        "true",
        "echo 'I withdraw it.' | deliver",
        "rulings sustained | deliver",
        broke_off[0],
        broke_off[1],
    ] {
        let stage = stage(ruling);
        let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
        if broke_off.contains(&ruling) {
            ran.ends(5)
                .with("RL0301")
                .says("its NOT PASS is not resolved");
        } else {
            ran.ends(7).with("RL0703");
        }
        assert!(
            stage.asked().contains(&"readjudicate bob".to_owned()),
            "{ruling}: {:?}",
            stage.asked()
        );
        stage.promoted_nothing();
        stage.gate_ends(1);
    }
}

/// Row M-010: what was refuted goes back to the very agent that raised it, of several of a slot.
#[test]
fn each_agent_of_a_slot_takes_back_its_own() {
    for (ruling, code) in [("withdrawn", 0), ("upheld", 8)] {
        let correct = format!(
            "if [ $RUN_LOOP_JOB_ROUND = 2 ]; then {}; else answers refuted 'No.' | deliver; fi",
            adds("// more")
        );
        let creator = by_role(&[
            ("implement", &implements("// begun")),
            ("correct", &correct),
        ]);
        let finds = looks_for("never");
        let own = format!("if [ $RUN_LOOP_JOB_ROUND = 1 ]; then {finds}; else exit 3; fi");
        let rules = format!("rulings {ruling} 'So it is.' | deliver");
        let bob = by_role(&[("review", &own), ("readjudicate", &rules)]);
        let withdraws = "rulings withdrawn 'I was wrong.' | deliver";
        let cid = by_role(&[("review", &finds), ("readjudicate", withdraws)]);
        let stage = Stage::new()
            .agent("ann", &creator)
            .agent("bob", &bob)
            .agent("cid", &cid)
            .panel("{agent: bob, fallback: [cid]}")
            .ready();
        stage.run(&["--creator", "ann"]).ends(code);
        let asked = stage.asked();
        let rulings = asked.iter().filter(|it| it.starts_with("readjudicate"));
        assert_eq!(
            rulings.collect::<Vec<_>>(),
            ["readjudicate bob", "readjudicate cid"]
        );
        // Each is asked about its own.
        for (name, own, other) in [("bob", "F-1", "F-2"), ("cid", "F-2", "F-1")] {
            let prompt = stage.prompt("readjudicate", name);
            assert!(prompt.contains(own) && !prompt.contains(other), "{prompt}");
        }
        assert_eq!(stage.bench().promoted().is_empty(), code != 0);
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

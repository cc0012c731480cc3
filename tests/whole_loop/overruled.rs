//! A finding that is refuted, upheld and overruled.

use crate::stage::{MISSING, Stage, by_role, implements, looks_for};

pub(crate) const LINE: [&str; 6] = ["--creator", "ann", "--reviewer", "bob", "--arbiter", "eve"];

pub(crate) fn stage(arbitrates: &str, complies: &str) -> Stage {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            "answers refuted 'It is in another file.' | deliver",
        ),
        ("comply", complies),
    ]);
    let reviewer = by_role(&[
        ("review", &looks_for("sum")),
        (
            "readjudicate",
            "rulings upheld 'That file is not called.' | deliver",
        ),
    ]);
    Stage::new()
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", arbitrates)
        .ready()
}

#[test]
fn an_overruled_finding_passes_by_arbitration_and_is_listed() {
    let stage = stage(
        "rulings overruled 'It is called, line 3.' | deliver",
        "true",
    );
    stage.run(&LINE).ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "readjudicate bob",
            "arbitrate eve",
        ]
    );
    let prompt = stage.prompt("arbitrate", "eve");
    for said in [
        MISSING,
        "It is in another file.",
        "That file is not called.",
    ] {
        assert!(prompt.contains(said), "{said}: {prompt}");
    }
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "arbitration");
    assert_eq!(sidecar["rulings"][0]["title"], MISSING);
    assert_eq!(sidecar["rulings"][0]["ruling"], "overruled");
    assert_eq!(sidecar["rulings"][0]["note"], "It is called, line 3.");
    stage.gate_ends(0);
    stage.bench().gate().says("by arbitration");
    let shown = stage.bench().run(&["show", "--findings"]);
    let words = [
        "F-1 high, blocking, overruled src/lib.rs:1: the sum is missing",
        "raised by bob in bob (round 1)",
        "refuted by ann (correct)",
        "It is in another file.",
        "upheld by bob (readjudicate)",
        "overruled by eve (arbitrate)",
        "It is called, line 3.",
    ];
    let places: Vec<_> = words.iter().map(|word| shown.stdout.find(word)).collect();
    assert!(
        places.is_sorted() && places[0].is_some(),
        "{}",
        shown.stdout
    );
}

/// T-056: an arbiter that rules on nothing, in no form, or not at all, overrules nothing.
#[test]
fn what_is_no_ruling_overrules_nothing() {
    let broke_off = [
        "rulings overruled | deliver; exit 3",
        "rulings overruled | deliver; kill -KILL $$",
    ];
    for arbitrates in [
        "echo 'overruled' | deliver",
        "true",
        "rulings withdrawn | deliver",
        "NONCE=0123456789abcdef0123; rulings overruled | deliver",
        broke_off[0],
        broke_off[1],
        "block rulings rulings '[{\"finding\": \"F-7\", \"ruling\": \"overruled\", \"note\": \"x\"}]' | deliver",
    ] {
        let stage = stage(arbitrates, "true");
        let ran = stage.run(&LINE);
        if broke_off.contains(&arbitrates) {
            // Whose failure it is comes first.
            ran.ends(6)
                .with("RL0511")
                .says("its NOT PASS is not resolved");
        } else {
            ran.ends(7).with("RL0703");
        }
        stage.promoted_nothing();
    }
}

/// What `checks` found is overruled by nobody.
#[test]
fn a_finding_of_checks_cannot_be_overruled() {
    let creator = by_role(&[
        (
            "implement",
            "printf '<<<<<<< ours\\na\\n=======\\nb\\n>>>>>>> theirs\\n' >> src/lib.rs; echo Done. | deliver",
        ),
        ("correct", "answers refuted 'It is meant so.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent(
            "bob",
            &by_role(&[("review", "verdict PASS '[]' | deliver")]),
        )
        .agent("eve", "rulings overruled | deliver")
        .ready();
    let line = [&LINE[..], &["--reviewer", "checks"]].concat();
    let ran = stage.run(&line);
    ran.ends(7).with("RL0703");
    stage.promoted_nothing();
    assert!(
        !stage.asked().contains(&"arbitrate eve".to_owned()),
        "{:?}",
        stage.asked()
    );
}

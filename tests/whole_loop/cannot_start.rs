//! M-009: a job that cannot start, in every phase: never 0, and nothing is promoted. That of the escalation is
//! in `escalation.rs`.

use crate::stage::{Stage, adds, by_role, looks_for};

/// Leaves a program that the system cannot run in the place of the agent's own.
const GONE: &str = "printf '#!/nonexistent/interpreter\\n' > \"$0.new\"; chmod 755 \"$0.new\"; mv \"$0.new\" \"$0\"";

/// Every phase in order, and who is asked in it.
const PHASES: [(&str, &str); 9] = [
    ("plan", "pam"),
    ("challenge", "ann"),
    ("refine", "pam"),
    ("implement", "ann"),
    ("review", "bob"),
    ("correct", "ann"),
    ("readjudicate", "bob"),
    ("arbitrate", "eve"),
    ("comply", "ann"),
];

/// The script of an agent whose job of one phase cannot start: after its job before that, its
/// program is gone.
fn script(name: &str, fails: &str) -> String {
    let last = PHASES
        .iter()
        .take_while(|(phase, _)| *phase != fails)
        .filter(|(_, who)| *who == name)
        .last()
        .filter(|_| PHASES.contains(&(fails, name)));
    let act = |phase: &str, act: &str| match last {
        Some((before, _)) if *before == phase => format!("{act}; {GONE}"),
        Some(_) | None => act.to_owned(),
    };
    let plan = "printf '# Plan\\n\\n1. A sum.\\n' | deliver";
    let implement = format!("{}; echo Done. | deliver", adds("// begun"));
    let acts = [
        ("plan", plan.to_owned()),
        ("challenge", "objections '[\"thin\"]' | deliver".to_owned()),
        ("refine", plan.to_owned()),
        ("implement", implement),
        ("review", looks_for("never")),
        ("correct", "answers refuted 'No.' | deliver".to_owned()),
        ("readjudicate", "rulings upheld | deliver".to_owned()),
        ("arbitrate", "rulings sustained | deliver".to_owned()),
        (
            "comply",
            format!("{}; answers fixed | deliver", adds("// sum")),
        ),
    ]
    .map(|(phase, text)| (phase, act(phase, &text)));
    let acts: Vec<(&str, &str)> = acts.iter().map(|(p, a)| (*p, a.as_str())).collect();
    by_role(&acts)
}

fn ends(fails: &str, code: i32) {
    let names = ["pam", "ann", "bob", "eve"];
    let stage = names.iter().fold(Stage::new(), |stage, name| {
        stage.agent(name, &script(name, fails))
    });
    let stage = stage.ready();
    let first = PHASES
        .iter()
        .find(|(phase, _)| *phase == fails)
        .map(|(_, who)| *who)
        .filter(|who| {
            let mut before = PHASES.iter().take_while(|(phase, _)| *phase != fails);
            !before.any(|(_, other)| other == who)
        });
    if let Some(who) = first {
        // Its first job already.
        stage.cannot_start(who);
    }
    let ran = stage.run(&[
        "--plan",
        "--planner",
        "pam",
        "--creator",
        "ann",
        "--reviewer",
        "bob",
        "--arbiter",
        "eve",
        "--max-rounds",
        "2",
    ]);
    ran.ends(code).with("RL0");
    let asked: Vec<String> = stage.asked();
    let reached: Vec<&str> = PHASES
        .iter()
        .map(|(phase, _)| *phase)
        .take_while(|phase| *phase != fails)
        .collect();
    let phases: Vec<&str> = asked.iter().filter_map(|a| a.split(' ').next()).collect();
    assert_eq!(phases, reached, "{fails}: {}", ran.stderr);
    stage.promoted_nothing();
}

#[test]
fn a_plan() {
    ends("plan", 6);
}

#[test]
fn a_challenge() {
    ends("challenge", 6);
}

#[test]
fn a_refinement() {
    ends("refine", 6);
}

#[test]
fn an_implementation() {
    ends("implement", 6);
}

/// A reviewer's failure is always 5 (M-010: an attempt that gives no job is a failure, never missing).
#[test]
fn a_review() {
    ends("review", 5);
}

/// T-054: it ends the run.
#[test]
fn a_correction() {
    ends("correct", 6);
}

#[test]
fn a_readjudication() {
    ends("readjudicate", 5);
}

/// T-056: what cannot be asked ends the run; what gives no ruling (`overruled.rs`) overrules nothing.
#[test]
fn an_arbitration() {
    ends("arbitrate", 6);
}

/// T-055: a round that would pass after it is never reached.
#[test]
fn a_compliance() {
    ends("comply", 6);
}

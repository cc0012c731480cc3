//! A whole loop of three different programs: plan, challenge, refinement, implementation, a
//! finding that is refuted, upheld, sustained and mended, and the approval of what came of it.

use serde_json::json;

use crate::program::{Program, Trial};
use crate::record::passed;
use crate::support::bench::Bench;

const PLAN: &str = "# Plan one\n\n## Acceptance\n\n1. Two files are there.";
const REFINED: &str = "# Plan two\n\n## Acceptance\n\n1. Two files are there, and tested.";

fn whole_loop(planner: Program, creator: Program, reviewer: Program) {
    let replies = json!({
        planner.api(): [
            {"text": PLAN},
            {"text": REFINED},
            {"rulings": "sustained"},
        ],
        creator.api(): [
            {"challenge": ["it says nothing of tests"]},
            creator.writing("{tree}/first.txt"),
            {"text": "It is written."},
            {"answers": "refuted"},
            creator.writing("{tree}/second.txt"),
            {"answers": "fixed"},
        ],
        reviewer.api(): [
            {"report": "NOT PASS"},
            {"rulings": "upheld"},
            {"report": "PASS"},
        ],
    });
    let Some(trial) = Trial::new(planner, Bench::new().ready(), &replies) else {
        return;
    };
    let line = [
        "--plan",
        "--planner",
        planner.agent(),
        "--creator",
        creator.agent(),
        "--reviewer",
        reviewer.agent(),
        "add two files",
    ];
    let ran = trial.run(90, &line);
    ran.ends(0);
    let sidecar = trial.bench.sidecar(&reviewer.slot());
    assert_eq!(
        (&sidecar["verdict"], &sidecar["round"]),
        (&json!("PASS"), &json!(2))
    );
    let found = trial.bench.run(&["show", "--findings", "--format", "json"]);
    assert!(found.stdout.contains("fixed"), "{found:?}");
    // Everybody was asked, and nothing was left over in any script.
    for (program, asked) in [(planner, 3), (creator, 6), (reviewer, 3)] {
        let of = |line: &&serde_json::Value| {
            let by_turn = line["reply"]
                .as_str()
                .is_some_and(|reply| reply.starts_with("reply"));
            by_turn && line["api"] == program.api()
        };
        assert_eq!(
            trial.model.log().iter().filter(of).count(),
            asked,
            "{program:?}"
        );
    }
    trial.bench.repo.git(&["add", "first.txt", "second.txt"]);
    trial.bench.repo.git(&["commit", "-q", "-m", "as approved"]);
    trial.bench.gate().ends(0);
    for program in [planner, creator, reviewer] {
        passed(program, "a_whole_loop_with_others");
    }
}

#[test]
fn claude_plans_codex_writes_gemini_reviews() {
    whole_loop(Program::Claude, Program::Codex, Program::Gemini);
}
#[test]
fn gemini_plans_claude_writes_opencode_reviews() {
    whole_loop(Program::Gemini, Program::Claude, Program::Opencode);
}

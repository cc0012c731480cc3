//! What a planner is for: a plan, refined by what the creator objects, and nothing written.

use serde_json::json;

use crate::program::{Program, Trial, each};
use crate::scripted;
use crate::support::bench::Bench;

const PLAN: &str = "# Plan one\n\n## Acceptance\n\n1. A file is there.";
const REFINED: &str = "# Plan two\n\n## Acceptance\n\n1. A file is there, and tested.";

fn plans_and_refines(program: Program) {
    let bench = scripted::creator(Bench::new(), "planned.txt");
    let bench = scripted::reviewer(bench, "planned.txt").ready();
    let root = bench.repo.root().to_owned();
    let in_source = root.join("by-the-planner.txt");
    let replies = json!([
        program.reading("{tree}/src/lib.rs"),
        program.writing("{tree}/by-the-planner.txt"),
        program.writing(in_source.to_str().unwrap()),
        {"text": PLAN},
        {"text": REFINED},
    ]);
    let Some(trial) = Trial::new(program, bench, &replies) else {
        return;
    };
    let line = [
        "--plan",
        "--planner",
        program.agent(),
        "--creator",
        "ann",
        "--reviewer",
        "bob",
        "add a file",
    ];
    trial.run(90, &line).ends(0);
    // It read the tree, and could write nowhere.
    let told = trial.model.texts_beside_prompts();
    assert!(
        told.iter().any(|text| text.contains("pub fn two()")),
        "it read nothing"
    );
    assert!(!in_source.exists());
    let trees = trial.bench.left_in_cache(&["trees"]);
    assert!(
        !trees
            .iter()
            .any(|path| path.ends_with("by-the-planner.txt")),
        "{trees:?}"
    );
    let promoted = trial.bench.promoted();
    let plan = promoted
        .iter()
        .find(|path| path.starts_with("planner/plan-"))
        .unwrap_or_else(|| unreachable!("no plan in {promoted:?}"));
    let plan = std::fs::read_to_string(root.join(".agents/reports").join(plan)).unwrap();
    assert_eq!(plan.trim_end(), REFINED);
}

each!(plans_and_refines);

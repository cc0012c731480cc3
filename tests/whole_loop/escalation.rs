//! Two failed rounds in a row: the planner refines the plan from the findings.

use crate::stage::{MISSING, Stage, by_role, implements, looks_for};

fn stage(refine: &str) -> Stage {
    let corrects = "n=$(grep -c corrected src/lib.rs); \
                    echo \"// corrected $((n + 1))\" >> src/lib.rs; answers fixed | deliver";
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", corrects),
    ]);
    let stage = Stage::new()
        .agent("pam", &by_role(&[("refine", refine)]))
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("corrected 2"))]))
        .ready();
    std::fs::write(
        stage.bench().repo.beside("plan.md"),
        "# The plan\n\n1. A sum.\n",
    )
    .unwrap();
    stage
}

fn asked(stage: &Stage) -> Vec<String> {
    let file = stage.bench().repo.beside("plan.md");
    let line = [
        "--plan-file",
        file.to_str().unwrap(),
        "--planner",
        "pam",
        "--creator",
        "ann",
        "--reviewer",
        "bob",
    ];
    stage.run(&line).ends(0);
    stage.asked()
}

#[test]
fn the_planner_refines_the_plan_after_two_failed_rounds() {
    let stage = stage("printf '# The new plan\\n\\n1. A sum that works.\\n' | deliver");
    assert_eq!(
        asked(&stage),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "review bob",
            "refine pam",
            "correct ann",
            "review bob",
        ]
    );
    assert!(stage.prompt("refine", "pam").contains(MISSING));
    assert!(stage.prompt("correct", "ann").contains("# The new plan"));
    assert!(stage.prompt("review", "bob").contains("# The new plan"));
    // A new file: the one that was given is as it was.
    let given = stage.bench().repo.beside("plan.md");
    assert!(
        std::fs::read_to_string(given)
            .unwrap()
            .starts_with("# The plan")
    );
    stage.gate_ends(0);
}

/// M-044: the correction never claims an updated plan that it does not carry.
#[test]
fn an_empty_refinement_leaves_the_plan_as_it_was() {
    let stage = stage("true");
    asked(&stage);
    assert!(stage.prompt("correct", "ann").contains("# The plan"));
    assert!(!stage.prompt("correct", "ann").contains("# The new plan"));
}

//! A plan that exists already.

use crate::planned::UNNUMBERED;
use crate::stage::{Stage, by_role, implements, looks_for};

fn stage() -> Stage {
    Stage::new()
        .agent("pam", "echo never | deliver")
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready()
}

/// The file stands for plan, challenge and refinement; the planner is not asked.
#[test]
fn a_plan_file_is_built_shown_and_promoted() {
    let stage = stage();
    let bench = stage.bench();
    let file = bench.repo.beside("plan.md");
    std::fs::write(&file, "# The plan\n\n## Acceptance\n\n1. A sum.\n").unwrap();
    let file = file.to_str().unwrap();
    let line = [
        "--plan-file",
        file,
        "--planner",
        "pam",
        "--creator",
        "ann",
        "--reviewer",
        "bob",
    ];
    let ran = stage.run(&line);
    ran.ends(0).says("the plan is loaded from");
    assert!(!ran.stderr.contains(UNNUMBERED), "{}", ran.stderr);
    assert_eq!(stage.asked(), ["implement ann", "review bob"]);
    assert!(stage.prompt("implement", "ann").contains("# The plan"));
    assert!(stage.prompt("review", "bob").contains("# The plan"));
    let promoted = bench.promoted();
    assert!(
        promoted
            .iter()
            .any(|path| path.starts_with("planner/plan-")),
        "{promoted:?}"
    );
    stage.gate_ends(0);
}

/// Issue 1.7: what reviewers are not asked about is told when the plan is loaded.
#[test]
fn a_plan_file_without_numbered_items_is_told() {
    let stage = stage();
    let file = stage.bench().repo.beside("plan.md");
    std::fs::write(&file, "# The plan\n\n## Acceptance\n\n- A sum.\n").unwrap();
    let file = file.to_str().unwrap();
    let line = ["--plan-file", file, "--creator", "ann", "--reviewer", "bob"];
    let ran = stage.run(&line);
    ran.ends(0).says(UNNUMBERED);
    assert_eq!(ran.stderr.matches(UNNUMBERED).count(), 1, "{}", ran.stderr);
}

/// T-036: a plan that lies where plans are promoted is not taken by itself.
#[test]
fn no_plan_is_loaded_that_nobody_named() {
    let stage = stage();
    stage.bench().repo.write(
        ".agents/reports/planner/plan-01890a5d-ac96-774b-bcce-b302099a8057.md",
        "# Old\n",
    );
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    ran.ends(0).says("no plan is loaded");
    assert!(!stage.prompt("implement", "ann").contains("# Old"));
}

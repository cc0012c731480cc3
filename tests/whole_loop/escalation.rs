//! Two failed rounds in a row: the planner refines the plan from the findings.

use crate::planned::{KEPT, warned_in_show_and_events};
use crate::stage::{MISSING, Stage, by_role, implements, looks_for};
use crate::support::bench::Ran;

/// A stage whose reviewer passes after two corrections.
fn stage(refine: &str) -> Stage {
    passing_after("corrected 2", refine, "")
}

/// `also` is what the creator does besides when it implements.
fn passing_after(words: &str, refine: &str, also: &str) -> Stage {
    let begins = format!("{also}\n{}", implements("// begun"));
    let corrects = "n=$(grep -c corrected src/lib.rs); \
                    echo \"// corrected $((n + 1))\" >> src/lib.rs; answers fixed | deliver";
    let creator = by_role(&[("implement", &begins), ("correct", corrects)]);
    let stage = Stage::new()
        .agent("pam", &by_role(&[("refine", refine)]))
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for(words))]))
        .ready();
    std::fs::write(
        stage.bench().repo.beside("plan.md"),
        "# The plan\n\n1. A sum.\n",
    )
    .unwrap();
    stage
}

fn asked(stage: &Stage) -> Vec<String> {
    run(stage);
    stage.asked()
}

fn run(stage: &Stage) -> Ran {
    let ran = ran(stage);
    ran.ends(0);
    ran
}

fn ran(stage: &Stage) -> Ran {
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
    stage.run(&line)
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
    let shown = stage.bench().run(&["show", "--plan"]);
    shown.ends(0);
    for words in [
        "plan 1, ",
        "plan.md (sha256 ",
        "plan 2, by pam, refined by the findings of round 2 (sha256 ",
        "-# The plan\n+# The new plan\n",
        "-1. A sum.\n+1. A sum that works.\n",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    // A new file: the one that was given is as it was.
    let given = stage.bench().repo.beside("plan.md");
    assert!(
        std::fs::read_to_string(given)
            .unwrap()
            .starts_with("# The plan")
    );
    stage.gate_ends(0);
}

/// M-044, T-041: the correction never claims an updated plan that it does not carry.
#[test]
fn an_empty_refinement_leaves_the_plan_as_it_was() {
    let stage = stage("true");
    run(&stage).says(KEPT);
    warned_in_show_and_events(&stage, 3);
    assert!(stage.prompt("correct", "ann").contains("# The plan"));
    assert!(!stage.prompt("correct", "ann").contains("# The new plan"));
}

/// M-009: a planner that cannot start once the plan is to be opened again ends the run, also where the next
/// correction would pass.
#[test]
fn a_refinement_that_cannot_start_ends_the_run() {
    let stage = stage("printf '# The new plan\\n' | deliver");
    stage.cannot_start("pam");
    ran(&stage).ends(6).with("RL0");
    assert_eq!(
        stage.asked(),
        ["implement ann", "review bob", "correct ann", "review bob",]
    );
    stage.promoted_nothing();
}

/// C13: an agreed plan is opened again by what two rounds in a row found, and by nothing else: not after
/// one, and not by an edit of its file.
#[test]
fn one_failed_round_opens_no_plan_again() {
    let another = "echo '# Another plan'";
    let stage = passing_after(
        "corrected 1",
        &format!("{another} | deliver"),
        &format!("{another} > ../plan.md"),
    );
    assert_eq!(
        asked(&stage),
        ["implement ann", "review bob", "correct ann", "review bob"]
    );
    let file = std::fs::read_to_string(stage.bench().repo.beside("plan.md")).unwrap();
    assert_eq!(file, "# Another plan\n");
    for (role, name) in [("correct", "ann"), ("review", "bob")] {
        let prompt = stage.prompt(role, name);
        assert!(
            prompt.contains("# The plan") && !prompt.contains("# Another plan"),
            "{prompt}"
        );
    }
}

/// A word about the change by the old plan is none about it by the new one: on the same content everybody
/// is asked again.
#[test]
fn nobody_is_taken_to_have_passed_by_a_plan_that_came_later() {
    let corrects = "if [ $RUN_LOOP_JOB_ROUND = 2 ]; then echo '// corrected' >> src/lib.rs; \
                    answers fixed | deliver; else answers refuted 'No.' | deliver; fi";
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", corrects),
    ]);
    let reviewer = by_role(&[
        (
            "review",
            &format!(
                "if [ $RUN_LOOP_JOB_ROUND = 3 ]; then verdict PASS '[]' | deliver; else {}; fi",
                looks_for("never")
            ),
        ),
        ("readjudicate", "rulings withdrawn 'I was wrong.' | deliver"),
    ]);
    let stage = Stage::new()
        .agent(
            "pam",
            &by_role(&[("refine", "printf '# The new plan\\n' | deliver")]),
        )
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .ready();
    std::fs::write(stage.bench().repo.beside("plan.md"), "# The plan\n").unwrap();
    run(&stage);
    assert_eq!(stage.asked().last().unwrap(), "review bob");
    assert!(stage.prompt("review", "bob").contains("# The new plan"));
    assert_eq!(stage.bench().sidecar("bob")["by"], "reviewer");
}

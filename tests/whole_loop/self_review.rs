//! M-012, T-020: a creator without reviewers reviews its own work, joined by `checks`.

use crate::stage::{Stage, by_role, implements, looks_for};
use crate::support::agents::{finding, quote};

#[test]
fn own_work_that_passes_is_promoted_as_what_it_is() {
    let creator = by_role(&[
        ("implement", &implements("// sum")),
        ("review", &looks_for("sum")),
    ]);
    let stage = Stage::new().agent("ann", &creator).ready();
    stage.run(&["--creator", "ann"]).ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review ann"]);
    assert_eq!(stage.bench().sidecar("self-review")["by"], "self-review");
    assert_eq!(stage.bench().sidecar("checks")["by"], "checks");
    stage.gate_ends(0);
}

/// A task and a creator are a whole command line: from HEAD, and reviewed by whoever wrote it.
#[test]
fn a_task_file_and_a_creator_are_enough() {
    let creator = by_role(&[
        ("implement", &implements("// sum")),
        ("review", &looks_for("sum")),
    ]);
    let stage = Stage::new().agent("ann", &creator).ready();
    let bench = stage.bench();
    bench.repo.git(&["switch", "-q", "main"]);
    let task = bench.repo.beside("task.md");
    std::fs::write(&task, "Add a sum, please.\n").unwrap();
    let ran = bench.run(&["--task-file", task.to_str().unwrap(), "--creator", "ann"]);
    ran.ends(0).says("HEAD at the start");
    assert_eq!(stage.asked(), ["implement ann", "review ann"]);
    let prompt = stage.prompt("implement", "ann");
    assert!(prompt.contains("Add a sum, please."), "{prompt}");
    assert_eq!(bench.sidecar("self-review")["by"], "self-review");
}

/// NOT PASS is reviewed again, without a correction.
#[test]
fn own_work_that_does_not_pass_is_reviewed_again_and_not_corrected() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("review", &looks_for("sum")),
    ]);
    let stage = Stage::new().agent("ann", &creator).ready();
    let ran = stage.run(&["--creator", "ann", "--max-rounds", "2"]);
    ran.ends(1);
    assert_eq!(stage.asked(), ["implement ann", "review ann", "review ann"]);
    stage.promoted_nothing();
}

/// A PASS of its own against an open NOT PASS of its own on the same content is none.
#[test]
fn changing_ones_mind_about_own_work_is_no_pass() {
    let stage = Stage::new();
    let seen = stage.bench().repo.beside("seen").display().to_string();
    let review = format!(
        "if [ -e '{seen}' ]; then verdict PASS '[]' | deliver; \
         else touch '{seen}'; {}; fi",
        looks_for("never")
    );
    let creator = by_role(&[("implement", &implements("// begun")), ("review", &review)]);
    let stage = stage.agent("ann", &creator).ready();
    let ran = stage.run(&["--creator", "ann", "--max-rounds", "3"]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    stage.promoted_nothing();
}

/// What a creator finds in its own work first, and what it says when it is asked again.
fn thinks_again(says: &str) -> Stage {
    let findings = format!(
        "[{},{}]",
        finding("a leak", "high", "src/lib.rs", 1),
        finding("a race", "medium", "src/lib.rs", 2)
    );
    let review = format!(
        "if [ $RUN_LOOP_JOB_ROUND = 1 ]; then verdict 'NOT PASS' {} | deliver; else {says}; fi",
        quote(&findings)
    );
    let creator = by_role(&[("implement", &implements("// begun")), ("review", &review)]);
    Stage::new().agent("ann", &creator).ready()
}

fn of_both(first: (&str, &str), second: (&str, &str), verdict: &str) -> String {
    let prior = format!(
        r#", "prior": [{{"finding": "F-1", "disposition": "{}", "note": "{}"}}, {{"finding": "F-2", "disposition": "{}", "note": "{}"}}]"#,
        first.0, first.1, second.0, second.1
    );
    format!(
        "EXTRA={}; verdict '{verdict}' '[]' | deliver",
        quote(&prior)
    )
}

/// M-012, T-020: on the same content, what was found is taken back one by one, with reasons, or stands.
#[test]
fn own_findings_are_taken_back_one_by_one() {
    let says = of_both(
        ("withdrawn", "It is freed in drop."),
        ("withdrawn", "There is one thread."),
        "PASS",
    );
    let stage = thinks_again(&says);
    stage.run(&["--creator", "ann"]).ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review ann", "review ann"]);
    assert!(
        stage
            .prompt("review", "ann")
            .contains("stands until you say `withdrawn` of it")
    );
    let sidecar = stage.bench().sidecar("self-review");
    assert_eq!(
        (&sidecar["by"], &sidecar["round"]),
        (&"self-review".into(), &2.into())
    );
    let shown = stage.bench().run(&["show", "--findings"]);
    for said in ["withdrawn by ann (review)", "It is freed in drop."] {
        assert!(shown.stdout.contains(said), "{}", shown.stdout);
    }
    stage.gate_ends(0);
}

/// Also where they were called open in between.
#[test]
fn own_findings_are_taken_back_after_they_were_called_open() {
    for verdict in ["PASS", "NOT PASS"] {
        let stands = of_both(("open", "It leaks."), ("open", "It races."), verdict);
        let back = of_both(
            ("withdrawn", "It is freed."),
            ("withdrawn", "One thread."),
            "PASS",
        );
        let says = format!("if [ $RUN_LOOP_JOB_ROUND = 2 ]; then {stands}; else {back}; fi");
        let stage = thinks_again(&says);
        stage
            .run(&["--creator", "ann", "--max-rounds", "3"])
            .ends(0);
        stage.gate_ends(0);
    }
}

#[test]
fn own_findings_that_are_not_surely_taken_back_stand() {
    let good = ("withdrawn", "It is freed in drop.");
    for says in [
        of_both(good, ("withdrawn", " "), "PASS"),
        of_both(good, ("fixed", "There is one thread."), "PASS"),
        of_both(good, ("open", "There is one thread."), "PASS"),
        of_both(good, good, "NOT PASS"),
    ] {
        let stage = thinks_again(&says);
        let ran = stage.run(&["--creator", "ann", "--max-rounds", "2"]);
        assert_ne!(ran.code, Some(0), "{says}: {}", ran.stderr);
        stage.promoted_nothing();
    }
}

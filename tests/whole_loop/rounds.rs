//! Implementation, rounds that do not pass, corrections, a round that does.

use crate::stage::{MISSING, Stage, adds, by_role, implements, looks_for};
use crate::support::agents::{finding, quote};

/// The first thing a user does: somebody writes, somebody reads.
#[test]
fn what_is_written_is_reviewed_and_promoted() {
    let stage = Stage::new()
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review bob"]);
    let sidecar = stage.bench().sidecar("bob");
    assert_eq!(sidecar["by"], "reviewer");
    assert_eq!(sidecar["rulings"], serde_json::json!([]));
    let prompt = stage.prompt("implement", "ann");
    assert!(prompt.contains("add a sum"), "{prompt}");
    assert!(prompt.starts_with("Implement the task below. Plan it yourself first"));
    // Nothing was planned, disputed or found before, so no word of it is in a prompt (M-006).
    let review = stage.prompt("review", "bob");
    assert!(!review.contains("plan") && !review.contains("Earlier findings"));
    stage.gate_ends(0);
}

/// The task of a file, and without a base: the range starts at HEAD.
#[test]
fn a_task_file_without_a_base_is_worked_on_from_head() {
    let stage = Stage::new()
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let bench = stage.bench();
    bench.repo.git(&["switch", "-q", "main"]);
    std::fs::write(bench.repo.beside("task.md"), "Add a sum, please.\n").unwrap();
    let task = bench.repo.beside("task.md");
    let ran = bench.run(&[
        "--task-file",
        task.to_str().unwrap(),
        "--creator",
        "ann",
        "--reviewer",
        "bob",
    ]);
    ran.ends(0).says("HEAD at the start");
    assert!(
        stage
            .prompt("implement", "ann")
            .contains("Add a sum, please.")
    );
    assert!(stage.prompt("review", "bob").contains("Add a sum, please."));
}

/// Two failed rounds, each answered with a correction, and the third passes.
#[test]
fn two_corrections_and_the_third_round_passes() {
    // Each correction writes its number; the reviewer waits for the second.
    let corrects = format!(
        "n=$(grep -c corrected src/lib.rs); {}; answers fixed | deliver",
        "echo \"// corrected $((n + 1))\" >> src/lib.rs"
    );
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", &corrects),
    ]);
    let stage = Stage::new();
    let keeps_since = format!(
        "cat \"$RUN_LOOP_JOB_EVIDENCE\"/since/round-*/001.patch > {} || true\n{}",
        quote(stage.bench().repo.beside("since").to_str().unwrap()),
        looks_for("corrected 2")
    );
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &keeps_since)]))
        .ready();
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(
        stage.asked(),
        [
            "implement ann",
            "review bob",
            "correct ann",
            "review bob",
            "correct ann",
            "review bob",
        ]
    );
    let correction = stage.prompt("correct", "ann");
    assert!(correction.contains(MISSING), "{correction}");
    assert!(
        correction.contains("The last report of `bob` was on round 2: nothing has changed since."),
        "{correction}"
    );
    let review = stage.prompt("review", "bob");
    assert!(review.contains("## Earlier findings"), "{review}");
    // What is new to him, in the prompt and as a file; what he saw before is not in it.
    let since = review.split("## Since your last report").nth(1).unwrap();
    let since = since.split("\n## ").next().unwrap();
    assert!(
        since.contains("on round 2") && since.contains("+// corrected 2"),
        "{since}"
    );
    assert!(
        !since.contains("+// corrected 1") && !since.contains("receipt"),
        "{since}"
    );
    let file = std::fs::read_to_string(stage.bench().repo.beside("since")).unwrap();
    assert!(file.contains("+// corrected 2"), "{file}");
    assert_eq!(stage.bench().sidecar("bob")["round"], 3);
    stage.gate_ends(0);
}

/// M-007: no correction after the last allowed round, and everything is kept.
#[test]
fn rounds_that_are_used_up_end_without_a_correction() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// more")),
        ),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("never"))]))
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"];
    stage.run(&line).ends(1).with("RL0401");
    assert_eq!(
        stage.asked(),
        ["implement ann", "review bob", "correct ann", "review bob"]
    );
    stage.promoted_nothing();
    stage.gate_ends(1);
    let source = std::fs::read_to_string(stage.bench().repo.root().join("src/lib.rs")).unwrap();
    assert!(source.contains("// more"), "{source}");
}

/// PASS on the last allowed round is PASS.
#[test]
fn the_last_allowed_round_may_pass() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// sum")),
        ),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"];
    stage.run(&line).ends(0);
}

/// M-008: under `--review-only` the creator that stands on the command line corrects.
#[test]
fn a_review_with_a_creator_corrects_and_implements_nothing() {
    let creator = by_role(&[(
        "correct",
        &format!("{}; answers fixed | deliver", adds("// sum")),
    )]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let line = [
        "--base",
        "main",
        "--review-only",
        "--creator",
        "ann",
        "--reviewer",
        "bob",
    ];
    stage.bench().run(&line).ends(0);
    assert_eq!(stage.asked(), ["review bob", "correct ann", "review bob"]);
}

/// A creator that calls fixed what it did not touch gains nothing by it.
#[test]
fn a_finding_that_is_only_called_fixed_goes_on_blocking() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", "answers fixed | deliver"),
    ]);
    let stage = Stage::new()
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    assert_ne!(ran.code, Some(0));
    stage.promoted_nothing();
}

/// C16: reviewers of one round are blind to each other, though one is asked after the other.
#[test]
fn a_reviewer_does_not_see_what_another_found_in_the_same_round() {
    let finds = format!(
        "verdict 'NOT PASS' {} | deliver",
        quote(&format!(
            "[{}]",
            finding("the sum is wrong", "high", "src/lib.rs", 1)
        ))
    );
    let stage = Stage::new();
    // All that it is shown beside its prompt.
    let seen = stage.bench().repo.beside("seen");
    let looks = format!(
        "cp -r \"$RUN_LOOP_JOB_EVIDENCE\" {}; verdict PASS '[]' | deliver",
        quote(seen.to_str().unwrap())
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &finds)]))
        .agent("cat", &by_role(&[("review", &looks)]))
        .config("review: {max-parallel: 1}")
        .ready();
    stage
        .run(&[
            "--creator",
            "ann",
            "--reviewer",
            "bob",
            "--reviewer",
            "cat",
            "--max-rounds",
            "1",
        ])
        .ends(1)
        .with("RL0401");
    assert_eq!(stage.asked(), ["implement ann", "review bob", "review cat"]);
    let prompt = stage.prompt("review", "cat");
    assert!(!prompt.contains("the sum is wrong"), "{prompt}");
    let mut folders = vec![seen];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains("the sum is wrong"), "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 0);
}

/// C04: where nobody said how many rounds, a change of a few lines gets three of the five, which is told
/// while it runs and at its end; who says how many gets them.
#[test]
fn a_small_change_gets_few_rounds_unless_somebody_says_otherwise() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// more")),
        ),
    ]);
    let findings = format!("[{}]", finding(MISSING, "high", "src/lib.rs", 1));
    for (option, had) in [(&[][..], 3), (&["--max-rounds", "4"], 4)] {
        let stage = Stage::new()
            .agent("ann", &creator)
            .agent(
                "bob",
                &format!("verdict 'NOT PASS' {} | deliver", quote(&findings)),
            )
            .ready();
        let ran = stage.run(&[&["--creator", "ann", "--reviewer", "bob"], option].concat());
        ran.ends(1).with("RL0401");
        let asked = stage.asked();
        let reviews = asked.iter().filter(|it| *it == "review bob");
        assert_eq!(reviews.count(), had, "{asked:?}");
        let told =
            "3 rounds are all that so small a change gets unless --max-rounds says otherwise";
        assert_eq!(ran.stderr.contains(told), had == 3, "{}", ran.stderr);
        let told = "; at most 3 rounds for so small a change";
        assert_eq!(ran.stderr.contains(told), had == 3, "{}", ran.stderr);
        stage.promoted_nothing();
    }
}

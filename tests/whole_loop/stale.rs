//! A source that moves in the middle of it.

use crate::stage::{Stage, adds, by_role, implements, looks_for};

/// A reviewer who looks for a sum, in whose first review this happens at the source root.
fn once(stage: &Stage, happens: &str) -> String {
    let mark = stage.bench().repo.beside("once").display().to_string();
    let root = stage.bench().repo.root().display().to_string();
    format!(
        "[ -e '{mark}' ] || {{ touch '{mark}'; (cd '{root}' && {happens}); }}; {}",
        looks_for("sum")
    )
}

/// The source moves during the first round: it is void, nothing is corrected, the next reviews anew.
#[test]
fn a_round_that_went_stale_is_reviewed_again_without_a_correction() {
    let stage = Stage::new();
    let review = once(&stage, "echo '// by the user' >> src/lib.rs");
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review bob", "review bob"]);
    assert_eq!(stage.bench().sidecar("bob")["round"], 2);
    stage.gate_ends(0);
}

/// The base moves during the first round: the content is the same, and what is judged is not. HEAD was
/// brought onto a ref that nobody touched: the next round reviews that.
#[test]
fn the_same_content_against_another_base_is_not_called_unchanged() {
    let stage = Stage::new();
    let user = "-c user.name=a -c user.email=a@b";
    let review = once(
        &stage,
        &format!("git {user} merge -q -s ours -m merged main"),
    );
    let implement = format!(
        "{}; git {user} commit -qam sum; echo Done. | deliver",
        adds("// sum")
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implement)]))
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let repo = &stage.bench().repo;
    repo.git(&["switch", "-q", "main"]);
    repo.write("main.txt", "moved on\n");
    repo.commit("main moves on");
    repo.git(&["switch", "-q", "feature"]);
    stage
        .run(&["--creator", "ann", "--reviewer", "bob"])
        .ends(0);
    assert_eq!(stage.asked(), ["implement ann", "review bob", "review bob"]);
    let prompt = stage.prompt("review", "bob");
    assert!(
        prompt.contains("What changed since cannot be told"),
        "{prompt}"
    );
    assert!(!prompt.contains("nothing has changed since"), "{prompt}");
}

/// Who moves the ref of the base onto what is under review takes that out of the review: nothing of what is
/// left is approved.
#[test]
fn a_base_that_is_moved_while_jobs_run_ends_the_run() {
    let commit = "git -c user.name=a -c user.email=a@b commit -qam sum";
    let told = "main was moved while jobs ran";
    for moves in [
        "git branch -q -f main feature~1",
        "git branch -q -f main HEAD",
    ] {
        let stage = Stage::new();
        let review = once(&stage, moves);
        let implement = format!("{}; {commit}; echo Done. | deliver", adds("// sum"));
        let stage = stage
            .agent("ann", &by_role(&[("implement", &implement)]))
            .agent("bob", &by_role(&[("review", &review)]))
            .ready();
        let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
        ran.ends(4).with("RL0202").with(told);
        assert_eq!(stage.asked(), ["implement ann", "review bob"]);
        stage.promoted_nothing();
    }
    // The same by whoever writes, in the middle of it.
    let implement = format!(
        "{}; {commit}; git branch -q -f main HEAD; {}; echo Done. | deliver",
        adds("// half"),
        adds("// sum")
    );
    let stage = Stage::new()
        .agent("ann", &by_role(&[("implement", &implement)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    ran.ends(4).with("RL0202").with(told);
    assert_eq!(stage.asked(), ["implement ann"]);
    stage.promoted_nothing();
}

/// A reviewer that leaves a hook behind and says NOT PASS is told of, and nobody works on what it left.
#[test]
fn a_hook_that_is_left_by_a_refusal_is_told_and_ends_the_run() {
    let stage = Stage::new();
    let review = once(
        &stage,
        "mkdir -p .git/hooks && echo exit 0 > .git/hooks/pre-commit",
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implements("// begun"))]))
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let ran = stage.run(&["--creator", "ann", "--reviewer", "bob"]);
    ran.ends(1)
        .with("the hooks (hooks/pre-commit) moved while jobs ran");
    assert_eq!(stage.asked(), ["implement ann", "review bob"]);
    stage.promoted_nothing();
    let shown = stage.bench().run(&["show"]);
    assert!(shown.stdout.contains("the hooks"), "{}", shown.stdout);
}

/// It moves in every round: the run ends stale, and nothing is promoted.
#[test]
fn a_source_that_never_rests_ends_stale() {
    let stage = Stage::new();
    let root = stage.bench().repo.root().display().to_string();
    let review = format!(
        "echo '// more' >> '{root}/src/lib.rs'; {}",
        looks_for("sum")
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &implements("// sum"))]))
        .agent("bob", &by_role(&[("review", &review)]))
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"];
    stage.run(&line).ends(4).with("RL0201");
    stage.promoted_nothing();
}

/// It moves while the arbiter rules: what was overruled on the old content does not pass the new.
#[test]
fn an_overruling_lapses_when_the_content_moves() {
    let stage = Stage::new();
    let root = stage.bench().repo.root().display().to_string();
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        ("correct", "answers refuted 'No.' | deliver"),
    ]);
    let reviewer = by_role(&[
        ("review", &looks_for("sum")),
        ("readjudicate", "rulings upheld | deliver"),
    ]);
    let arbiter = format!("echo '// moved' >> '{root}/src/lib.rs'; rulings overruled | deliver");
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &reviewer)
        .agent("eve", &arbiter)
        .ready();
    let line = [
        "--creator",
        "ann",
        "--reviewer",
        "bob",
        "--arbiter",
        "eve",
        "--max-rounds",
        "2",
    ];
    let ran = stage.run(&line);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
}

/// A reviewer reaches the slots of others where nothing confines it. `checks` runs after it, on the snapshot
/// all the same: from the second round on its tree was looked at before the reviewer was asked.
#[test]
fn a_reviewer_that_writes_into_the_tree_of_checks_changes_no_verdict() {
    let creator = by_role(&[
        ("implement", &implements("// begun")),
        (
            "correct",
            &format!("{}; answers fixed | deliver", adds("// more")),
        ),
    ]);
    let reviewer = "[ $RUN_LOOP_JOB_ROUND = 1 ] || echo 'exit 0' > ../../checks/tree/tools/check.sh\n\
                    verdict PASS '[]' | deliver";
    let stage = Stage::new();
    stage.bench().repo.write("tools/check.sh", "exit 1\n");
    stage.bench().repo.git(&["add", "tools"]);
    stage
        .bench()
        .repo
        .git(&["commit", "-q", "-m", "a check that fails"]);
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", reviewer)]))
        .config("checks: [{name: test, run: sh tools/check.sh}]")
        .ready();
    let ran = stage.run(&[
        "--creator",
        "ann",
        "--reviewer",
        "bob",
        "--reviewer",
        "checks",
        "--max-rounds",
        "2",
    ]);
    ran.ends(1).with("RL0401");
    stage.promoted_nothing();
}

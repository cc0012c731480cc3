//! Exit 2 from the command line alone, with one command that can be run next.

use crate::machine::Machine;

#[test]
fn a_single_word_is_no_task_and_a_typo_starts_no_loop() {
    let machine = Machine::new();
    let typo = |args: &[&str], next: &str| {
        assert_eq!(
            machine.refuses(args, 2, "RL0002", "neither a command nor a task"),
            next
        );
    };
    typo(&["gaet"], "run-loop gate");
    typo(&["gaet", "--base", "main"], "run-loop gate --base main");
    typo(&["gaet", "--creator", "ann"], "run-loop gate --help");
    typo(&["--base", "main", "stauts"], "run-loop status --help");
    typo(&["fix"], "run-loop --help");
    typo(&["shwo", "0192"], "run-loop show 0192");
    let next = machine.refuses(
        &["--base", "main", "gate"],
        2,
        "RL0002",
        "stands before its options",
    );
    assert_eq!(next, "run-loop gate --base main");
    let next = machine.refuses(&["fix", "the", "parser"], 2, "RL0002", "3 arguments");
    assert_eq!(next, "run-loop 'fix the parser'");
    let next = machine.refuses(&["--", "fix", "it"], 2, "RL0002", "2 arguments");
    assert_eq!(next, "run-loop -- 'fix it'");
    machine.refuses(&["  "], 2, "RL0002", "blank");
}

/// The words alone would be another run: in another tree, against another base, by another agent.
#[test]
fn a_task_that_lacks_its_quotes_keeps_the_rest_of_the_line() {
    let machine = Machine::new();
    let line = "--worktree . --base=main --creator add --reviewer bot add rate limiting --plan";
    let args: Vec<&str> = line.split(' ').collect();
    let next = machine.refuses(&args, 2, "RL0002", "3 arguments");
    assert_eq!(
        next,
        "run-loop --worktree . --base=main --creator add --reviewer bot 'add rate limiting' --plan"
    );
}

/// Nothing that writes is proposed for what may be another program's command.
#[test]
fn two_words_and_help_lead_to_the_help() {
    let machine = Machine::new();
    for (args, next) in [
        (&["help"][..], "run-loop --help"),
        (&["help", "gate"], "run-loop gate --help"),
        (&["help", "me", "now"], "run-loop --help"),
        (&["review", "feature"], "run-loop --help"),
        (&["diff", "main", "--creator", "ann"], "run-loop --help"),
    ] {
        assert_eq!(machine.refuses(args, 2, "RL0002", ""), next, "{args:?}");
    }
}

/// A format that a variable asks for holds for what clap refuses, too.
#[test]
fn a_variable_asks_for_the_format_of_every_failure() {
    let machine = Machine::new().variable("RUN_LOOP_FORMAT", "json");
    for (args, is_json) in [
        (&["--bse", "x"][..], true),
        (&["gat"], true),
        (&["--bse", "x", "--format", "human"], false),
    ] {
        let ended = machine.run(args);
        let parsed = serde_json::from_str::<serde_json::Value>(&ended.stderr);
        assert_eq!((ended.code, parsed.is_ok()), (2, is_json), "{ended:?}");
    }
}

/// An empty document with exit 0 would be an answer to whoever reads it later.
#[test]
fn a_full_disk_under_stdout_is_not_taken_for_success() {
    let machine = Machine::new();
    for args in [
        &["schema", "verdict"][..],
        &["list"],
        &["explain"],
        &["--help"],
        &["--version"],
        &["gate", "--help"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_run-loop"));
        command.args(args).current_dir(machine.repo.root());
        machine.prepare(&mut command);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let ended = command.stdout(full.unwrap()).output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(6), "{args:?}: {stderr}");
        assert!(stderr.contains("error RL0512"), "{args:?}: {stderr}");
    }
}

#[test]
fn what_clap_refuses_has_a_code_and_a_correction() {
    let machine = Machine::new();
    let next = machine.refuses(
        &["--base", "main", "--revew-only"],
        2,
        "RL0001",
        "--review-only",
    );
    assert_eq!(next, "run-loop --base main --review-only");
    let next = machine.refuses(&["gate", "--expct-head", "x"], 2, "RL0001", "--expect-head");
    assert_eq!(next, "run-loop gate --expect-head x");
    machine.refuses(
        &["--base"],
        2,
        "RL0001",
        "a value is required for '--base <REF>'",
    );
    machine.refuses(&["config"], 2, "RL0001", "needs a sub-command");
    machine.refuses(
        &["--base", "a", "--base", "b"],
        2,
        "RL0004",
        "cannot be used multiple times",
    );
}

/// G05: an unknown value is a usage error, never taken for something missing.
#[test]
fn an_unknown_value_is_a_usage_error() {
    let machine = Machine::new();
    for args in [
        ["--base", "main", "--review-only", "--fail-on", "bad"],
        ["--base", "main", "--review-only", "--max-rounds", "0"],
        ["--base", "main", "--review-only", "--max-rounds", "x"],
        ["--base", "main", "--review-only", "--job-timeout", "0"],
        [
            "--base",
            "main",
            "--review-only",
            "--review-isolation",
            "none",
        ],
        ["--base", "main", "--review-only", "--remote-review", "all"],
        ["--base", "main", "--review-only", "--format", "xml"],
        ["--base", "main", "--review-only", "--max-cost", "0"],
    ] {
        machine.refuses(&args, 2, "RL0013", args[3]);
    }
    let next = machine.refuses(&["gate", "--format=jsno"], 2, "RL0013", "json");
    assert_eq!(next, "run-loop gate --format=json");
    machine.refuses(&["schema", "verdct"], 2, "RL0013", "verdict");
    for (name, value) in [
        ("RUN_LOOP_FORMAT", "xml"),
        ("RUN_LOOP_MAX_ROUNDS", "many"),
        ("RUN_LOOP_TIMEOUT", "0"),
    ] {
        let machine = Machine::new().variable(name, value);
        machine.refuses(&["--base", "main", "--review-only"], 2, "RL0013", name);
    }
}

/// T-034, M-023.
#[test]
fn review_only_needs_a_base_and_writes_no_plan() {
    let machine = Machine::new();
    let next = machine.refuses(&["--review-only"], 2, "RL0003", "never guessed");
    assert_eq!(next, "run-loop --base main --review-only");
    let next = machine.refuses(
        &["--review-only", "--base", "main", "--plan"],
        2,
        "RL0004",
        "writes no plan",
    );
    assert_eq!(next, "run-loop --review-only --base main");
}

/// T-033: options that decide what an approval means are read from no variable, and that is said.
#[test]
fn a_base_in_the_environment_is_ignored() {
    let machine = Machine::new()
        .variable("RUN_LOOP_BASE", "main")
        .variable("RUN_LOOP_REVIEW_ONLY", "1");
    machine.refuses(&["--review-only"], 2, "RL0003", "never guessed");
    machine.refuses(&["--base", "main"], 2, "RL0001", "nothing to do");
}

#[test]
fn options_that_do_not_fit_are_told() {
    let machine = Machine::new();
    machine.refuses(
        &["--review-only", "--plan", "--max-cost", "3"],
        2,
        "RL0004",
        "--plan",
    );
    machine.refuses(
        &["a task", "--task-file", "t.md"],
        2,
        "RL0004",
        "--task-file",
    );
    machine.refuses(
        &["a task", "--plan", "--plan-file", "p"],
        2,
        "RL0004",
        "--plan-file",
    );
    let next = machine.refuses(&[], 2, "RL0001", "nothing to do");
    assert_eq!(next, "run-loop --base main --review-only");
}

#[test]
fn a_loop_inside_a_job_is_refused() {
    let machine = Machine::new().variable("RUN_LOOP_JOB_ID", "0192");
    machine.refuses(&["--base", "main", "--review-only"], 2, "RL0011", "0192");
}

#[test]
fn a_failure_in_json_is_one_object_with_its_next_command_as_an_array() {
    let machine = Machine::new();
    for args in [
        &["--review-only", "--format", "json"][..],
        &["--nope", "--format", "json"],
        &["gate", "--fromat=x", "--format=json"],
    ] {
        let ended = machine.run(args);
        assert_eq!(ended.code, 2);
        let failure: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
        assert_eq!(failure["exit"], 2, "{failure}");
        assert_eq!(failure["next"][0], "run-loop", "{failure}");
    }
}

#[test]
fn help_version_and_explanations_are_data() {
    let machine = Machine::new();
    for (args, part) in [
        (&["--help"][..], "Usage: run-loop"),
        (&["--version"], "run-loop 0."),
        (
            &["explain", "rl0007"],
            "# RL0007: the panel has no reviewer",
        ),
        (&["explain"], "RL0912: "),
        (&["completions", "bash"], "run-loop"),
        (&["schema", "config"], "\"max-rounds\""),
        (&["schema", "verdict"], "\"receipts\""),
        (&["schema", "sidecar"], "content_tree"),
        (&["schema", "manifest"], "panel"),
        (&["schema", "profile"], "\"keys-reach\""),
    ] {
        let ended = machine.run(args);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{args:?}");
        assert!(ended.stdout.contains(part), "{args:?}: {}", ended.stdout);
    }
    let next = machine.refuses(&["explain", "7"], 2, "RL0017", "\"7\"");
    assert_eq!(next, "run-loop explain RL0007");
    let next = machine.refuses(&["explain", "RL9999"], 2, "RL0017", "RL9999");
    assert_eq!(
        next, "run-loop explain",
        "a page of something else is no help"
    );
}

//! `run-loop init`: what it proposes, that it asks, and that what it writes works.

use crate::machine::{Ended, Machine};
use crate::support::repo::Repo;
use crate::support::skipped;
use crate::support::terminal::Terminal;

fn machine() -> Machine {
    let repo = Repo::new();
    repo.write("Makefile", "test:\n\t@grep -q fine state.txt\n");
    repo.write("state.txt", "fine\n");
    repo.commit("a project with a test");
    Machine::with(repo)
}

fn written(machine: &Machine) -> Option<String> {
    std::fs::read_to_string(machine.repo.root().join("run-loop.yaml")).ok()
}

/// The lines that a diff adds.
fn added(ended: &Ended) -> String {
    let lines = ended
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("@@"));
    let added: Vec<&str> = lines.filter_map(|line| line.strip_prefix('+')).collect();
    added.join("\n") + "\n"
}

#[test]
fn without_a_terminal_it_shows_the_file_and_writes_nothing() {
    let machine = machine();
    let before = machine.everything();
    let ended = machine.run(&["init", "--reviewer", "claude"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(
        ended.stderr.contains("error RL0132: nothing was written"),
        "{ended:?}"
    );
    assert!(
        ended
            .stderr
            .contains("next: run-loop init --yes --reviewer claude"),
        "{ended:?}"
    );
    assert!(
        ended
            .stdout
            .starts_with("--- /dev/null\n+++ run-loop.yaml\n"),
        "{ended:?}"
    );
    assert!(
        added(&ended).contains("\n  reviewers: [claude, checks]\n"),
        "{ended:?}"
    );
    assert!(added(&ended).contains("run: make test"), "{ended:?}");
    assert_eq!(machine.everything(), before);
}

/// What is written is what was shown, is trusted, and makes the next review run its commands.
#[test]
fn what_it_writes_is_trusted_and_reviews_run_by_it_once_it_is_committed() {
    let machine = machine();
    let shown = added(&machine.run(&["init"]));
    let ended = machine.run(&["init", "--yes"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.stderr.contains(&format!(
            "next: git -C {} add run-loop.yaml",
            machine.repo.root().display()
        )),
        "{ended:?}"
    );
    assert_eq!(written(&machine).unwrap(), shown);
    let doctor = machine.run(&["doctor"]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert!(doctor.stdout.contains("which you trust"), "{doctor:?}");

    // Again: what is there stays.
    machine.repo.write("run-loop.yaml", "version: 1\n");
    let again = machine.run(&["init", "--yes"]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.stderr.contains("is there already"), "{again:?}");
    assert_eq!(written(&machine).unwrap(), "version: 1\n");

    machine.repo.write("run-loop.yaml", &shown);
    machine.repo.commit("configure");
    machine.repo.git(&["switch", "-q", "-c", "feature"]);
    machine.repo.write("state.txt", "still fine\n");
    machine.repo.commit("a change");
    let review = ["--base", "main", "--review-only"];
    let ended = machine.run(&review);
    assert_eq!(ended.code, 0, "{ended:?}");
    machine.repo.write("state.txt", "broken\n");
    machine.repo.commit("a change that its test finds");
    let ended = machine.run(&review);
    assert_eq!(ended.code, 1, "the command is run: {ended:?}");
}

#[test]
fn nobody_unknown_reviews_and_a_link_is_somebody_s_file_too() {
    let machine = machine();
    let ended = machine.run(&["init", "--yes", "--reviewer", "cluade"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error RL0005"), "{ended:?}");
    assert_eq!(written(&machine), None);
    let path = machine.repo.root().join("run-loop.yaml");
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    let ended = machine.run(&["init", "--yes"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
}

#[test]
fn a_fresh_repository_without_a_commit_gets_one_too() {
    let machine = machine();
    machine.repo.git(&["switch", "-q", "--orphan", "empty"]);
    let ended = machine.run(&["init", "--yes", "--format", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        document["next"],
        serde_json::json!(["git", "-C", machine.repo.root(), "add", "run-loop.yaml"])
    );
    assert_eq!(document["checks"], serde_json::json!([]));
    assert!(written(&machine).is_some());
}

#[test]
fn at_a_terminal_it_asks() {
    for (typed, code, format) in [
        ("y\n", 0, "human"),
        ("n\n", 3, "human"),
        ("\n", 3, "human"),
        ("y\n", 0, "json"),
    ] {
        let machine = machine();
        let program = env!("CARGO_BIN_EXE_run-loop");
        let prepare = |command: &mut std::process::Command| {
            machine.prepare(command);
        };
        let root = machine.repo.root();
        let line: &[&str] = if format == "json" {
            &[program, "init", "--format", "json"]
        } else {
            &[program, "init"]
        };
        let Some(mut terminal) = Terminal::start(prepare, line, 80, root) else {
            return skipped("there is no `script` here");
        };
        // Also where a program reads what comes of it.
        terminal.shows("+++ run-loop.yaml");
        terminal.shows("write run-loop.yaml? [y/N]");
        terminal.types(typed);
        let session = terminal.ends();
        assert_eq!(session.code, code, "{typed:?}: {session:?}");
        assert!(
            session.screen.contains("write run-loop.yaml? [y/N]"),
            "{session:?}"
        );
        assert_eq!(written(&machine).is_some(), code == 0, "{typed:?}");
    }
}

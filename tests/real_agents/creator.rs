//! What a creator is for: a change in the source root, and an answer to each finding.

use serde_json::json;

use crate::program::{Program, Trial, each};
use crate::scripted;
use crate::support::bench::Bench;

/// A tool that runs when the budget ends, in a process group and a session of its own: it goes
/// with its program.
fn is_ended_with_its_tool(program: Program) {
    let bench = scripted::reviewer(Bench::new(), "never.txt").ready();
    let mark = format!("98{}", bench.repo.root().display());
    let replies = json!([
        {"shell": format!("tail -f /dev/null '{mark}'")},
        // Some ask again while the tool runs on.
        {"hang": "events", "text": "I wait for it."},
    ]);
    let Some(trial) = Trial::new(program, bench, &replies) else {
        return;
    };
    let line = [
        "--creator",
        program.agent(),
        "--reviewer",
        "bob",
        "wait for it",
    ];
    let ran = trial.run(program.starts_within(), &line);
    ran.ends(6).says("budget");
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&mark))
        .collect();
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
}

/// A program that gives up has written nothing that anybody may take for its work.
fn fails_as_a_creator(program: Program) {
    let bench = scripted::reviewer(Bench::new(), "never.txt").ready();
    let replies = json!([
        program.writing("{tree}/first.txt"),
        {"error": 400, "message": "the request is malformed"},
    ]);
    let Some(trial) = Trial::new(program, bench, &replies) else {
        return;
    };
    let line = [
        "--creator",
        program.agent(),
        "--reviewer",
        "bob",
        "add two files",
    ];
    trial.run(20, &line).ends(6);
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
}

each!(is_ended_with_its_tool, fails_as_a_creator);

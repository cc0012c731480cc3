//! What comes out: data on stdout, the rest on stderr, parsable, without colour in a pipe.

use serde_json::Value;

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::{Bench, Ran};

fn failing() -> Bench {
    let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
    Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &ScriptedAgent::not_passing(&high))
        .ready()
}

/// P14: every line of NDJSON is one event with its run, and its round, slot and tree where it is
/// about one.
#[test]
fn every_line_of_ndjson_says_what_it_is_about() {
    let bench = failing();
    let ran = bench.run(&["--base", "main", "--review-only", "--format", "ndjson"]);
    ran.ends(1);
    let events: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |event: &Value| event["event"]["kind"].as_str().unwrap().to_owned();
    assert_eq!(kind(&events[0]), "run_started");
    assert_eq!(kind(events.last().unwrap()), "run_ended");
    let tree = bench.repo.git(&["rev-parse", "feature^{tree}"]);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["run"], events[0]["run"]);
        assert_eq!(event["seq"], number + 1);
        let about_a_slot = ["job_started", "job_ended", "slot_settled", "finding_raised"];
        if about_a_slot.contains(&kind(event).as_str()) {
            assert_eq!(event["round"], 1, "{event}");
            assert_eq!(event["tree"], tree.as_str(), "{event}");
            assert!(["ann", "bob"].contains(&event["slot"].as_str().unwrap()));
            assert_eq!(event["agent"], event["slot"]);
        }
    }
    // The failure for programs: its command as an array, on stderr.
    let failure: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(failure["code"], "RL0401");
    assert_eq!(failure["exit"], 1);
    assert_eq!(failure["next"][0], "run-loop");
}

#[test]
fn json_is_one_document() {
    let bench = failing();
    let ran = bench.run(&["--base", "main", "--review-only", "--format", "json"]);
    ran.ends(1);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["exit"], 1);
    assert_eq!(report["approved"], false);
    assert_eq!(report["findings"][0]["finding"]["path"], "src/lib.rs");
    for args in [
        &["status", "--format", "json"][..],
        &["list", "--format", "json"],
        &["log", "--format", "json"],
        &["log", "-f", "--format", "json"],
        &["job", "list", "--format", "json"],
        &["agents", "--format", "json"],
        &["cleanup", "--dry-run", "--format", "json"],
        &["show", "--format", "json"],
        &["show", "--cost", "--format", "json"],
        &["show", "--findings", "--format", "json"],
        &["config", "show", "--format", "json"],
        &["schema", "verdict"],
        &["schema", "config"],
    ] {
        let ran = bench.run(args);
        ran.ends(0);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        if args[0] != "schema" {
            assert_eq!(document["version"], 1, "{args:?}: {document}");
        }
    }
    let log = bench.run(&["log", "--format", "json"]);
    let log: Value = serde_json::from_str(&log.stdout).unwrap();
    assert_eq!(log["events"][0]["event"]["kind"], "run_started");
    for line in bench
        .run(&["log", "--format", "ndjson"])
        .ends(0)
        .stdout
        .lines()
    {
        serde_json::from_str::<Value>(line).unwrap();
    }
    let gate = bench.run(&[
        "gate", "--base", "main", "--head", "feature", "--format", "json",
    ]);
    assert_ne!(gate.code, Some(0));
    serde_json::from_str::<Value>(gate.stderr.lines().last().unwrap()).unwrap();
}

/// In a pipe and under `NO_COLOR` there is no escape, and the failure is told once.
#[test]
fn nothing_is_coloured_in_a_pipe_and_the_failure_is_told_once() {
    let bench = failing();
    let output = bench
        .command(&["--base", "main", "--review-only"])
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    for ran in [Ran::of(&output), bench.review()] {
        ran.ends(1).with("RL0401");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains('\u{1b}'), "{all}");
        assert_eq!(all.matches("RL0401").count(), 1, "{all}");
    }
    // `show` has no failure of its own, so it tells the run's.
    bench.run(&["show"]).ends(0).says("RL0401");
}

/// A reader that goes away changes nothing about the run.
#[test]
fn a_closed_pipe_does_not_end_the_run() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let mut child = bench.spawn(&["--base", "main", "--review-only"]);
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(bench.promoted().len(), 3);
}

/// Every next command that only reads is run, and ends well.
#[test]
fn next_commands_run() {
    let silent = Bench::new()
        .reviewer("ann", &ScriptedAgent::silent())
        .ready();
    let binary = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    binary.repo.write("a.bin", b"\0");
    for (bench, code) in [(failing(), 1), (silent, 5), (binary, 5)] {
        let ran = bench.review();
        ran.ends(code);
        let next = ran.next();
        assert_eq!(next[0], "run-loop");
        let args: Vec<&str> = next[1..].iter().map(String::as_str).collect();
        let ran = bench.run(&args);
        ran.ends(0);
        assert!(!ran.stdout.is_empty());
        // Whoever looked is not sent to look again: what is to be done comes next.
        let shown = bench.run(&["show"]);
        let root = bench.repo.root().display();
        let again = format!("next: run-loop --worktree {root} --base main --review-only\n");
        let leads_on = next[1] != "show" || shown.stdout.ends_with(&again);
        assert!(leads_on, "{}", shown.stdout);
        let logged = bench.run(&["log"]);
        let leads_on = next[1] != "log" || logged.stdout.ends_with(&again);
        assert!(leads_on, "{}", logged.stdout);
    }
}

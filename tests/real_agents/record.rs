//! What passed in a real run, which `docs/agents.md` tells: written by that run alone.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use run_loop::config::profiles;
use serde_json::{Value, json};

use crate::driven::digest;
use crate::program::{List, Program};
use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};

/// The folder of this run, where `.ci/real-agents` says so.
fn folder() -> Option<PathBuf> {
    std::env::var_os("RUN_LOOP_REAL_AGENTS_RUN").map(PathBuf::from)
}

/// Adds a line to a file of this run; several tests do so at once.
fn add(name: &str, line: &str) {
    let Some(folder) = folder() else {
        return;
    };
    let mut file = std::fs::OpenOptions::new();
    let mut file = file
        .create(true)
        .append(true)
        .open(folder.join(name))
        .unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

thread_local! {
    /// Whether the test of this thread drove a program: some have nothing to try with some.
    static DROVE: Cell<bool> = const { Cell::new(false) };
}

/// A program is driven in this test.
pub(crate) fn drives() {
    DROVE.set(true);
}

/// A case of a program passed; for those that went through to their end.
pub(crate) fn passed(program: Program, case: &str) {
    if !DROVE.get() {
        return;
    }
    let profile = program.profile();
    let version = program.version();
    let driven = profiles::embedded(profile).unwrap().unwrap();
    let line = json!({
        "profile": profile, "version": version, "driven": digest(&driven),
        "case": case.replace('_', " "),
    });
    add("passed", &line.to_string());
}

/// The run came to nothing at the end of a job's budget. Where the machine has more to do than it can,
/// and nothing else is wrong, it was too slow for it; one that is idle was waited for in vain.
pub(crate) fn tell_slow(bench: &Bench, ran: &Ran) {
    // Another code is a verdict, a limit or a refusal, whatever else took its time.
    if ran.code != Some(5) || !is_busy() {
        return;
    }
    let log = bench.run(&["log", "--format", "ndjson"]);
    if log.code == Some(0) && is_out_of_time(&log.stdout) {
        let thread = std::thread::current();
        add("slow", thread.name().unwrap_or_default());
    }
}

/// Whether nothing went wrong with the jobs of a run but that budgets ended.
fn is_out_of_time(log: &str) -> bool {
    let events = log.lines().map(serde_json::from_str::<Value>);
    let ends = events.map_while(Result::ok).filter_map(|line| {
        let event = &line["event"];
        let is_end = event["kind"] == "job_ended" || event["kind"] == "delegate_ended";
        is_end.then(|| {
            let is_over = event["ended"] == "stopped: its budget was spent";
            let problems = event["problems"].as_array();
            let is_read = problems.is_none_or(Vec::is_empty) && event["problem"].is_null();
            let is_well = event["ended"] == "exit code 0" && event["verdict"] != "NOT PASS";
            (is_over, is_over || (is_read && is_well))
        })
    });
    let ends: Vec<(bool, bool)> = ends.collect();
    ends.iter().any(|(is_over, _)| *is_over) && ends.iter().all(|(_, is_right)| *is_right)
}

/// Whether more runs here than there are processors.
fn is_busy() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let processors = u32::try_from(processors).unwrap_or(u32::MAX);
    load.is_some_and(|load| load >= f64::from(processors))
}

/// The test saw something that no slowness explains.
pub(crate) fn tell_wrong() {
    let thread = std::thread::current();
    add("wrong", thread.name().unwrap_or_default());
}

/// What the record says after the whole run of a list: its programs anew, and those of the other lists as
/// they were told before.
fn told(before: &Value, of: List, passed: &str) -> Value {
    let mut programs: BTreeMap<String, (Value, Value, BTreeSet<String>)> = BTreeMap::new();
    for line in passed.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap().to_owned();
        let program = programs.entry(text("profile")).or_default();
        program.0 = line["version"].clone();
        program.1 = line["driven"].clone();
        program.2.insert(text("case"));
    }
    let anew = programs
        .into_iter()
        .map(|(profile, (version, driven, cases))| {
            let told = json!({"version": version, "profile": driven, "cases": cases});
            (profile, told)
        });
    let others = List::ALL.into_iter().filter(|list| *list != of);
    let kept = others.flat_map(List::programs).filter_map(|program| {
        let told = before["programs"].get(program.profile())?;
        Some((program.profile().to_owned(), told.clone()))
    });
    let all: BTreeMap<String, Value> = kept.chain(anew).collect();
    json!({"programs": all})
}

/// The whole of a real run stands in `last-run.json`. After a change that is meant, or another version:
/// `RUN_LOOP_BLESS=1 .ci/real-agents`, or with `--more`, and then the page of `tests/agents.rs`.
#[test]
fn the_last_run_is_written_down() {
    let folder = folder().filter(|folder| folder.join("whole").exists());
    let Some(folder) = folder else {
        return;
    };
    let list = List::ALL.into_iter().find(|list| list.is_installed());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_agents/last-run.json");
    let before = std::fs::read_to_string(&path).unwrap();
    let passed = std::fs::read_to_string(folder.join("passed")).unwrap();
    let now = told(
        &serde_json::from_str(&before).unwrap(),
        list.unwrap(),
        &passed,
    );
    let now = serde_json::to_string_pretty(&now).unwrap() + "\n";
    if std::env::var_os("RUN_LOOP_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), now);
}

/// Who runs one list says nothing of the programs of another.
#[test]
fn a_run_of_one_list_tells_of_its_programs_alone() {
    let of = |cases: &[&str]| json!({"version": "1", "cases": cases});
    let before = json!({"programs": {
        "codex": of(&["passes", "refuses"]), "gemini": of(&["passes"]),
        "qwen": of(&["passes"]), "copilot-acp": of(&["refuses"]), "of-no-list": of(&["passes"]),
    }});
    let passed = |profile: &str| {
        json!({"profile": profile, "version": "2", "driven": "d", "case": "a re ask"}).to_string()
    };
    let anew = json!({"version": "2", "profile": "d", "cases": ["a re ask"]});
    let usual = json!({"programs": {
        "codex": anew, "qwen": of(&["passes"]), "copilot-acp": of(&["refuses"]),
    }});
    assert_eq!(told(&before, List::Usual, &passed("codex")), usual);
    let more = json!({"programs": {
        "codex": of(&["passes", "refuses"]), "gemini": of(&["passes"]), "qwen": anew,
    }});
    assert_eq!(told(&before, List::More, &passed("qwen")), more);
}

/// Only what a budget ended was slow, and what else went wrong was not.
#[test]
fn what_is_slow_is_told_by_the_log() {
    let hangs = ScriptedAgent::hangs();
    let fails = ScriptedAgent::exits(3);
    let forgets = ScriptedAgent::plain_pass();
    for (agents, is_slow) in [
        (&[&hangs][..], true),
        (&[&hangs, &ScriptedAgent::passing()], true),
        (&[&hangs, &fails], false),
        (&[&hangs, &forgets], false),
        (&[&forgets], false),
    ] {
        let names = ["ann", "bob"].into_iter().zip(agents);
        let bench = names.fold(Bench::new(), |bench, (name, agent)| {
            bench.reviewer(name, agent)
        });
        let bench = bench.ready();
        let line = ["--base", "main", "--review-only", "--job-timeout", "4"];
        bench.run(&line).ends(5);
        let log = bench.run(&["log", "--format", "ndjson"]);
        assert_eq!(is_out_of_time(&log.stdout), is_slow, "{}", log.stdout);
    }
}

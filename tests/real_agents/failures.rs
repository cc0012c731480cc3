//! What goes wrong on the way: no verdict, nothing promoted, nothing left running.

use serde_json::{Value, json};

use crate::program::{Program, Trial};
use crate::support::bench::Bench;

/// A budget that ends the programs that try again for minutes.
const SECONDS: u32 = 12;

fn fails(program: Program, reply: &Value) -> Option<(Trial, String)> {
    let trial = Trial::new(program, Bench::new().ready(), std::slice::from_ref(reply))?;
    let ran = trial.review(SECONDS);
    ran.ends(5).with("RL0301");
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
    Some((trial, ran.stderr))
}

fn a_wrong_key(program: Program) {
    let reply = json!({"error": 401, "message": "Incorrect API key provided"});
    let Some((_, said)) = fails(program, &reply) else {
        return;
    };
    // claude tries a refused key again for minutes: our clock ends it.
    let wanted = match program {
        Program::Claude => "budget",
        Program::Codex | Program::Gemini | Program::Opencode => "no valid key or login",
    };
    assert!(said.contains(wanted), "{said}");
}

fn too_many_requests(program: Program) {
    let headers = json!({"retry-after": "1"});
    let reply = json!({"error": 429, "message": "slow down", "headers": headers});
    fails(program, &reply);
}

fn a_failing_provider(program: Program) {
    fails(program, &json!({"error": 500, "message": "internal"}));
}

/// A stream that stops in the middle of a perfect report, and stays open.
fn a_stream_that_hangs(program: Program) {
    let Some((trial, said)) = fails(
        program,
        &json!({"hang": "events", "text": "I read it all."}),
    ) else {
        return;
    };
    assert!(said.contains("budget"), "{said}");
    // The program is gone: the model saw it let go.
    let gone = |line: &Value| {
        line["event"]
            .as_str()
            .is_some_and(|event| event.contains("closed"))
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !trial.model.log().iter().any(gone) {
        assert!(
            std::time::Instant::now() < deadline,
            "{:?}",
            trial.model.log()
        );
        std::thread::yield_now();
    }
}

/// A stream that is cut, each time it is tried.
fn a_stream_that_is_cut(program: Program) {
    fails(program, &json!({"cut": true, "text": "I read it all."}));
}

macro_rules! each {
    ($($case:ident),+) => {$(
        mod $case {
            use super::Program;
            #[test]
            fn codex() { super::$case(Program::Codex); }
            #[test]
            fn claude() { super::$case(Program::Claude); }
            #[test]
            fn gemini() { super::$case(Program::Gemini); }
            #[test]
            fn opencode() { super::$case(Program::Opencode); }
        }
    )+};
}
each!(
    a_wrong_key,
    too_many_requests,
    a_failing_provider,
    a_stream_that_hangs,
    a_stream_that_is_cut
);

/// codex ends with a tool running, in a process group and a session of its own: it goes too.
#[test]
fn a_tool_that_runs_is_ended_with_its_program() {
    let mark = format!("98{}", std::process::id());
    let replies = [
        json!({"shell": format!("sleep {mark}")}),
        // codex asks again while its tool runs on.
        json!({"hang": "events", "text": "I wait for it."}),
    ];
    let Some(trial) = Trial::new(Program::Codex, Bench::new().ready(), &replies) else {
        return;
    };
    trial.review(SECONDS).ends(5).says("budget");
    let left: Vec<String> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&format!("sleep {mark}")))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

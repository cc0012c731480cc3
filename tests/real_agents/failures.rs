//! What goes wrong on the way: no verdict, nothing promoted, nothing left running.

use serde_json::{Value, json};

use crate::program::{Kind, Program, Trial, each};
use crate::support::bench::Bench;

/// A budget that ends the programs that try again for minutes; some need that long to start on a busy
/// machine.
fn seconds(program: Program) -> u32 {
    match program.kind() {
        Kind::Claude if program == Program::ClaudeAcp => 40,
        // It starts a server first, and the limit is to be met before its budget ends.
        Kind::Gemini if program == Program::GeminiAcp => 40,
        Kind::Claude | Kind::Codex | Kind::Gemini => 12,
        Kind::Opencode | Kind::Qwen | Kind::Copilot => 40,
    }
}

fn fails(program: Program, reply: &Value) -> Option<(Trial, String)> {
    let trial = Trial::new(program, Bench::new().ready(), &json!([reply]))?;
    let ran = trial.review(program, seconds(program));
    ran.ends(5).with("RL0301");
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
    Some((trial, ran.stderr))
}

/// claude tries a refused key again for minutes: our clock ends it, and what it was about is told.
fn a_wrong_key(program: Program) {
    let reply = json!({"error": 401, "message": "Incorrect API key provided"});
    let Some((_, said)) = fails(program, &reply) else {
        return;
    };
    assert!(said.contains("no valid key or login"), "{said}");
    let doctor = format!("next: run-loop doctor --agent {}", program.agent());
    assert!(said.contains(&doctor), "{said}");
}

/// Whoever gives up, and whoever still tries again when its budget ends, is at a limit.
fn too_many_requests(program: Program) {
    let headers = json!({"retry-after": "1"});
    let reply = json!({"error": 429, "message": "slow down", "headers": headers});
    let Some(trial) = Trial::new(program, Bench::new().ready(), &json!([reply])) else {
        return;
    };
    trial.keeps_trying();
    let ran = trial.review(program, seconds(program));
    match program {
        // It hands on the provider's words alone, with no status: nobody can know that it was a limit.
        Program::OpencodeAcp => ran.ends(5).with("RL0301").says("slow down"),
        // It tells nobody anything while it tries again.
        Program::QwenAcp => ran.ends(5).with("RL0301").says("budget"),
        Program::Codex
        | Program::Claude
        | Program::Gemini
        | Program::Opencode
        | Program::GeminiAcp
        | Program::Qwen
        | Program::Copilot
        | Program::CopilotAcp
        | Program::ClaudeAcp
        | Program::CodexAcp => ran.ends(75).with("RL0720").says("rate limit"),
    };
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
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

each!(
    a_wrong_key,
    too_many_requests,
    a_failing_provider,
    a_stream_that_hangs,
    a_stream_that_is_cut
);

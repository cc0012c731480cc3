//! A guard on its own: what it does with an order, or half of one.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};

use run_loop::process::guard::outcome::StopReason;
use run_loop::process::guard::{Probe, probe};

use crate::bench::Bench;
use crate::support::agents::within;

/// A string of bytes as an order holds it.
fn bytes(text: impl AsRef<OsStr>) -> serde_json::Value {
    serde_json::json!({ "Unix": text.as_ref().as_bytes() })
}

/// An order for the bench's script, as the engine sends it.
fn order(bench: &Bench, body: &str) -> Vec<u8> {
    let command = bench.script(body);
    std::fs::create_dir(bench.capture()).unwrap();
    let second = serde_json::json!({"secs": 1, "nanos": 0});
    let order = serde_json::json!({
        "program": bytes(command.program), "args": [],
        "env": [[bytes("PATH"), bytes("/usr/bin:/bin")]],
        "directory": bytes(bench.path()), "stdin": 3, "folder": bytes(bench.capture()),
        "budget": {"secs": 600, "nanos": 0}, "grace": second, "cap": 1000,
    });
    let json = order.to_string().into_bytes();
    [
        &u32::try_from(json.len()).unwrap().to_be_bytes(),
        &*json,
        b"abc",
    ]
    .concat()
}

/// Starts a guard, gives it these bytes and closes its standard input; its exit code.
fn guard(input: &[u8]) -> Option<i32> {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_run-loop"))
        .arg("__guard")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // A guard that wants no more of it has its reasons.
    guard.stdin.take().unwrap().write_all(input).ok();
    within("a guard to exit", move || guard.wait().unwrap().code())
}

/// An engine that died in the middle of its order has started nothing.
#[test]
fn half_an_order_starts_nothing() {
    let bench = Bench::new();
    let order = order(&bench, "echo > started");
    for length in [0, 2, 4, 10, order.len() - 3, order.len() - 1] {
        assert_eq!(guard(&order[..length]), Some(2), "{length}");
    }
    assert!(!bench.path().join("started").exists());
    assert_eq!(probe(&bench.capture()).unwrap(), Probe::Lost);
}

/// A whole order of an engine that is dead by then starts nothing: a successor may have seen that
/// no guard lives, and asked somebody else.
#[test]
fn an_order_of_a_dead_engine_starts_nothing() {
    let bench = Bench::new();
    assert_eq!(guard(&order(&bench, "echo > started")), Some(0));
    assert!(!bench.path().join("started").exists());
    let Probe::Ended(outcome) = probe(&bench.capture()).unwrap() else {
        panic!("the guard said nothing");
    };
    assert_eq!(outcome.stopped, Some(StopReason::EngineGone));
    assert_eq!((outcome.agent, outcome.gone), (None, true));
}

/// M-155, M-157: two guards for one attempt: the second one starts nothing.
#[test]
fn an_attempt_has_one_guard() {
    let bench = Bench::new();
    let order = order(&bench, "echo > started");
    assert_eq!(guard(&order), Some(0));
    let first = probe(&bench.capture()).unwrap();
    assert_eq!(guard(&order), Some(0));
    assert_eq!(probe(&bench.capture()).unwrap(), first);
    assert!(!bench.path().join("started").exists());
}

/// A person who types it is not left waiting, and garbage is no order.
#[test]
fn a_wrong_start_ends_with_two() {
    assert_eq!(guard(b""), Some(2));
    assert_eq!(guard(b"hello, guard\n"), Some(2));
    assert_eq!(guard(&[0xff; 100]), Some(2));
}

//! Programs that cannot be started: which, why, and what to do.

use std::ffi::OsString;
use std::path::PathBuf;

use run_loop::domain::code::Code;
use run_loop::domain::job::Ended;
use run_loop::process::command::Command;
use run_loop::process::supervise::supervise;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, NEVER};
use crate::support::agents::{executable, quote};

async fn refused(command: &Command, bench: &Bench) -> (Code, String, Vec<String>) {
    let done = supervise(command, bench.limits(NEVER), CancellationToken::new()).await;
    let Ended::NotStarted { failure } = done.ended else {
        unreachable!("it started: {:?}", done.ended)
    };
    (failure.code, failure.message, failure.next.0)
}

/// T-052, M-104: what cannot be started says which program, why, and what to do.
#[tokio::test]
async fn a_missing_program_is_named() {
    let bench = Bench::new();
    let missing = bench.path().join("no-such");
    let (code, message, next) = refused(&Command::new(&missing, bench.path()), &bench).await;
    assert_eq!(code, Code::AgentNotRunnable);
    assert_eq!(message, format!("{} does not exist", missing.display()));
    assert_eq!(next[0], "run-loop", "what is not there cannot be listed");
}

#[tokio::test]
async fn a_file_that_is_not_executable_is_named() {
    let bench = Bench::new();
    let file = bench.path().join("file");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    let (code, message, next) = refused(&Command::new(&file, bench.path()), &bench).await;
    assert_eq!(code, Code::AgentNotRunnable);
    assert!(message.contains("not executable"), "{message}");
    assert_eq!(next, ["chmod", "+x", "--", file.to_str().unwrap()]);
}

#[tokio::test]
async fn a_file_of_no_known_format_is_named() {
    let bench = Bench::new();
    let file = executable(bench.path(), "noise", "echo no first line\n");
    let (code, message, _) = refused(&Command::new(file, bench.path()), &bench).await;
    assert_eq!(code, Code::AgentNotRunnable);
    assert!(message.contains("first line"), "{message}");
}

#[tokio::test]
async fn a_missing_interpreter_is_told_apart_from_a_missing_program() {
    let bench = Bench::new();
    let file = executable(bench.path(), "script", "#!/no/such/interpreter\n");
    let (code, message, next) = refused(&Command::new(file, bench.path()), &bench).await;
    assert_eq!(code, Code::AgentNotRunnable);
    assert!(message.contains("interpreter"), "{message}");
    assert_eq!(next[0], "head");
}

/// M-101: an argument above 131,072 bytes cannot be handed over, and is said to be that.
#[tokio::test]
async fn arguments_that_are_too_large_are_told() {
    let bench = Bench::new();
    let command = bench
        .script("true")
        .arg(OsString::from("x".repeat(131_072)));
    let (code, message, _) = refused(&command, &bench).await;
    assert_eq!(code, Code::AgentNotRunnable);
    assert!(message.contains("arguments"), "{message}");
}

#[tokio::test]
async fn a_missing_working_directory_is_not_blamed_on_the_program() {
    let bench = Bench::new();
    let nowhere: PathBuf = bench.path().join("nowhere");
    let mut command = bench.script("true");
    command.directory = nowhere;
    let (code, message, _) = refused(&command, &bench).await;
    assert_eq!(code, Code::Internal);
    assert!(message.contains("nowhere is no folder"), "{message}");
}

#[tokio::test]
async fn captures_that_exist_already_start_nothing() {
    let bench = Bench::new();
    std::fs::create_dir(bench.capture()).unwrap();
    std::fs::write(bench.capture().join("stderr"), "stale").unwrap();
    let marker = bench.path().join("started");
    let script = bench.script(&format!("touch {}", quote(marker.to_str().unwrap())));
    let (code, message, _) = refused(&script, &bench).await;
    assert_eq!(code, Code::StateUnwritable);
    assert!(message.contains("stderr"), "{message}");
    assert!(!marker.exists());
}

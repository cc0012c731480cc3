//! Limits of the system that the shell sets.

use std::process::Command;

use crate::support::agents::{ScriptedAgent, quote};
use crate::support::bench::{Bench, Ran};

/// Runs a command of the program's in a shell that has set a limit.
fn limited(bench: &Bench, limit: &str, args: &str) -> Ran {
    let program = quote(env!("CARGO_BIN_EXE_run-loop"));
    let line = format!("{limit}; exec {program} {args}");
    let mut command = Command::new("/bin/bash");
    command.args(["-c", &line]).current_dir(bench.repo.root());
    command.env_clear().envs(bench.environment());
    Ran::of(&command.output().unwrap())
}

/// T-051: a limit on the size of files kills neither the engine nor a guard whose job prints more; what a job
/// writes itself beyond it ends that as ever.
#[test]
fn t051_a_limit_on_files_kills_no_guard() {
    let agent = ScriptedAgent::passing().after(
        "head -c 3000000 /dev/zero | tr '\\0' x\n\
         (head -c 3000000 /dev/zero > \"$TMPDIR/large\") 2> /dev/null; [ $? = 153 ] || exit 9",
    );
    let bench = Bench::new()
        .reviewer_with("ann", &agent, "report: file")
        .ready();
    let ran = limited(&bench, "ulimit -f 2000", "--base main --review-only");
    ran.ends(0);
    bench.gate().ends(0);
}

/// Too few files that may be open are told before anything is made.
#[test]
fn too_few_open_files_are_refused() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    for most in [20, 40] {
        let limit = format!("ulimit -n {most}");
        let ran = limited(&bench, &limit, "--base main --review-only");
        ran.ends(3).with("RL0121").says("ulimit -n");
    }
    assert!(!bench.repo.root().join(".git/run-loop").exists());
    limited(&bench, "ulimit -n 64", "--base main --review-only").ends(0);
}

//! Interrupted and terminated runs: children ended, recorded, nothing left.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::agents::{Point, ScriptedAgent, within};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, there_is, until};

fn signalled(signal: &str, code: i32, reason: &str) {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&point))
        .ready();
    let worktrees = bench.repo.git(&["worktree", "list"]);
    let child = bench.spawn(&["--base", "main", "--review-only"]);
    let agent = point.reached();
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args([signal, &pid])
            .status()
            .unwrap()
            .success()
    );
    let ran = Ran::of(&within("the program to end", move || {
        child.wait_with_output().unwrap()
    }));
    ran.ends(code).with(reason);
    assert!(
        !Path::new("/proc").join(&agent).exists(),
        "the agent is still there"
    );
    assert_eq!(bench.promoted(), Vec::<String>::new());
    assert_eq!(bench.repo.git(&["worktree", "list"]), worktrees);
    assert_eq!(
        bench.left_in_cache(&["trees", "jobs", "evidence"]),
        Vec::<String>::new()
    );
    bench.run(&["status"]).says("interrupted");
}

/// T-013, M-015, H19.
#[test]
fn sigterm_ends_children_and_is_recorded() {
    signalled("-TERM", 143, "RL0802");
}

#[test]
fn sigint_ends_children_and_is_recorded() {
    signalled("-INT", 130, "RL0801");
}

/// Issue 4.1: a second signal ends everything now, also where an agent stopped its own guard: nothing that
/// could prove who is left is removed before nobody is.
#[test]
fn a_second_signal_leaves_nobody_whose_guard_was_stopped() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let agent = ScriptedAgent::with_script(format!(
        "read_prompt; kill -STOP $PPID; echo $$ > {}; exec sleep 1000",
        point.path().display()
    ));
    let bench = bench.reviewer("ann", &agent).ready();
    let mut engine = Engine::start(&bench);
    let agent = point.reached();
    engine.signal("INT");
    engine.line_with(&["stop_requested"]);
    engine.signal("INT");
    engine.ended().ends(130);
    assert!(
        !there_is(&agent, &bench.repo.beside("agents")),
        "the agent is still there"
    );
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, [""; 0]);
}

/// H09: kill -9; the next `status` says interrupted at once, and the next run is not blocked.
#[test]
fn a_killed_engine_is_shown_as_interrupted() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let counter = bench.repo.beside("turn");
    let agent = ScriptedAgent::in_turn(
        &counter,
        &[ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()],
    );
    let bench = bench.reviewer("ann", &agent).ready();
    let mut child = bench.spawn(&["--base", "main", "--review-only"]);
    let agent = point.reached();
    child.kill().unwrap();
    child.wait().unwrap();
    bench.run(&["status"]).says("interrupted");
    // H10, H19: its guard ends the agent of the dead engine.
    within("the agent to be ended", move || {
        let state = format!("/proc/{agent}/stat");
        while std::fs::read_to_string(&state).is_ok_and(|line| !line.contains(") Z ")) {
            std::thread::yield_now();
        }
    });
    bench.review().ends(0);
}

/// One loop per source root at a time.
#[test]
fn a_second_loop_on_the_same_source_is_refused() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&point))
        .ready();
    let mut child = bench.spawn(&["--base", "main", "--review-only"]);
    point.reached();
    bench.review().ends(3).with("RL0118");
    let pid = child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    within("the first loop to end", move || child.wait().unwrap());
}

/// Issue 4.1, style 18: an engine that is suspended at the terminal (SIGTSTP) for longer than an agent's
/// budget spends nothing of it: what the agent handed over in its own time counts, although the engine
/// hears of it long after.
#[test]
fn a_suspended_engine_spends_no_budget() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (ready, go) = (Point::new(&agents, "ready"), Point::new(&agents, "go"));
    let agent = ScriptedAgent::passing().after(&format!(
        "echo $$ > {}; read -r _ < {}",
        ready.path().display(),
        go.path().display()
    ));
    let bench = bench.reviewer("ann", &agent).ready();
    let budget = Duration::from_secs(3);
    let mut command = bench.command(&["--base", "main", "--review-only", "--job-timeout", "3"]);
    // A group of its own, whose parent is in another one: an orphaned group is not suspended.
    command.process_group(0);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id();
    let agent = ready.reached();
    let began = Instant::now();
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &pid.to_string()]).status();
        assert!(sent.unwrap().success());
    };
    signal("-TSTP");
    until("the engine is suspended", || state(pid) == 'T');
    go.release();
    until("the agent has ended", || {
        !Path::new("/proc").join(&agent).exists()
    });
    assert!(began.elapsed() < budget, "too slow to show anything");
    until("its budget would be over", || {
        began.elapsed() > budget + budget
    });
    assert_eq!(state(pid), 'T');
    signal("-CONT");
    Ran::of(&child.wait_with_output().unwrap()).ends(0);
    assert_eq!(bench.sidecar("ann")["attempt"], 1);
    bench.gate().ends(0);
}

/// How the kernel says that a process is.
fn state(pid: u32) -> char {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let state = stat.rsplit(')').next().unwrap().trim_start();
    state.chars().next().unwrap()
}

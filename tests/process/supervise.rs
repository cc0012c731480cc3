//! Supervision against real programs: budgets, signals, pipes, floods.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use run_loop::domain::job::Ended;
use run_loop::process::supervise::supervise;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, NEVER};

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Whether a process lives; a zombie does not.
fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

#[tokio::test]
async fn output_and_code_of_a_program_that_ends_by_itself() {
    let bench = Bench::new();
    let done = bench.run("echo one; echo two >&2; exit 3").await;
    assert_eq!(done.ended, Ended::Exited { code: 3 });
    assert!(done.gone);
    assert_eq!(done.stdout.whole(), Some(&b"one\n"[..]));
    assert_eq!(std::fs::read(done.stderr.path).unwrap(), b"two\n");
}

#[tokio::test]
async fn a_foreign_signal_is_told_apart_from_ours() {
    let done = Bench::new().run("kill -SEGV $$").await;
    assert_eq!(done.ended, Ended::Signalled { signal: 11 });
}

/// T-109, H05: an agent that never exits is ended at its budget, with its group.
#[tokio::test]
async fn a_program_that_never_exits_is_ended_at_its_budget() {
    let bench = Bench::new();
    let command = bench.script("sleep 1000 & echo $! > child; echo done; wait");
    let limits = bench.limits(Duration::from_secs(4));
    let done = supervise(&command, limits, CancellationToken::new()).await;
    assert_eq!(done.ended, Ended::TimedOut);
    assert!(done.gone);
    let child = std::fs::read_to_string(bench.path().join("child")).unwrap();
    assert!(!lives(&child), "the whole group is ended");
}

/// T-108: a group that ignores TERM is killed after the grace, and reaped.
#[tokio::test]
async fn a_program_that_ignores_term_is_killed_after_the_grace() {
    let bench = Bench::new();
    let point = bench.point("deaf");
    let command = bench.script("trap '' TERM; echo $$ > deaf; while :; do sleep 1000; done");
    let mut limits = bench.limits(NEVER);
    limits.grace = Duration::from_millis(300);
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            let pid = point.reached();
            stop.cancel();
            (pid, Instant::now())
        }
    });
    let done = supervise(&command, limits, stop).await;
    let (pid, since) = asked.await.unwrap();
    assert_eq!(done.ended, Ended::Stopped);
    assert!(done.gone);
    assert!(
        since.elapsed() >= Duration::from_millis(300),
        "the grace was given"
    );
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "it is reaped");
}

/// Design, section 8: a job that we stopped has no verdict, even if it exits 0 then.
#[tokio::test]
async fn a_program_that_exits_zero_on_our_term_was_stopped() {
    let bench = Bench::new();
    let point = bench.point("ready");
    let command = bench.script(
        "trap 'echo bye; exit 0' TERM; echo x > ready; while :; do sleep 1000 & wait $!; done",
    );
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            point.reached();
            stop.cancel();
        }
    });
    let done = supervise(&command, bench.limits(NEVER), stop).await;
    asked.await.unwrap();
    assert_eq!(done.ended, Ended::Stopped);
    assert_eq!(
        text(done.stdout.whole().unwrap()),
        "bye\n",
        "it had its grace"
    );
}

#[tokio::test]
async fn one_term_only() {
    let bench = Bench::new();
    let point = bench.point("ready");
    let command = bench.script(
        "n=0; trap 'n=$((n+1))' TERM; sleep 1000 & child=$!; echo x > ready; \
         wait $child; sleep 0.2 & wait $!; echo $n; exit 0",
    );
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            point.reached();
            stop.cancel();
        }
    });
    let done = supervise(&command, bench.limits(NEVER), stop).await;
    asked.await.unwrap();
    assert_eq!(text(done.stdout.whole().unwrap()), "1\n");
}

#[tokio::test]
async fn nothing_is_started_for_a_run_that_is_already_stopped() {
    let bench = Bench::new();
    let stop = CancellationToken::new();
    stop.cancel();
    let done = supervise(&bench.script("echo x > started"), bench.limits(NEVER), stop).await;
    assert_eq!(done.ended, Ended::Stopped);
    assert!(!bench.path().join("started").exists());
}

/// H02, H04: a grandchild that keeps the pipe does not hold the job, and is ended with its group;
/// that is not stopping the job.
#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_does_not_hold_the_job() {
    let bench = Bench::new();
    let done = bench
        .run("sleep 1000 & echo $! > child; echo report; exit 0")
        .await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert!(done.gone);
    assert_eq!(done.stdout.whole(), Some(&b"report\n"[..]));
    assert!(!lives(
        &std::fs::read_to_string(bench.path().join("child")).unwrap()
    ));
}

/// H02: the same with a grandchild that ignores TERM.
#[tokio::test]
async fn a_grandchild_that_ignores_term_is_killed_after_the_grace() {
    let bench = Bench::new();
    let command = bench.script(
        "mkfifo up; (trap '' TERM; echo up > up; while :; do sleep 1000; done) & echo $! > child; \
         read -r _ < up; echo report",
    );
    let mut limits = bench.limits(NEVER);
    limits.grace = Duration::from_millis(200);
    let done = supervise(&command, limits, CancellationToken::new()).await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert!(done.gone);
    assert_eq!(done.stdout.whole(), Some(&b"report\n"[..]));
    assert!(!lives(
        &std::fs::read_to_string(bench.path().join("child")).unwrap()
    ));
}

/// H02: a grandchild that left the group holds the pipe; the job ends all the same, with it.
#[tokio::test]
async fn a_grandchild_in_a_session_of_its_own_does_not_hold_the_job() {
    let bench = Bench::new();
    let done = bench
        .run("mkfifo up; setsid bash -c 'echo $$ > pid; echo up > up; exec sleep 1000' & read -r _ < up; echo report")
        .await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert_eq!(done.stdout.whole(), Some(&b"report\n"[..]));
    assert!(done.gone);
    let pid = std::fs::read_to_string(bench.path().join("pid")).unwrap();
    assert!(!lives(&pid), "lineage proves it, not the group");
}

/// H15: the processes of another group are never touched, though they look the same.
#[tokio::test]
async fn another_group_is_not_touched() {
    use std::os::unix::process::CommandExt as _;
    let bench = Bench::new();
    let command = bench.script("echo x; while :; do sleep 1000; done");
    let mut users_own = std::process::Command::new(&command.program)
        .current_dir(bench.path())
        .process_group(0)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let limits = bench.limits(Duration::from_millis(200));
    let done = supervise(&command, limits, CancellationToken::new()).await;
    assert_eq!(done.ended, Ended::TimedOut);
    assert!(
        users_own.try_wait().unwrap().is_none(),
        "the user's own agent lives"
    );
    let group = format!("-{}", users_own.id());
    std::process::Command::new("kill")
        .args(["-KILL", "--", &group])
        .status()
        .unwrap();
    users_own.wait().unwrap();
}

/// Dropping the future (a second signal) leaves nothing running.
#[tokio::test]
async fn a_dropped_supervision_kills_the_tree() {
    let bench = Bench::new();
    let point = bench.point("ready");
    let command = bench.script("trap '' TERM; sleep 1000 & echo $! > ready; wait; wait");
    let mut ready = tokio::task::spawn_blocking(move || point.reached());
    let running = supervise(&command, bench.limits(NEVER), CancellationToken::new());
    let child = tokio::select! {
        _ = running => panic!("it ended"),
        child = &mut ready => child.unwrap(),
    };
    // KILL is on its way; the kernel's queue is the only wait.
    tokio::time::timeout(Duration::from_secs(20), async {
        while lives(&child) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the tree is killed");
}

/// P12: more than a pipe holds, on both channels at once, arrives whole.
#[tokio::test]
async fn more_than_a_pipe_holds_arrives_whole() {
    let bench = Bench::new();
    let done = bench
        .run("head -c 300000 /dev/zero | tr '\\0' e >&2; head -c 300000 /dev/zero | tr '\\0' o")
        .await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert_eq!(done.stdout.whole(), Some(&*vec![b'o'; 300_000]));
    assert_eq!(
        std::fs::read(done.stderr.path).unwrap(),
        vec![b'e'; 300_000]
    );
}

/// A flood of 50 MB on each channel: capped files, a visible mark, flat memory.
#[tokio::test]
async fn a_flood_is_cut_with_a_mark_and_costs_no_memory() {
    let bench = Bench::new();
    let before = peak_memory();
    let done = bench
        .run("echo first; head -c 50000000 /dev/zero | tee /dev/stderr | tr '\\0' x; echo last")
        .await;
    let grown = peak_memory().saturating_sub(before);
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert_eq!(done.stdout.bytes_total, 50_000_011);
    assert_eq!(done.stderr.bytes_total, 50_000_000);
    assert_eq!(done.stdout.bytes_cut, 50_000_011 - (8 << 20));
    assert!(done.stdout.is_cut() && done.stdout.whole().is_none());
    let file = std::fs::read(&done.stdout.path).unwrap();
    assert!(file.starts_with(b"first\nx") && file.ends_with(b"xlast\n"));
    let mark = format!("\n[run-loop: {} bytes cut]\n", done.stdout.bytes_cut);
    assert_eq!(file.len(), (8 << 20) + mark.len());
    assert!(
        file.windows(mark.len())
            .any(|window| window == mark.as_bytes())
    );
    assert!(grown < 40 << 20, "memory grew by {grown} bytes");
}

/// Issue 4: what the guard holds of a flood does not grow with it, and what is kept are the first and the
/// last bytes in their order.
#[tokio::test]
async fn a_guard_holds_nothing_of_a_flood() {
    // How far ahead of the guard the program comes is chance, so it is given room: far less than the
    // flood, and also less than one channel's part of it.
    const ALLOWED_KIB: u64 = 16 << 10;
    const LAST: u32 = 8_000_000;
    let bench = Bench::new();
    let done = bench
        .run(&format!(
            "grep VmHWM: /proc/$PPID/status > before; seq {LAST} | tee /dev/stderr; \
             grep VmHWM: /proc/$PPID/status > after",
        ))
        .await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    let held = |name: &str| -> u64 {
        let line = std::fs::read_to_string(bench.path().join(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let (before, after) = (held("before"), held("after"));
    let mut printed = String::with_capacity(64 << 20);
    for number in 1..=LAST {
        writeln!(printed, "{number}").unwrap();
    }
    assert!(printed.len() as u64 > 3 * (ALLOWED_KIB << 10));
    assert!(
        after < before + ALLOWED_KIB,
        "{before} KiB before the flood, {after} KiB after it"
    );
    let (half, cut) = (4 << 20, printed.len() - (8 << 20));
    let (head, tail) = (&printed[..half], &printed[half + cut..]);
    let expected = format!("{head}\n[run-loop: {cut} bytes cut]\n{tail}");
    for channel in [&done.stdout, &done.stderr] {
        assert!(std::fs::read_to_string(&channel.path).unwrap() == expected);
        assert_eq!(channel.broken, None);
    }
}

/// The most memory this process ever had, in bytes.
fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace()
        .nth(1)
        .unwrap()
        .parse::<usize>()
        .unwrap()
        * 1024
}

/// T-065: a program that waits for standard input is given its end.
#[tokio::test]
async fn standard_input_is_empty_or_given_and_closed() {
    let bench = Bench::new();
    let done = bench.run("cat; echo end").await;
    assert_eq!(done.stdout.whole(), Some(&b"end\n"[..]));
    let bench = Bench::new();
    let command = bench.script("cat; echo end").stdin("given\n");
    let done = supervise(&command, bench.limits(NEVER), CancellationToken::new()).await;
    assert_eq!(done.stdout.whole(), Some(&b"given\nend\n"[..]));
}

/// An agent that never reads its 150,000 byte prompt neither hangs us nor fails for it.
#[tokio::test]
async fn a_program_that_never_reads_its_input_does_not_hang_us() {
    let bench = Bench::new();
    let command = bench.script("echo done").stdin(vec![b'p'; 1_000_000]);
    let done = supervise(&command, bench.limits(NEVER), CancellationToken::new()).await;
    assert_eq!(done.ended, Ended::Exited { code: 0 });
    assert_eq!(done.stdout.whole(), Some(&b"done\n"[..]));
}

/// Nothing of our environment reaches a program but what it was given.
#[tokio::test]
async fn a_program_gets_only_the_environment_it_was_given() {
    let done = Bench::new().run("/usr/bin/env").await;
    let lines = text(done.stdout.whole().unwrap()).lines();
    let mut names: Vec<_> = lines.map(|line| line.split('=').next().unwrap()).collect();
    names.sort_unstable();
    // All but PATH are bash's own.
    assert_eq!(names, ["PATH", "PWD", "SHLVL", "_"]);
}

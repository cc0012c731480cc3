//! Kill -9 on the engine, the guard, or both.

use run_loop::domain::job::Ended;
use run_loop::process::guard::outcome::{Exit, StopReason};
use run_loop::process::guard::probe::output;
use run_loop::process::guard::{Outcome, Probe, attach, probe};

use crate::bench::Bench;
use crate::engine::Engine;
use crate::trace::{Trace, kill, lives};

#[track_caller]
fn ended(probe: Probe) -> Outcome {
    match probe {
        Probe::Ended(outcome) => *outcome,
        other @ (Probe::Running { .. } | Probe::Lost) => panic!("not over: {other:?}"),
    }
}

/// H09, H10, H19: nothing of the job is left, the outcome says why, and the output until then is
/// there.
#[tokio::test]
async fn the_job_of_a_killed_engine_is_ended_and_says_so() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    let body = format!(
        "{}; echo so far; (setsid env -i /bin/bash -c 'trap \"\" TERM; echo $$ > ready; \
         while :; do sleep 1000; done' &); while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    ready.reached();
    engine.kill();
    let outcome = ended(attach(&bench.capture()).await.unwrap());
    assert_eq!(outcome.stopped, Some(StopReason::EngineGone));
    assert_eq!((outcome.ended(), outcome.gone), (Ended::Stopped, true));
    trace.wait_until_nobody_is_left();
    let (stdout, _) = output(&bench.capture(), &outcome, 100);
    assert_eq!(stdout.whole(), Some(&b"so far\n"[..]));
}

/// A report that was finished before the engine died is not lost: the program had exited by
/// itself, and what was left of its tree is ended all the same.
#[tokio::test]
async fn what_had_exited_before_the_engine_died_was_not_stopped() {
    let bench = Bench::new();
    let (trace, termed) = (Trace::new(bench.path()), bench.point("termed"));
    // TERM comes only once the guard has seen the program exit.
    let body = format!(
        "{}; mkfifo up; (trap 'echo > termed' TERM; echo > up; while :; do sleep 1000 & wait $!; done) & \
         read -r _ < up; echo report; exit 0",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    termed.reached();
    engine.kill();
    let outcome = ended(attach(&bench.capture()).await.unwrap());
    assert_eq!((outcome.stopped, outcome.gone), (None, true));
    assert!(outcome.ended().is_success());
    trace.wait_until_nobody_is_left();
}

/// The same where the guard has just reaped an orphan and looks away for a moment: the program exits, and
/// the engine dies before its guard has looked.
#[tokio::test]
async fn an_exit_that_no_guard_has_seen_yet_counts() {
    for _ in 0..5 {
        let bench = Bench::new();
        let ready = bench.point("ready");
        let engine = Engine::start(&bench, "echo $$ > ready; (: &); echo report");
        let stat = format!("/proc/{}/stat", ready.reached());
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
            std::hint::spin_loop();
        }
        engine.kill();
        let outcome = ended(attach(&bench.capture()).await.unwrap());
        assert_eq!((outcome.stopped, outcome.gone), (None, true));
        assert!(outcome.ended().is_success());
    }
}

/// M-151: the engine sees a lost job, not an end; what is in the guard's session is ended, a stranger of
/// the same name is not.
#[tokio::test]
async fn the_job_of_a_killed_guard_is_lost_and_its_session_is_ended() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    let mut stranger = std::process::Command::new("/bin/sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    let body = format!(
        "{}; (trap '' TERM HUP; exec sleep 1000) & echo $PPID > ready; while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = ready.reached();
    kill("-KILL", &guard);
    assert_eq!(engine.saw(&bench), "Lost gone: false stdout: -");
    trace.wait_until_nobody_is_left();
    assert_eq!(probe(&bench.capture()).unwrap(), Probe::Lost);
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

/// When guard and engine are killed (`pkill -9 run-loop`), the kernel ends the program itself.
#[tokio::test]
async fn a_program_dies_with_its_guard_when_nobody_is_left() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    let body = format!(
        "{}; trap '' TERM HUP; echo $PPID > ready; read -r _ <&9",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = ready.reached();
    kill("-STOP", &engine.pid());
    kill("-KILL", &guard);
    trace.wait_until_nobody_is_left();
    engine.kill();
    assert_eq!(attach(&bench.capture()).await.unwrap(), Probe::Lost);
}

/// M-156: a guard that is told to end (a shutdown) ends its job and says so.
#[tokio::test]
async fn a_guard_that_is_told_to_end_stops_its_job() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    let body = format!(
        "{}; echo $PPID > ready; while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = ready.reached();
    kill("-TERM", &guard);
    assert_eq!(engine.saw(&bench), "Stopped gone: true stdout: ");
    trace.wait_until_nobody_is_left();
    let outcome = ended(probe(&bench.capture()).unwrap());
    assert_eq!(outcome.stopped, Some(StopReason::GuardTold));
    assert_eq!(outcome.exit, Exit::Signal { signal: 15 });
    assert!(!lives(&guard));
}

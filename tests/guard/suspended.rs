//! An engine that is suspended (SIGTSTP, Ctrl-Z): its jobs go on, and nothing is lost.

use std::time::Duration;

use run_loop::domain::job::Ended;
use run_loop::process::guard::remains::{Left, left, settle};
use run_loop::process::guard::{Probe, attach, probe};

use crate::bench::Bench;
use crate::engine::Engine;
use crate::trace::{Trace, kill, lives};

/// The program is in another session: it is not suspended, its output is drained, its end is
/// written down; the engine sees all of it when it goes on.
#[tokio::test]
async fn a_job_goes_on_and_ends_while_its_engine_is_suspended() {
    let bench = Bench::new();
    let (ready, go) = (bench.point("ready"), bench.point("go"));
    // More than a pipe holds.
    let body =
        "echo > ready; read -r _ < go; head -c 300000 /dev/zero | tr '\\0' x >&2; echo report";
    let engine = Engine::start(&bench, body);
    ready.reached();
    kill("-STOP", &engine.pid());
    // It names itself once the program runs, which may be here first.
    while probe(&bench.capture()).unwrap() == (Probe::Running { holder: None }) {
        tokio::task::yield_now().await;
    }
    assert!(matches!(
        probe(&bench.capture()).unwrap(),
        Probe::Running { holder: Some(_) }
    ));
    go.release();
    let Probe::Ended(outcome) = attach(&bench.capture()).await.unwrap() else {
        panic!("the guard was lost");
    };
    assert!(outcome.ended().is_success() && outcome.gone);
    assert_eq!(outcome.stderr.bytes_total, 300_000);
    kill("-CONT", &engine.pid());
    let saw = engine.saw(&bench);
    assert_eq!(saw, "Exited { code: 0 } gone: true stdout: report\n");
}

/// The guard holds the deadline: a program that hangs while the engine is suspended is ended.
#[tokio::test]
async fn a_budget_ends_a_job_while_its_engine_is_suspended() {
    let bench = Bench::new();
    let ready = bench.point("ready");
    let body = "echo > ready; while :; do sleep 1000; done";
    let engine = Engine::with_budget(&bench, body, Duration::from_secs(3));
    ready.reached();
    kill("-STOP", &engine.pid());
    let Probe::Ended(outcome) = attach(&bench.capture()).await.unwrap() else {
        panic!("the guard was lost");
    };
    assert_eq!(outcome.ended(), Ended::TimedOut);
    kill("-CONT", &engine.pid());
    assert_eq!(engine.saw(&bench), "TimedOut gone: true stdout: ");
}

/// Issue 4: a job that stops its own guard holds nobody up for ever who goes on after its engine: the guard
/// is killed, and everything of the job.
#[tokio::test]
async fn a_guard_that_is_stopped_is_ended_after_its_engine() {
    let bench = Bench::new();
    let trace = Trace::new(bench.path());
    let ready = bench.point("ready");
    let body = format!(
        "{}; kill -STOP $PPID; echo $PPID > ready; while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = ready.reached();
    engine.kill();
    assert!(lives(&guard));
    assert_eq!(
        settle(&[bench.capture()], Duration::ZERO).await.unwrap(),
        []
    );
    assert!(!lives(&guard));
    assert_eq!(left(&bench.capture()).unwrap(), Left::Nobody);
    trace.wait_until_nobody_is_left();
}

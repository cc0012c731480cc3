//! What a job leaves whose guard was killed: ended where lineage proves it, and nobody else.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use run_loop::lock::{Locked, Sharing};
use run_loop::process::guard::remains::{Left, end, is_gone, left};
use run_loop::process::guard::{Probe, ProcessId, attach};

use crate::bench::Bench;
use crate::engine::Engine;
use crate::support::agents::within;
use crate::trace::{Trace, kill, lives};

/// A process of the same name that has nothing to do with the job, but has its mark's file open.
struct Stranger(Child);

impl Stranger {
    fn start(bench: &Bench) -> Self {
        let mark = File::open(bench.capture().join("mark")).unwrap();
        let mut sleep = Command::new("/bin/sleep");
        sleep.arg("1000").stdin(Stdio::from(mark));
        Self(sleep.spawn().unwrap())
    }
    #[track_caller]
    fn untouched(mut self) {
        assert!(self.0.try_wait().unwrap().is_none());
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Kills a guard and its engine so that neither sees the other die.
async fn kill_both(engine: Engine, guard: &str, bench: &Bench) {
    kill("-STOP", &engine.pid());
    kill("-KILL", guard);
    engine.kill();
    assert_eq!(attach(&bench.capture()).await.unwrap(), Probe::Lost);
}

fn pids(left: &Left) -> Vec<String> {
    match left {
        Left::Lives { processes, .. } => processes.iter().map(|id| id.pid.to_string()).collect(),
        other @ (Left::Nobody | Left::Guarded | Left::Unknown(_)) => panic!("{other:?}"),
    }
}

/// Guard and engine are killed together, and a process had escaped that no guard ever saw: the
/// guard stood still meanwhile. It has the mark.
#[tokio::test]
async fn who_escaped_unseen_is_known_by_the_mark() {
    let bench = Bench::new();
    let trace = Trace::new(bench.path());
    let (guard, go, ready) = (
        bench.point("guard"),
        bench.point("go"),
        bench.point("ready"),
    );
    let body = format!(
        "{}; echo $PPID > guard; read -r _ < go; \
         (setsid env -i /bin/bash -c 'trap \"\" TERM HUP; echo $$ > ready; exec /bin/sleep 1000' &); \
         while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = guard.reached();
    kill("-STOP", &guard);
    go.release();
    let escaped = ready.reached();
    let stranger = Stranger::start(&bench);
    kill_both(engine, &guard, &bench).await;
    assert!(lives(&escaped));
    assert!(!is_gone(&bench.capture()).unwrap());
    // What the program itself had started lives on as well.
    let found = pids(&left(&bench.capture()).unwrap());
    assert!(found.contains(&escaped.trim().to_owned()), "{found:?}");
    assert_eq!(end(&bench.capture()).await.unwrap(), Left::Nobody);
    trace.wait_until_nobody_is_left();
    stranger.untouched();
    assert_eq!(left(&bench.capture()).unwrap(), Left::Nobody);
}

/// A daemon that closes whatever it inherited was seen by the guard, and so were those that share
/// its session; what it starts afterwards descends from it.
#[tokio::test]
async fn who_closed_the_mark_is_known_by_the_record() {
    let bench = Bench::new();
    let (guard, ready, go, child) = (
        bench.point("guard"),
        bench.point("ready"),
        bench.point("go"),
        bench.point("child"),
    );
    let body = "echo $PPID > guard; (setsid env -i /bin/bash -c '\
         for fd in /proc/$$/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && eval \"exec $n>&-\"; done; \
         echo $$ > ready; read -r _ < go; \
         (/bin/bash -c \"echo \\$\\$ > child; exec /bin/sleep 1000\" &); exec /bin/sleep 1000' \
         > /dev/null 2>&1 < /dev/null &); while :; do sleep 1000; done";
    let engine = Engine::start(&bench, body);
    let (guard, daemon) = (guard.reached(), ready.reached());
    let record = bench.capture().join("lineage");
    let line = format!("\n{} ", daemon.trim());
    within("the guard has seen the daemon", move || {
        while !std::fs::read_to_string(&record).unwrap().contains(&line) {
            std::thread::yield_now();
        }
    });
    kill("-STOP", &guard);
    go.release();
    let child = child.reached();
    let stranger = Stranger::start(&bench);
    kill_both(engine, &guard, &bench).await;
    let found = pids(&left(&bench.capture()).unwrap());
    for pid in [&daemon, &child] {
        assert!(found.contains(&pid.trim().to_owned()), "{found:?}");
    }
    assert_eq!(end(&bench.capture()).await.unwrap(), Left::Nobody);
    assert!(!lives(&daemon) && !lives(&child));
    stranger.untouched();
}

/// An engine that lives ends them as well; the job stays one that is not proven gone.
#[tokio::test]
async fn an_engine_that_lives_ends_who_left_a_killed_guard() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    let body = format!(
        "{}; export GUARD=$PPID; (setsid /bin/bash -c 'echo $GUARD > ready; exec /bin/sleep 1000' &); \
         while :; do sleep 1000; done",
        trace.hold()
    );
    let engine = Engine::start(&bench, &body);
    let guard = ready.reached();
    kill("-KILL", &guard);
    assert_eq!(engine.saw(&bench), "Lost gone: false stdout: -");
    trace.wait_until_nobody_is_left();
    assert!(!is_gone(&bench.capture()).unwrap());
}

/// M-150: numbers in a record are believed only with their time of start, and as they were written.
#[tokio::test]
async fn a_record_never_names_a_stranger() {
    let bench = Bench::new();
    let (guard, ready) = (bench.point("guard"), bench.point("ready"));
    let engine = Engine::start(
        &bench,
        "echo $PPID > guard; echo $$ > ready; while :; do sleep 1000; done",
    );
    let guard = guard.reached();
    ready.reached();
    kill_both(engine, &guard, &bench).await;
    let mut stranger = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
    let record = bench.capture().join("lineage");
    let text = std::fs::read_to_string(&record).unwrap();
    let forged = format!("{text}{} 1 0123456789abcdef\n", stranger.id());
    std::fs::write(&record, forged).unwrap();
    let told = end(&bench.capture()).await.unwrap();
    assert!(matches!(told, Left::Unknown(_)), "{told:?}");
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

/// Nothing of before the machine was started anew lives; whoever is not found in the same life of it may.
#[tokio::test]
async fn who_is_not_found_is_not_proven_gone() {
    let bench = Bench::new();
    assert!(is_gone(&bench.capture()).unwrap(), "nothing was started");
    let (guard, ready) = (bench.point("guard"), bench.point("ready"));
    let engine = Engine::start(
        &bench,
        "echo $PPID > guard; echo $$ > ready; while :; do sleep 1000; done",
    );
    let guard = guard.reached();
    ready.reached();
    assert!(!is_gone(&bench.capture()).unwrap(), "it runs");
    kill_both(engine, &guard, &bench).await;
    assert_eq!(end(&bench.capture()).await.unwrap(), Left::Nobody);
    assert!(!is_gone(&bench.capture()).unwrap(), "its guard was killed");
    let record = bench.capture().join("lineage");
    let text = std::fs::read_to_string(&record).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let earlier = "00000000-0000-4000-8000-000000000000";
    let head = text.lines().next().unwrap().replace(boot.trim(), earlier);
    std::fs::write(&record, format!("{head}\n")).unwrap();
    // A name that every machine has tells none from another.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let named = !["", "(none)", "localhost"].contains(&host.trim());
    assert_eq!(is_gone(&bench.capture()).unwrap(), named);
}

/// Nothing is ended that this very process descends from, and it is not said that nobody is left.
#[tokio::test]
async fn a_command_does_not_end_what_it_runs_in() {
    let bench = Bench::new();
    bench.run("exit 0").await;
    std::fs::remove_file(bench.capture().join("outcome.json")).unwrap();
    assert_eq!(end(&bench.capture()).await.unwrap(), Left::Nobody);
    let mark = File::open(bench.capture().join("mark")).unwrap();
    let held = Locked::attempt(mark, Sharing::Exclusive).unwrap().unwrap();
    let told = end(&bench.capture()).await.unwrap();
    let Left::Lives { processes, why } = &told else {
        panic!("{told:?}");
    };
    let own = i32::try_from(std::process::id()).unwrap();
    let named = |id: &ProcessId| id.pid == own;
    assert!(processes.iter().any(named) && why.contains("started by"));
    drop(held);
}

/// Somebody who looks for what is left of other jobs looks at this one while its guard begins: that is
/// none that was killed. Runs do so before each job that they start, side by side.
#[tokio::test(flavor = "multi_thread")]
async fn a_guard_that_begins_is_not_taken_for_a_killed_one() {
    for _ in 0..30 {
        let bench = Bench::new();
        let capture = bench.capture();
        let over = Arc::new(AtomicBool::new(false));
        let seekers: Vec<_> = (0..4)
            .map(|_| {
                let (capture, over) = (capture.clone(), Arc::clone(&over));
                tokio::spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        // A folder that is being made reads in no way.
                        drop(end(&capture).await);
                        tokio::task::yield_now().await;
                    }
                })
            })
            .collect();
        let ready = bench.point("ready");
        let engine = Engine::start(&bench, "echo here > ready; echo report; exit 0");
        ready.reached();
        let probe = attach(&capture).await.unwrap();
        over.store(true, Ordering::Relaxed);
        for seeker in seekers {
            seeker.await.unwrap();
        }
        engine.kill();
        match probe {
            Probe::Ended(outcome) => assert!(outcome.ended().is_success(), "{outcome:?}"),
            other @ (Probe::Running { .. } | Probe::Lost) => panic!("{other:?}"),
        }
    }
}

//! What a job started is ended with it, wherever it went, and nothing else is.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use run_loop::domain::job::Ended;
use run_loop::process::supervise::{Supervised, Supervision, supervise};
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, NEVER};
use crate::support::agents::{Point, executable};
use crate::trace::{Trace, kill, lives};

/// Runs a script until it reaches the point `ready`, then stops it.
async fn stop_at_ready(bench: &Bench, ready: Point, body: &str) -> Supervised {
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            ready.reached();
            stop.cancel();
        }
    });
    let limits = Supervision {
        grace: Duration::from_millis(300),
        ..bench.limits(NEVER)
    };
    let done = supervise(&bench.script(body), limits, stop).await;
    asked.await.unwrap();
    done
}

/// H02: away from its group, its session, its environment and its parent, it is still the job's;
/// also when it takes no notice of TERM.
#[tokio::test]
async fn a_double_fork_with_a_new_session_and_no_environment_is_ended() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    executable(
        bench.path(),
        "daemon",
        "#!/bin/bash\ntrap '' TERM HUP\necho $$ > ready\nwhile :; do sleep 1000; done\n",
    );
    let body = format!(
        "{}; (setsid env -i ./daemon < /dev/null > /dev/null 2>&1 &); while :; do sleep 1000; done",
        trace.hold()
    );
    let done = stop_at_ready(&bench, ready, &body).await;
    assert_eq!((done.ended, done.gone), (Ended::Stopped, true));
    trace.wait_until_nobody_is_left();
}

/// The same after the program has exited by itself: that is not stopping the job.
#[tokio::test]
async fn a_daemon_does_not_outlive_its_job() {
    let bench = Bench::new();
    let trace = Trace::new(bench.path());
    let done = bench
        .run(&format!(
            "{}; mkfifo up; (setsid env -i /bin/sh -c 'echo > up; exec sleep 1000' &); \
             read -r _ < up; echo report",
            trace.hold()
        ))
        .await;
    assert_eq!((done.ended, done.gone), (Ended::Exited { code: 0 }, true));
    assert_eq!(done.stdout.whole(), Some(&b"report\n"[..]));
    trace.wait_until_nobody_is_left();
}

/// T-088: fifty families of processes that replace themselves, each member in a session of its
/// own and deaf to TERM. They would end by themselves after 1,000 generations.
#[tokio::test]
async fn a_fork_bomb_is_ended() {
    let bench = Bench::new();
    let (trace, ready) = (Trace::new(bench.path()), bench.point("ready"));
    executable(
        bench.path(),
        "bomb",
        "#!/bin/sh\ntrap '' TERM\n[ \"$1\" -gt 1000 ] && exit\nsleep 0.1\n\
         setsid ./bomb $(($1 + 1)) &\nexit 0\n",
    );
    let body = format!(
        "{}; for i in {{1..50}}; do setsid ./bomb 1 & done; echo > ready; while :; do sleep 1000; done",
        trace.hold()
    );
    let done = stop_at_ready(&bench, ready, &body).await;
    assert_eq!((done.ended, done.gone), (Ended::Stopped, true));
    trace.wait_until_nobody_is_left();
}

/// A program that stops itself, and a child of it that does, are ended at the budget.
#[tokio::test]
async fn a_program_that_stopped_itself_is_ended() {
    let bench = Bench::new();
    let trace = Trace::new(bench.path());
    let body = format!("{}; (kill -STOP $BASHPID) & kill -STOP $$", trace.hold());
    let limits = Supervision {
        grace: Duration::from_millis(300),
        ..bench.limits(Duration::from_millis(800))
    };
    let done = supervise(&bench.script(&body), limits, CancellationToken::new()).await;
    assert_eq!((done.ended, done.gone), (Ended::TimedOut, true));
    trace.wait_until_nobody_is_left();
}

/// H15: the same program with the same name and environment, started by the user, lives on while
/// jobs are stopped beside it.
#[tokio::test]
async fn a_stranger_of_the_same_name_and_environment_is_not_touched() {
    let bench = Bench::new();
    let (ready, strange) = (bench.point("ready"), bench.point("strange"));
    let body = "echo $$ > \"$POINT\"; while :; do sleep 1000; done";
    let command = bench.script(body).env("POINT", ready.path());
    let mut stranger = Command::new(&command.program)
        .env_clear()
        .envs(&command.env)
        .env("POINT", strange.path())
        .current_dir(bench.path())
        .process_group(0)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    strange.reached();
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            let pid = ready.reached();
            stop.cancel();
            pid
        }
    });
    let done = supervise(&command, bench.limits(NEVER), stop).await;
    assert_eq!((done.ended, done.gone), (Ended::Stopped, true));
    assert!(!lives(&asked.await.unwrap()));
    assert!(stranger.try_wait().unwrap().is_none());
    kill("-KILL", &format!("-{}", stranger.id()));
    stranger.wait().unwrap();
}

/// H17, M-128: what is slow to start and says nothing is not reaped: nobody has to say `started` in time,
/// only its budget ends a job.
#[tokio::test]
async fn a_slow_start_is_waited_for_while_others_come_and_go() {
    let slow = Bench::new();
    let go = slow.point("go");
    let command = slow.script("read -r _ < go; echo late");
    let running = supervise(&command, slow.limits(NEVER), CancellationToken::new());
    let others = async {
        for _ in 0..3 {
            let done = Bench::new().run("(sleep 1000 &); exit 0").await;
            assert_eq!((done.ended, done.gone), (Ended::Exited { code: 0 }, true));
        }
        tokio::task::spawn_blocking(move || go.release())
            .await
            .unwrap();
    };
    let (done, ()) = tokio::join!(running, others);
    assert_eq!((done.ended, done.gone), (Ended::Exited { code: 0 }, true));
    assert_eq!(done.stdout.whole(), Some(&b"late\n"[..]));
}

/// At most two processes for a job, guard and program; and orphans that died are reaped while the
/// job runs, or a long one would fill the table of processes.
#[tokio::test]
async fn a_job_costs_two_processes_and_leaves_no_zombies() {
    let bench = Bench::new();
    let (ready, go) = (bench.point("ready"), bench.point("go"));
    let body = "for i in {1..20}; do (/bin/true &); done; \
                while ps -o stat= --ppid $PPID | grep -q Z; do :; done; \
                echo $PPID > ready; read -r _ < go";
    let looking = tokio::task::spawn_blocking(move || {
        let guard = ready.reached();
        let children = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &guard])
            .output()
            .unwrap();
        go.release();
        String::from_utf8(children.stdout).unwrap().lines().count()
    });
    let done = bench.run(body).await;
    assert_eq!(looking.await.unwrap(), 1);
    assert_eq!(done.ended, Ended::Exited { code: 0 });
}

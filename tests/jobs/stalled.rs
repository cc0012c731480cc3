//! A job that prints nothing for long, told while it runs.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::Engine;
use crate::support::preload::Clock;

/// Longer than a silence that is worth a word.
const STEP: i64 = 700;
/// How many of them come before the agent is let go and the run ends: all of them are no day.
const STEPS: i64 = 100;

/// Issue 4.6, M-016: `stalled:idle` is told while the job runs, and so is that it goes on. The engine's clock
/// is set forward; nobody waits ten minutes.
#[test]
fn a_silence_is_told_while_the_job_runs() {
    let bench = Bench::new();
    let folder = bench.repo.beside("tmp");
    let [held, go, end] = ["held", "go", "end"].map(|name| Point::new(&folder, name));
    let agent = ScriptedAgent::with_script(format!(
        "read_prompt; echo x > '{}'; read -r _ < '{}'; echo 'It goes on.' >&2; read -r _ < '{}'; \
         verdict PASS '[]' | deliver",
        held.path().display(),
        go.path().display(),
        end.path().display(),
    ));
    let bench = bench.reviewer("reader", &agent).ready();
    let clock = Clock::new(&folder);
    let line = ["--base", "main", "--review-only", "--format", "ndjson"];
    // A budget that no number of steps comes to.
    let mut command = bench.command(&[&line[..], &["--job-timeout", "86400"]].concat());
    clock.of(&mut command);
    let mut engine = Engine::of(command);
    held.reached();
    std::thread::scope(|scope| {
        let (stop, stopped) = channel::<()>();
        let (clock, go, end) = (&clock, &go, &end);
        // The engine looks a few times in a second of ours, and one step is enough where it looked before.
        let ticking = scope.spawn(move || {
            for step in 1..=STEPS {
                let told = stopped.recv_timeout(Duration::from_millis(300));
                if told != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                clock.ahead(step * STEP);
            }
            go.release();
            end.release();
        });
        engine.line_with(&["\"job_stalled\"", "\"stalled\":\"idle\""]);
        go.release();
        engine.line_with(&["\"job_resumed\""]);
        drop(stop);
        ticking.join().unwrap();
        let mut seen = engine.seen.iter();
        assert!(
            !seen.any(|line| line.contains("\"job_ended\"")),
            "{:#?}",
            engine.seen
        );
        end.release();
    });
    engine.ended().ends(0);
}

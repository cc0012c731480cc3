//! A job that prints nothing for long, told while it runs.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::Engine;
use crate::support::preload::Clock;

/// Longer than a silence that is worth a word.
const STEP: i64 = 700;

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
    let clock = Arc::new(Clock::new(&folder));
    let line = ["--base", "main", "--review-only", "--format", "ndjson"];
    // A budget that no number of steps comes to.
    let mut command = bench.command(&[&line[..], &["--job-timeout", "86400"]].concat());
    clock.of(&mut command);
    let mut engine = Engine::of(command);
    held.reached();
    let (stop, stopped) = channel::<()>();
    let ticking = std::thread::spawn(move || {
        let mut ahead = 0;
        // The engine looks a few times in a second of ours, and one step is enough where it looked before.
        while stopped.recv_timeout(Duration::from_millis(300)) == Err(RecvTimeoutError::Timeout) {
            ahead += STEP;
            clock.ahead(ahead);
        }
    });
    engine.line_with(&["\"job_stalled\"", "\"stalled\":\"idle\""]);
    let ended = |engine: &Engine| {
        engine
            .seen
            .iter()
            .any(|line| line.contains("\"job_ended\""))
    };
    assert!(!ended(&engine), "{:#?}", engine.seen);
    go.release();
    engine.line_with(&["\"job_resumed\""]);
    assert!(!ended(&engine), "{:#?}", engine.seen);
    drop(stop);
    ticking.join().unwrap();
    end.release();
    engine.ended().ends(0);
}

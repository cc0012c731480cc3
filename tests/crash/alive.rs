//! How long a run is known to have run whose engine was killed.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use run_loop::domain::event::Event;
use run_loop::domain::id::LoopId;
use run_loop::store::{Journal, StateFolder};

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::crash::{Engine, until};

fn lock(bench: &Bench) -> PathBuf {
    let folder = bench.repo.root().join(".git/run-loop/locks");
    let files = std::fs::read_dir(folder).unwrap();
    let mut locks = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "lock"));
    locks.next().unwrap()
}

fn modified(path: &PathBuf) -> SystemTime {
    std::fs::metadata(path).unwrap().modified().unwrap()
}

fn set(path: &PathBuf, at: SystemTime) {
    File::options()
        .append(true)
        .open(path)
        .unwrap()
        .set_modified(at)
        .unwrap();
}

/// Issue 4: an engine notes that it lives, and what it ran since its last event is counted when the
/// run goes on.
#[test]
fn what_a_killed_engine_ran_is_known() {
    let hangs = ScriptedAgent::hangs();
    let bench = Bench::new().reviewer("ann", &hangs).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["job_started"]);
    let lock = lock(&bench);
    set(&lock, UNIX_EPOCH);
    until("the engine notes that it lives", || {
        modified(&lock) > UNIX_EPOCH + Duration::from_secs(1)
    });
    engine.kill();
    // As if it had lived for some time after that.
    let seen = UNIX_EPOCH + Duration::from_millis(1_900_000_000_123);
    set(&lock, seen);
    let mut engine = Engine::start_with(&bench, &["resume", "--format", "ndjson"]);
    engine.line_with(&["run_resumed"]);
    let lines = engine.kill();
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    let run = LoopId::parse(first["run"].as_str().unwrap()).unwrap();
    let state = StateFolder::find(&bench.repo.root().join(".git"));
    let state = state.unwrap().unwrap();
    let entries = Journal::load(&state, run).unwrap();
    let known = entries.iter().find_map(|entry| {
        if let Event::RunResumed { seen, .. } = &entry.event {
            Some(*seen)
        } else {
            None
        }
    });
    assert_eq!(known.unwrap().unwrap().as_millis(), 1_900_000_000_123);
    bench.run(&["cancel"]).ends(0);
}

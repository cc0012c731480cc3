//! How long a run is known to have run whose engine was killed.

use std::path::{Path, PathBuf};

use run_loop::domain::event::Event;
use run_loop::domain::id::LoopId;
use run_loop::store::{Journal, StateFolder};

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::crash::{Engine, until};

/// The note in the folder of the only run there is.
fn note(bench: &Bench) -> PathBuf {
    let folder = bench.repo.root().join(".git/run-loop/runs");
    let mut runs = std::fs::read_dir(folder).unwrap();
    runs.next().unwrap().unwrap().path().join("beat.json")
}

fn read(path: &Path) -> Option<serde_json::Value> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// The run is taken up, and its engine killed again.
fn taken_up(bench: &Bench) -> LoopId {
    let mut engine = Engine::start_with(bench, &["resume", "--format", "ndjson"]);
    engine.line_with(&["run_resumed"]);
    let lines = engine.kill();
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    LoopId::parse(first["run"].as_str().unwrap()).unwrap()
}

/// Issue 4: what stands in the note's place keeps nobody from going on.
#[test]
fn a_run_goes_on_where_no_note_can_be_taken() {
    let hangs = ScriptedAgent::hangs();
    let bench = Bench::new().reviewer("ann", &hangs).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["job_started"]);
    let path = note(&bench);
    engine.kill();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    taken_up(&bench);
    bench.run(&["cancel"]).ends(0);
}

/// Issue 4: an engine notes in its run's own folder how long it has driven it, by a clock that stands
/// still while the machine sleeps; that counts when the run goes on. What another engine noted, of
/// whatever run of the source, does not.
#[test]
fn what_a_killed_engine_ran_is_known() {
    let hangs = ScriptedAgent::hangs();
    let bench = Bench::new().reviewer("ann", &hangs).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["job_started"]);
    let path = note(&bench);
    let ran = || read(&path).and_then(|note| note["ran_ms"].as_u64());
    until("the engine notes how long it has run", || {
        ran().is_some_and(|ran| ran > 1_000)
    });
    engine.kill();
    // As if it had lived for some time after that.
    let mut noted = read(&path).unwrap();
    noted["ran_ms"] = 1_234_567_u64.into();
    std::fs::write(&path, noted.to_string()).unwrap();
    // Longer than the run is there: what is told is kept, and what counts is bounded by that.
    let run = taken_up(&bench);
    // The note is now of no engine that took this run up.
    noted["since"] = 1.into();
    std::fs::write(&path, noted.to_string()).unwrap();
    assert_eq!(taken_up(&bench), run);
    let state = StateFolder::find(&bench.repo.root().join(".git"));
    let entries = Journal::load(&state.unwrap().unwrap(), run).unwrap();
    let told = entries.iter().filter_map(|entry| {
        if let Event::RunResumed { seen, ran, .. } = &entry.event {
            Some((*seen, *ran))
        } else {
            None
        }
    });
    let told: Vec<_> = told.collect();
    assert_eq!(told, [(None, Some(1_234_567)), (None, None)]);
    bench.run(&["cancel"]).ends(0);
}

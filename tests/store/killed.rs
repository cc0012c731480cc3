//! An engine that is killed with SIGKILL, as a real process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use run_loop::cli::history::ReadRun;
use run_loop::domain::event::RoundResult;
use run_loop::domain::summary::RunState;
use run_loop::store::{Journal, RunLock, StateFolder};

use crate::sample::{Place, judged, run_id};

/// H09 and K17: what the engine said was durable is there, its locks are free, the run is
/// interrupted and can be written to again.
#[test]
fn h09_a_killed_engine_leaves_its_events_and_no_lock() {
    let place = Place::new();
    let events = judged(1, Path::new("/src"), 'd', RoundResult::Passed);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "killed::is_the_engine_that_is_killed",
            "--nocapture",
        ])
        .env("RUN_LOOP_TEST_ENGINE", place.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("DURABLE"))
    );
    let alive = ReadRun::load(&place.state, run_id(1)).unwrap();
    assert_eq!(
        (alive.state, alive.entries.len()),
        (RunState::Running, events.len())
    );

    child.kill().unwrap();
    child.wait().unwrap();
    let dead = ReadRun::load(&place.state, run_id(1)).unwrap();
    assert_eq!(
        (dead.state, dead.entries),
        (RunState::Interrupted, alive.entries)
    );
    let _lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(2)).unwrap();
    let (mut journal, _) = Journal::open(&place.state, run_id(1)).unwrap();
    journal.append(&events[1..2]).unwrap();
}

/// Not a test by itself: the engine of the test above.
#[test]
fn is_the_engine_that_is_killed() {
    let Some(common_dir) = std::env::var_os("RUN_LOOP_TEST_ENGINE") else {
        return;
    };
    let state = StateFolder::open(Path::new(&common_dir)).unwrap();
    let _lock = RunLock::acquire(&state, Path::new("/src"), run_id(1)).unwrap();
    let mut journal = Journal::create(&state, run_id(1)).unwrap();
    for event in judged(1, Path::new("/src"), 'd', RoundResult::Passed) {
        journal.append(&[event]).unwrap();
    }
    println!("DURABLE");
    std::io::stdout().flush().unwrap();
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

/// The largest file, in KiB, that a run's making is stopped at: its whole journal is smaller.
const LARGEST: u64 = 40;

/// Issue 4.3: an engine that the system kills at any of its writes while it makes a run leaves a run whose
/// journal is whole, or no run; and what it leaves then is known to be nothing.
#[test]
fn a_run_is_made_whole_or_not_at_all() {
    let mut whole = 0;
    for largest in 0..=LARGEST {
        let place = Place::new();
        let mut child = Command::new("bash");
        child
            // No core: that would be the largest file of all.
            .args(["-c", "ulimit -c 0; ulimit -f $0; exec \"$@\""])
            .arg(largest.to_string())
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "killed::makes_a_run", "--nocapture"])
            .env("RUN_LOOP_TEST_MAKER", place.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let made = child.status().unwrap().success();
        let runs = place.state.run_ids().unwrap();
        let why = format!("killed at {largest} KiB: {runs:?}");
        assert!(
            runs.iter()
                .all(|run| Journal::never_began(&place.state, *run)),
            "{why}"
        );
        assert!(runs.len() == 1 || !made, "{why}");
        whole += runs.len();
        let names = std::fs::read_dir(place.folder.path().join("run-loop/runs")).unwrap();
        assert_eq!(names.count(), 1, "{why}");
    }
    let points = usize::try_from(LARGEST).unwrap() + 1;
    assert!(0 < whole && whole < points, "{whole} of {points} were made");
}

/// Not a test by itself: the engine of the test above.
#[test]
fn makes_a_run() {
    let Some(common_dir) = std::env::var_os("RUN_LOOP_TEST_MAKER") else {
        return;
    };
    let state = StateFolder::open(Path::new(&common_dir)).unwrap();
    drop(Journal::create(&state, run_id(1)).unwrap());
}

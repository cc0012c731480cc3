//! Writing, reading back, and the one writer.

use std::path::Path;
use std::sync::{Arc, Barrier};

use run_loop::domain::code::Code;
use run_loop::domain::event::{Event, RoundResult};
use run_loop::store::Journal;

use crate::sample::{Place, approved, judged, run_id, stamp};

fn events(entries: &[run_loop::store::Entry]) -> Vec<Event> {
    entries.iter().map(|entry| entry.event.clone()).collect()
}

#[test]
fn what_was_appended_is_loaded_in_order_with_its_times() {
    let place = Place::new();
    let written = approved(1, Path::new("/src"), 'd');
    let run = place.run(1, &written);
    let entries = Journal::load(&place.state, run).unwrap();
    assert_eq!(events(&entries), written);
    let seqs: Vec<u64> = entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=8).collect::<Vec<u64>>());
    assert_eq!(
        entries[2].at,
        stamp(1).at,
        "decided events have their input's time"
    );
    assert_eq!(entries[3].at, stamp(2).at);
}

#[test]
fn a_running_journal_is_read_beside_its_writer() {
    let place = Place::new();
    let run = run_id(1);
    let mut journal = Journal::create(&place.state, run).unwrap();
    for event in judged(1, Path::new("/src"), 'd', RoundResult::Passed) {
        journal.append(std::slice::from_ref(&event)).unwrap();
        let read = Journal::load(&place.state, run).unwrap();
        assert_eq!(read.last().unwrap().event, event);
        assert!(Journal::is_driven(&place.state, run).unwrap());
    }
    drop(journal);
    assert!(!Journal::is_driven(&place.state, run).unwrap());
}

/// A program that a killed engine was about to start shares its lock until it runs: whoever asks at that
/// moment waits for it, and is not told that the dead engine lives.
#[test]
fn the_lock_of_a_dead_engine_is_looked_at_again() {
    for _ in 0..50 {
        let place = Place::new();
        let run = run_id(1);
        let journal = Journal::create(&place.state, run).unwrap();
        let record = place.state.run_path(run).join("engine.json");
        let text = std::fs::read_to_string(&record).unwrap();
        let mut engine: serde_json::Value = serde_json::from_str(&text).unwrap();
        engine["pid_start"] = 1.into();
        std::fs::write(&record, engine.to_string()).unwrap();
        let both = Arc::new(Barrier::new(2));
        let holder = std::thread::spawn({
            let both = Arc::clone(&both);
            move || {
                both.wait();
                drop(journal);
            }
        });
        both.wait();
        assert!(!Journal::is_driven(&place.state, run).unwrap());
        holder.join().unwrap();
    }
}

/// One call of `append` is one transaction: one commit in the log, however many events.
#[test]
fn an_append_is_one_durable_commit() {
    let place = Place::new();
    let run = run_id(1);
    let mut journal = Journal::create(&place.state, run).unwrap();
    let log = place.state.run_path(run).join("journal.db-wal");
    let before = commits(&std::fs::read(&log).unwrap());
    journal
        .append(&judged(1, Path::new("/src"), 'd', RoundResult::Passed))
        .unwrap();
    assert_eq!(commits(&std::fs::read(&log).unwrap()), before + 1);
}

fn commits(log: &[u8]) -> usize {
    if log.is_empty() {
        // Nothing was written since it was made.
        return 0;
    }
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
    let frames = log[32..].chunks_exact(24 + page);
    frames.filter(|frame| frame[4..8] != [0; 4]).count()
}

#[test]
fn a_resumed_journal_goes_on_where_it_stopped() {
    let place = Place::new();
    let all = approved(1, Path::new("/src"), 'd');
    let run = place.run(1, &all[..5]);
    let (mut journal, entries) = Journal::open(&place.state, run).unwrap();
    assert_eq!(events(&entries), all[..5]);
    journal.append(&all[5..]).unwrap();
    drop(journal);
    assert_eq!(events(&Journal::load(&place.state, run).unwrap()), all);
}

#[test]
fn a_second_writer_is_refused() {
    let place = Place::new();
    let run = run_id(1);
    let mut journal = Journal::create(&place.state, run).unwrap();
    journal
        .append(&approved(1, Path::new("/src"), 'd'))
        .unwrap();
    let refused = Journal::open(&place.state, run).unwrap_err();
    assert_eq!(refused.code, Code::JournalFailed);
    assert!(refused.message.contains("another process"), "{refused}");
    Journal::create(&place.state, run).unwrap_err();
}

/// Each transaction checks that the open file is still the one at its path, and nothing more is
/// written after that.
#[test]
fn a_replaced_file_fails_the_append_for_good() {
    for name in ["journal.db", "journal.db-wal"] {
        let place = Place::new();
        let run = run_id(1);
        let mut journal = Journal::create(&place.state, run).unwrap();
        let all = approved(1, Path::new("/src"), 'd');
        journal.append(&all[..2]).unwrap();
        let path = place.state.run_path(run).join(name);
        let aside = path.with_extension("aside");
        std::fs::rename(&path, &aside).unwrap();
        std::fs::copy(&aside, &path).unwrap();
        let failure = journal.append(&all[2..3]).unwrap_err();
        assert_eq!(failure.code, Code::JournalFailed);
        assert!(failure.message.contains("replaced"), "{failure}");
        std::fs::rename(&aside, &path).unwrap();
        let failure = journal.append(&all[2..3]).unwrap_err();
        assert!(failure.message.contains("earlier write"), "{failure}");
    }
}

/// A run that began and wrote nothing is no empty run.
#[test]
fn a_journal_without_events_is_a_failure() {
    let place = Place::new();
    let run = run_id(1);
    drop(Journal::create(&place.state, run).unwrap());
    let failure = Journal::load(&place.state, run).unwrap_err();
    assert_eq!(failure.code, Code::JournalFailed);
    assert!(failure.message.contains(&run.to_string()), "{failure}");
    Journal::open(&place.state, run).unwrap_err();
}

/// K19: another version's journal is refused by name.
#[test]
fn k19_a_newer_format_is_refused_by_name() {
    let place = Place::new();
    let run = place.run(1, &approved(1, Path::new("/src"), 'd'));
    let connection = rusqlite::Connection::open(place.database(run)).unwrap();
    connection.pragma_update(None, "user_version", 2).unwrap();
    drop(connection);
    let failure = Journal::load(&place.state, run).unwrap_err();
    assert!(failure.message.contains("format 2"), "{failure}");
    assert!(failure.message.contains("newer"), "{failure}");
    assert_eq!(failure.next.to_string(), "run-loop --version");
    Journal::open(&place.state, run).unwrap_err();
}

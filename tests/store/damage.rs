//! Torn ends and flipped bits: a valid prefix or a clear failure, never "empty", per run only.

use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;
use run_loop::domain::event::Event;
use run_loop::domain::id::LoopId;
use run_loop::store::Journal;

use crate::sample::{Place, approved, run_id};

/// A journal whose engine was killed: every commit is in the log, none in the database.
struct Killed {
    place: Place,
    run: LoopId,
    events: Vec<Event>,
    /// How many events each commit left.
    commits: Vec<usize>,
    files: Vec<(PathBuf, Vec<u8>)>,
    /// What was noted of its end after each commit.
    notes: Vec<Vec<u8>>,
}

impl Killed {
    fn new() -> Self {
        let (place, run) = (Place::new(), run_id(1));
        let events = approved(1, Path::new("/src"), 'd');
        let mut journal = Journal::create(&place.state, run).unwrap();
        let (mut commits, mut notes) = (vec![0], vec![Vec::new()]);
        let note = place.state.run_path(run).join("tail.json");
        for chunk in events.chunks(2) {
            journal.append(chunk).unwrap();
            commits.push(commits.last().unwrap() + chunk.len());
            notes.push(std::fs::read(&note).unwrap());
        }
        let files = ["journal.db", "journal.db-wal"].map(|name| {
            let path = place.state.run_path(run).join(name);
            let bytes = std::fs::read(&path).unwrap();
            (path, bytes)
        });
        drop(journal);
        Self {
            place,
            run,
            events,
            commits,
            files: files.to_vec(),
            notes,
        }
    }
    /// Puts the files back as they lay when the machine lost its power: the note is not durable.
    fn restore(&self) {
        for name in ["journal.db-shm", "tail.json"] {
            drop(std::fs::remove_file(
                self.place.state.run_path(self.run).join(name),
            ));
        }
        for (path, bytes) in &self.files {
            std::fs::write(path, bytes).unwrap();
        }
    }
    /// What a reader finds: how many events, all of them as written, at the end of a commit.
    fn found(&self) -> Option<usize> {
        match Journal::load(&self.place.state, self.run) {
            Ok(entries) => {
                let read: Vec<Event> = entries.into_iter().map(|entry| entry.event).collect();
                assert!(!read.is_empty(), "never empty");
                assert_eq!(read, self.events[..read.len()], "a prefix as written");
                assert!(self.commits.contains(&read.len()), "at the end of a commit");
                Some(read.len())
            }
            Err(failure) => {
                assert_eq!(failure.code, Code::JournalFailed);
                assert!(failure.message.contains(&self.run.to_string()), "{failure}");
                None
            }
        }
    }
}

#[test]
fn a_killed_engine_loses_no_commit() {
    let killed = Killed::new();
    killed.restore();
    assert_eq!(killed.found(), Some(killed.events.len()));
    let (_journal, entries) = Journal::open(&killed.place.state, killed.run).unwrap();
    assert_eq!(entries.len(), killed.events.len());
}

/// K17: the log torn at any byte leaves the commits before it, and the run can go on.
#[test]
fn k17_a_torn_log_leaves_the_commits_before_it() {
    let killed = Killed::new();
    let (path, bytes) = &killed.files[1];
    let mut lengths = std::collections::BTreeSet::new();
    for length in (0..bytes.len()).rev().step_by(97).chain(0..40) {
        killed.restore();
        std::fs::write(path, &bytes[..length]).unwrap();
        if let Some(found) = killed.found() {
            lengths.insert(found);
            let (mut journal, entries) = Journal::open(&killed.place.state, killed.run).unwrap();
            assert_eq!(entries.len(), found);
            journal.append(&killed.events[found..=found]).unwrap();
        }
    }
    let expected: std::collections::BTreeSet<usize> = killed.commits[1..killed.commits.len() - 1]
        .iter()
        .copied()
        .collect();
    assert_eq!(lengths, expected, "every commit was the last one once");
}

/// Issue 4.3: a log that somebody removed, or cut at a commit, is missed: it reads as no shorter run. One
/// that is torn in the commit at which its engine was killed goes on, since nobody noted that one.
#[test]
fn a_log_that_is_removed_or_cut_is_missed() {
    let killed = Killed::new();
    let note = killed.place.state.run_path(killed.run).join("tail.json");
    let (log, bytes) = &killed.files[1];
    let last = killed.notes.len() - 1;
    killed.restore();
    std::fs::write(&note, &killed.notes[last]).unwrap();
    std::fs::remove_file(log).unwrap();
    assert_eq!(killed.found(), None, "removed");
    for length in (0..bytes.len()).rev().step_by(1511) {
        killed.restore();
        std::fs::write(log, &bytes[..length]).unwrap();
        let Some(found) = killed.found() else {
            continue;
        };
        let reached = killed.commits.iter().position(|it| *it == found).unwrap();
        for (noted, bytes) in killed.notes.iter().enumerate() {
            std::fs::write(&note, bytes).unwrap();
            let expected = (noted <= reached).then_some(found);
            assert_eq!(killed.found(), expected, "cut to {length}, noted {noted}");
        }
    }
    // A note that is damaged is no word on a journal that is whole.
    killed.restore();
    for at in 0..killed.notes[last].len() {
        let mut flipped = killed.notes[last].clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&note, flipped).unwrap();
        assert_eq!(killed.found(), Some(killed.events.len()), "byte {at}");
    }
}

/// K17: a bit that flipped before the last commit of the log is damage, never a shorter run.
#[test]
fn k17_a_flipped_bit_in_the_log_is_seen() {
    let killed = Killed::new();
    let (path, bytes) = &killed.files[1];
    let all = killed.events.len();
    let last = killed.commits[killed.commits.len() - 2];
    let (mut refused, mut unharmed, mut last_lost) = (0, 0, 0);
    for at in (0..bytes.len()).step_by(61).chain(0..80) {
        killed.restore();
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(path, flipped).unwrap();
        match killed.found() {
            None => refused += 1,
            Some(found) if found == all => unharmed += 1,
            // A torn last commit looks the same.
            Some(found) => {
                assert_eq!(found, last, "at byte {at}");
                last_lost += 1;
            }
        }
    }
    assert!(refused > 3 * last_lost, "{refused} {unharmed} {last_lost}");
}

/// Whatever happens to a closed journal's file, all events are there as written, or it fails.
#[test]
fn a_flipped_bit_or_cut_in_the_database_is_seen() {
    let place = Place::new();
    let events = approved(1, Path::new("/src"), 'd');
    let run = place.run(1, &events);
    let path = place.database(run);
    let bytes = std::fs::read(&path).unwrap();
    let mut refused = 0;
    let mut check = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).unwrap();
        match Journal::load(&place.state, run) {
            Ok(entries) => {
                let read: Vec<Event> = entries.into_iter().map(|entry| entry.event).collect();
                assert_eq!(read, events, "{what}");
            }
            Err(failure) => {
                assert_eq!(failure.code, Code::JournalFailed, "{what}");
                refused += 1;
            }
        }
    };
    for at in (0..bytes.len()).step_by(53).chain(0..100) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        check(&flipped, &format!("bit of byte {at}"));
    }
    for length in (0..bytes.len()).step_by(211) {
        check(&bytes[..length], &format!("cut to {length}"));
    }
    assert!(refused > 100, "only {refused} were seen");
}

/// The chain: an edited event, a removed last event, a swapped order, another run's journal.
#[test]
fn an_edited_journal_breaks_its_chain() {
    let edits = [
        "UPDATE event SET json = replace(json, 'mend', 'bend') WHERE seq = 1",
        "UPDATE event SET at_ms = at_ms + 1 WHERE seq = 2",
        "DELETE FROM event WHERE seq = 8",
        "DELETE FROM event WHERE seq = 3",
        "DELETE FROM event",
        "UPDATE event SET seq = 99 WHERE seq = 8",
        "UPDATE event SET prev = hash WHERE seq = 4",
        "UPDATE head SET seq = 7",
        "DELETE FROM head",
        "DROP TABLE event",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 0",
        "PRAGMA journal_mode = DELETE",
    ];
    for edit in edits {
        let place = Place::new();
        let run = place.run(1, &approved(1, Path::new("/src"), 'd'));
        let connection = rusqlite::Connection::open(place.database(run)).unwrap();
        connection
            .execute_batch("DROP TRIGGER event_is_not_edited; DROP TRIGGER event_is_not_removed;")
            .unwrap();
        connection.execute_batch(edit).unwrap();
        drop(connection);
        let failure = Journal::load(&place.state, run).unwrap_err();
        assert_eq!(failure.code, Code::JournalFailed, "{edit}");
        Journal::open(&place.state, run).unwrap_err();
    }
}

#[test]
fn the_journal_of_another_run_is_refused() {
    let place = Place::new();
    let first = place.run(1, &approved(1, Path::new("/src"), 'd'));
    let second = place.run(9, &approved(9, Path::new("/src"), 'd'));
    std::fs::copy(place.database(first), place.database(second)).unwrap();
    let failure = Journal::load(&place.state, second).unwrap_err();
    assert!(failure.message.contains("belongs to run"), "{failure}");
}

#[test]
fn a_journal_that_is_no_regular_file_is_refused() {
    let place = Place::new();
    let run = place.run(1, &approved(1, Path::new("/src"), 'd'));
    let path = place.database(run);
    let aside = place.folder.path().join("aside.db");
    std::fs::rename(&path, &aside).unwrap();
    Journal::load(&place.state, run).unwrap_err();
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    Journal::load(&place.state, run).unwrap_err();
    Journal::open(&place.state, run).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    Journal::load(&place.state, run).unwrap_err();
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, b"").unwrap();
    Journal::load(&place.state, run).unwrap_err();
    std::fs::write(&path, b"not a database at all").unwrap();
    Journal::load(&place.state, run).unwrap_err();
}

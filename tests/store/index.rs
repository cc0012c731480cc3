//! The index can be dropped, damaged or locked: the list is the same.

use std::path::Path;

use run_loop::domain::event::RoundResult;
use run_loop::domain::exit::Exit;
use run_loop::domain::summary::RunState;
use run_loop::store::index::Listed;
use run_loop::store::{Index, Journal};

use crate::sample::{Place, approved, judged, run_id};

fn list(place: &Place) -> Vec<Listed> {
    Index::open(&place.state).list(&place.state).unwrap()
}

fn row(listed: &Listed) -> &run_loop::store::index::RunRow {
    match listed {
        Listed::Run(row) => row,
        Listed::Damaged { failure, .. } => panic!("damaged: {failure}"),
    }
}

/// H09: an engine that died is interrupted at once, whatever it wrote last.
#[test]
fn h09_a_run_goes_on_only_while_its_engine_lives() {
    let place = Place::new();
    let mut journal = Journal::create(&place.state, run_id(1)).unwrap();
    journal
        .append(&judged(1, Path::new("/src"), 'd', RoundResult::Passed))
        .unwrap();
    assert_eq!(row(&list(&place)[0]).state, RunState::Running);
    drop(journal);
    assert_eq!(row(&list(&place)[0]).state, RunState::Interrupted);
    let (mut journal, _) = Journal::open(&place.state, run_id(1)).unwrap();
    assert_eq!(row(&list(&place)[0]).state, RunState::Running);
    journal
        .append(&approved(1, Path::new("/src"), 'd')[7..])
        .unwrap();
    drop(journal);
    let listed = list(&place);
    assert_eq!(row(&listed[0]).state, RunState::Ended);
    assert_eq!(row(&listed[0]).exit, Some(Exit::Approved));
}

#[test]
fn a_dropped_or_damaged_index_is_made_anew() {
    let place = Place::new();
    for number in [1, 5, 9] {
        place.run(number, &approved(number, Path::new("/src"), 'd'));
    }
    let before = list(&place);
    assert_eq!(before.len(), 3);
    let path = place.state.path().join("index.db");
    let bytes = std::fs::read(&path).unwrap();

    std::fs::remove_file(&path).unwrap();
    assert_eq!(list(&place), before);
    assert!(path.exists(), "rebuilt");

    std::fs::write(&path, b"garbage").unwrap();
    assert_eq!(list(&place), before);
    for at in (0..bytes.len()).step_by(29) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(&path, flipped).unwrap();
        assert_eq!(list(&place), before, "bit of byte {at}");
    }
    for length in (0..bytes.len()).step_by(1023) {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert_eq!(list(&place), before, "cut to {length}");
    }
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(list(&place), before, "without an index");
}

/// A cached line is believed only while the journal's file is the same.
#[test]
fn a_journal_damaged_later_is_listed_as_damaged() {
    let place = Place::new();
    let good = place.run(1, &approved(1, Path::new("/src"), 'd'));
    let bad = place.run(5, &approved(5, Path::new("/src"), 'd'));
    list(&place);
    let mut bytes = std::fs::read(place.database(bad)).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 600].fill(0x55);
    std::fs::write(place.database(bad), bytes).unwrap();
    let listed = list(&place);
    assert_eq!(row(&listed[0]).run, good);
    assert!(matches!(&listed[1], Listed::Damaged { run, .. } if *run == bad));

    std::fs::remove_dir_all(place.state.run_path(bad)).unwrap();
    assert_eq!(list(&place).len(), 1);
    assert_eq!(Index::remembered_trees(&place.state, bad), None);
    assert!(Index::remembered_trees(&place.state, good).is_some());
}

#[test]
fn two_readers_do_not_wait_for_each_other() {
    let place = Place::new();
    place.run(1, &approved(1, Path::new("/src"), 'd'));
    let mut first = Index::open(&place.state);
    let expected = first.list(&place.state).unwrap();
    assert_eq!(list(&place), expected, "while the first holds the index");
}

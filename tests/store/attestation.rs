//! What the journals vouch for.

use std::path::Path;

use run_loop::domain::digest::Digest;
use run_loop::domain::end::End;
use run_loop::domain::event::RoundResult;
use run_loop::store::{Index, Journal, attestations};

use crate::sample::{Place, approved, judged, oid, refused, run_id, stamp};

/// G02: a damaged run is named, and the others speak.
#[test]
fn g02_a_damaged_run_blocks_no_other() {
    let place = Place::new();
    let source = Path::new("/src");
    let good = place.run(1, &approved(1, source, 'd'));
    let bad = place.run(4, &approved(4, source, 'd'));
    let failed = place.run(8, &judged(8, source, 'd', refused()));
    Index::open(&place.state).list(&place.state).unwrap();
    std::fs::write(place.database(bad), b"garbage").unwrap();
    std::fs::create_dir(place.state.run_path(run_id(20))).unwrap();
    std::fs::write(place.state.run_path(run_id(21)), b"a file").unwrap();

    // An engine that died before its first event: nothing to say, and no damage.
    drop(Journal::create(&place.state, run_id(30)).unwrap());

    let all = attestations(&place.state).unwrap();
    assert_eq!(
        all.runs.iter().map(|a| a.run).collect::<Vec<_>>(),
        [good, failed]
    );
    let first = &all.runs[0];
    assert_eq!(first.end, Some(End::Approved { readers: 1 }));
    assert_eq!(first.manifest_sha256, Some(Digest::of(&[1])));
    assert_eq!(first.ended_at, Some(stamp(3).at));
    assert_eq!(first.rounds[0].identity.content_tree, oid('d'));
    assert_eq!(first.rounds[0].result, Some(RoundResult::Passed));
    // An engine that died after NOT PASS: its round still counts.
    assert_eq!(all.runs[1].end, None);
    assert_eq!(all.runs[1].rounds[0].result, Some(refused()));

    let damaged: Vec<_> = all.damaged.iter().map(|d| d.run).collect();
    assert_eq!(damaged, [bad, run_id(20), run_id(21)]);
    assert_eq!(all.damaged[0].content_trees, Some(vec![oid('d')]));
    assert!(all.damaged[0].ended_at.is_some());
    assert_eq!(all.damaged[1].content_trees, None);
    assert_eq!(all.damaged[1].ended_at, None);
}

/// The moment that the system set, whatever time a file is given.
#[test]
fn a_damaged_run_was_written_to_last_when_its_files_say() {
    use std::os::unix::fs::MetadataExt as _;

    let place = Place::new();
    let source = Path::new("/src");
    let changed = |path: &Path| {
        let metadata = std::fs::symlink_metadata(path).unwrap();
        metadata.ctime() * 1000 + metadata.ctime_nsec() / 1_000_000
    };
    let written = |place: &Place| {
        let damaged = attestations(&place.state).unwrap().damaged;
        damaged[0]
            .written_at
            .map(run_loop::domain::time::Timestamp::as_millis)
    };
    let bad = place.run(1, &approved(1, source, 'd'));
    let old = changed(&place.database(bad));
    std::fs::write(place.database(bad), b"garbage").unwrap();
    let file = std::fs::File::options()
        .append(true)
        .open(place.database(bad))
        .unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let new = changed(&place.database(bad));
    assert!(new >= old);
    assert_eq!(written(&place), Some(new), "the file of the journal");

    // A journal that is gone: the folder tells when it went.
    std::fs::remove_file(place.database(bad)).unwrap();
    assert_eq!(written(&place), Some(changed(&place.state.run_path(bad))));
    std::fs::remove_dir_all(place.state.run_path(bad)).unwrap();
    std::fs::write(place.state.run_path(bad), b"a file").unwrap();
    assert_eq!(written(&place), Some(changed(&place.state.run_path(bad))));
}

/// The journals are the truth: no edit of the index changes what is vouched for.
#[test]
fn the_index_vouches_for_nothing() {
    let place = Place::new();
    let run = place.run(1, &judged(1, Path::new("/src"), 'd', refused()));
    Index::open(&place.state).list(&place.state).unwrap();
    let before = attestations(&place.state).unwrap();
    let connection = rusqlite::Connection::open(place.state.path().join("index.db")).unwrap();
    connection
        .execute(
            "UPDATE round SET manifest_sha256 = ?1, result = '{\"result\":\"passed\"}'",
            [Digest::of(b"forged").as_str()],
        )
        .unwrap();
    drop(connection);
    assert_eq!(attestations(&place.state).unwrap(), before);
    assert_eq!(before.runs[0].run, run);
    assert_eq!(before.runs[0].manifest_sha256, None);
}

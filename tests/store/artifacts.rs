//! Artifacts are named by their hash, and verified.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::store::Artifacts;

use crate::sample::{Place, approved};

#[test]
fn what_was_put_is_got_and_nothing_else() {
    let place = Place::new();
    let run = place.run(1, &approved(1, "/src".as_ref(), 'd'));
    let artifacts = Artifacts::open(&place.state, run).unwrap();
    let stored = artifacts.put(b"a report").unwrap();
    assert_eq!(stored.sha256, Digest::of(b"a report"));
    assert_eq!(stored.bytes, 8);
    assert_eq!(artifacts.put(b"a report").unwrap(), stored);
    assert_eq!(artifacts.get(&stored.sha256).unwrap(), b"a report");
    let missing = artifacts.get(&Digest::of(b"other")).unwrap_err();
    assert_eq!(missing.code, Code::JournalFailed);

    let folder = place.state.run_path(run).join("artifacts");
    let path = folder.join(stored.sha256.as_str());
    std::fs::write(&path, b"a rep0rt").unwrap();
    let damaged = artifacts.get(&stored.sha256).unwrap_err();
    assert!(damaged.message.contains("does not hold"), "{damaged}");
    // Put again, it is whole again.
    artifacts.put(b"a report").unwrap();
    assert_eq!(artifacts.get(&stored.sha256).unwrap(), b"a report");

    std::fs::remove_file(&path).unwrap();
    let elsewhere = place.folder.path().join("elsewhere");
    std::fs::write(&elsewhere, b"a report").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    artifacts.get(&stored.sha256).unwrap_err();
}

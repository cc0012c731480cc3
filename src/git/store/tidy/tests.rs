use std::fs::FileTimes;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::needed::Runs;
use super::{Budget, entries, rounds, stores};
use crate::git::Git;
use crate::lock::{Locked, Sharing};

const DAY: Duration = Duration::from_hours(24);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + 20_000 * DAY
}

fn put(path: &Path, bytes: &[u8], age: Duration) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, bytes).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(now() - age))
        .unwrap();
}

/// A round whose pack has this many bytes.
fn round(store: &Path, name: &str, pack: &str, bytes: usize, age: Duration) {
    put(&store.join("refs/run-loop").join(name), b"oid\n", age);
    let record = format!("{pack}\n");
    put(
        &store.join("run-loop-packs").join(name),
        record.as_bytes(),
        age,
    );
    for kind in ["pack", "idx"] {
        let file = store.join(format!("objects/pack/pack-{pack}.{kind}"));
        put(&file, &vec![0; bytes], age);
    }
}

fn tidy(store: &Path, budget: Budget) {
    // No step that these tests reach starts git.
    let git = Git::find(&std::ffi::OsString::from("/usr/bin:/bin:/usr/local/bin")).unwrap();
    let mut runs = Runs::of(store).unwrap();
    rounds(&git, store, &mut runs, &budget, now()).unwrap();
}

fn is_there(store: &Path, name: &str, pack: &str) -> bool {
    let all = [
        store.join("refs/run-loop").join(name),
        store.join("run-loop-packs").join(name),
        store.join(format!("objects/pack/pack-{pack}.pack")),
        store.join(format!("objects/pack/pack-{pack}.idx")),
    ];
    let there = all.iter().filter(|path| path.exists()).count();
    assert!(there == 0 || there == all.len(), "{name} is half there");
    there > 0
}

#[test]
fn the_oldest_rounds_go_beyond_a_number_with_their_packs() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    round(store, "run/1", "aa", 10, 3 * DAY);
    round(store, "run/2", "bb", 10, 2 * DAY);
    round(store, "other/1", "cc", 10, DAY);
    put(&store.join("objects/pack/tmp_pack_x"), b"", DAY);
    tidy(
        store,
        Budget {
            rounds: 2,
            ..Budget::default()
        },
    );
    assert!(!is_there(store, "run/1", "aa"));
    assert!(is_there(store, "run/2", "bb"));
    assert!(is_there(store, "other/1", "cc"));
    assert!(
        !store.join("objects/pack/tmp_pack_x").exists(),
        "what a crash left"
    );
    tidy(
        store,
        Budget {
            rounds: 1,
            ..Budget::default()
        },
    );
    assert!(
        !store.join("refs/run-loop/run").exists(),
        "no empty folder stays"
    );
}

#[test]
fn bytes_and_age_count_too_and_the_newest_round_always_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    round(store, "run/1", "aa", 10, 3 * DAY);
    round(store, "run/2", "bb", 10, 2 * DAY);
    tidy(
        store,
        Budget {
            bytes: 15,
            ..Budget::default()
        },
    );
    assert!(!is_there(store, "run/1", "aa"));
    tidy(
        store,
        Budget {
            bytes: 1,
            idle: DAY,
            ..Budget::default()
        },
    );
    assert!(is_there(store, "run/2", "bb"));
}

/// What is held of the steps before a round counts as the round, stays with it, and goes with it.
#[test]
fn what_is_held_of_a_step_belongs_to_its_round() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let old = [
        ("run/1", "aa"),
        ("run/1-implement", "bb"),
        ("run/1-implement-staged", "cc"),
    ];
    let new = [
        ("run/2-correct", "dd"),
        ("run/2-correct-staged", "ee"),
        ("run/2", "ff"),
    ];
    for (age, round) in [(5, old), (1, new)] {
        for (later, (name, pack)) in round.into_iter().enumerate() {
            let hours = age * 24 - u64::try_from(later).unwrap();
            self::round(store, name, pack, 10, Duration::from_hours(hours));
        }
    }
    let rounds = |rounds| Budget {
        rounds,
        ..Budget::default()
    };
    tidy(store, rounds(2));
    assert!(
        old.iter()
            .chain(&new)
            .all(|(name, pack)| is_there(store, name, pack))
    );
    tidy(store, rounds(1));
    assert!(!old.iter().any(|(name, pack)| is_there(store, name, pack)));
    assert!(new.iter().all(|(name, pack)| is_there(store, name, pack)));
    // Together they are thirty bytes: more than that is not kept, and less is none of them.
    round(store, "run/3", "gg", 10, Duration::ZERO);
    let bytes = |bytes| Budget {
        bytes,
        ..Budget::default()
    };
    tidy(store, bytes(40));
    assert!(new.iter().all(|(name, pack)| is_there(store, name, pack)));
    tidy(store, bytes(39));
    assert!(!new.iter().any(|(name, pack)| is_there(store, name, pack)));
    assert!(is_there(store, "run/3", "gg"));
}

#[test]
fn a_pack_of_a_kept_round_stays_whoever_else_named_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    round(store, "run/1", "aa", 10, 3 * DAY);
    round(store, "run/2", "aa", 10, 2 * DAY);
    tidy(
        store,
        Budget {
            rounds: 1,
            ..Budget::default()
        },
    );
    assert!(is_there(store, "run/2", "aa"));
    assert!(!store.join("refs/run-loop/run/1").exists());
}

#[test]
fn a_kept_round_whose_pack_is_not_known_keeps_every_pack() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    round(store, "run/1", "aa", 10, 3 * DAY);
    round(store, "run/2", "bb", 10, 2 * DAY);
    fs_err::remove_file(store.join("run-loop-packs/run/2")).unwrap();
    tidy(
        store,
        Budget {
            rounds: 1,
            ..Budget::default()
        },
    );
    assert!(store.join("objects/pack/pack-aa.pack").exists());
    assert!(store.join("objects/pack/pack-bb.pack").exists());
}

#[test]
fn loose_objects_go_by_age_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    put(&store.join("objects/aa/old"), b"", 40 * DAY);
    put(&store.join("objects/aa/new"), b"", 20 * DAY);
    put(&store.join("objects/info/alternates"), b"", 40 * DAY);
    tidy(store, Budget::default());
    assert!(!store.join("objects/aa/old").exists());
    assert!(store.join("objects/aa/new").exists());
    assert!(store.join("objects/info/alternates").exists());
}

/// Bytes that are in no pack count too; what is left of those who died counts nothing.
#[test]
fn what_lies_beside_the_packs_goes_beyond_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let small = |bytes| Budget {
        bytes,
        ..Budget::default()
    };
    put(&store.join("objects/aa/old"), &[0; 10], 3 * DAY);
    put(
        &store.join("run-loop-lfs/objects/aa/bb/old"),
        &[0; 10],
        2 * DAY,
    );
    put(&store.join("objects/bb/new"), &[0; 10], DAY);
    put(&store.join("run-loop-tmp/index-x/index"), &[0; 90], DAY);
    put(&store.join("run-loop-tmp/file"), &[0; 90], DAY);
    tidy(store, small(25));
    let there = |name: &str| store.join(name).exists();
    assert!(!there("objects/aa/old"), "the oldest");
    assert!(there("run-loop-lfs/objects/aa/bb/old") && there("objects/bb/new"));
    assert!(there("run-loop-tmp"), "the folder is the store's");
    assert!(entries(&store.join("run-loop-tmp")).unwrap().is_empty());
    tidy(store, small(15));
    assert!(!there("run-loop-lfs/objects/aa/bb/old"));
    assert!(there("objects/bb/new"));
}

/// Without the network they are nowhere else.
#[test]
fn packs_of_a_promisor_remote_stay_within_budget_and_age() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let pack = |name: &str, age| {
        for kind in ["pack", "idx", "promisor"] {
            let file = store.join(format!("objects/pack/pack-{name}.{kind}"));
            put(&file, &[0; 10], age);
        }
    };
    pack("aa", DAY);
    pack("bb", 40 * DAY);
    let there = |name: &str| {
        let kinds = ["pack", "idx", "promisor"].into_iter();
        let files = kinds.map(|kind| store.join(format!("objects/pack/pack-{name}.{kind}")));
        files.filter(|file| file.exists()).count()
    };
    tidy(store, Budget::default());
    assert_eq!((there("aa"), there("bb")), (3, 0));
    tidy(
        store,
        Budget {
            bytes: 5,
            ..Budget::default()
        },
    );
    assert_eq!(there("aa"), 0);
}

#[test]
fn stores_that_nobody_uses_go_the_least_recently_used_first() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    // A repository that is not theirs lies where theirs was.
    let another = tempfile::tempdir().unwrap();
    let borrowed = another.path().join("objects\n");
    let size = borrowed.as_os_str().len() as u64;
    let store = |key: &str, age: Duration| {
        let borrowed = borrowed.as_os_str().as_encoded_bytes();
        put(
            &root.join(key).join("objects/info/alternates"),
            borrowed,
            age,
        );
        put(&root.join(key).join("objects/aa/one"), &[0; 10], age);
        put(&root.join(format!("{key}.lock")), b"", age);
        put(&root.join(format!("{key}.build")), b"", age);
    };
    store("mine", 50 * DAY);
    store("old", 40 * DAY);
    store("third", 3 * DAY);
    store("second", 2 * DAY);
    store("held", 4 * DAY);
    let held = std::fs::File::open(root.join("held.lock")).unwrap();
    let _held = Locked::wait(held, Sharing::Shared).unwrap();
    let budget = Budget {
        bytes: 15 + 2 * size,
        ..Budget::default()
    };
    stores(root, "mine", &budget, now()).unwrap();
    let there = |key: &str| root.join(key).exists();
    assert!(there("mine") && there("second") && there("held"));
    assert!(!there("old") && !there("third"));
}

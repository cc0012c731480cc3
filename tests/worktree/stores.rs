//! `cleanup` of review stores: over the budget, least recently used first, never one in use.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use run_loop::git::{Git, Repository, ReviewStore};

use crate::dead::Dead;
use crate::fixture::{photo, same};
use crate::support::repo::Repo;

fn stores(dead: &Dead) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(dead.cache().join("stores"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

pub(crate) fn open(dead: &Dead, repo: &Repo) -> ReviewStore {
    let git = Git::find(&std::env::var_os("PATH").unwrap()).unwrap();
    let repository = Repository::discover(&git, repo.root()).unwrap();
    ReviewStore::open(&git, &repository, &dead.cache()).unwrap()
}

/// Says when a store was used last.
fn used(store: &std::path::Path, seconds_ago: u64) {
    let lock = store.with_extension("lock");
    let file = std::fs::File::options().write(true).open(lock).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(seconds_ago))
        .unwrap();
}

/// Under the budget nothing happens; over it the least recently used goes, until it fits.
#[test]
fn the_least_recently_used_store_goes_first() {
    let dead = Dead::ended();
    let first = stores(&dead).remove(0);
    let other = Repo::new();
    let second = open(&dead, &other).git_dir().to_owned();
    // The review trees that wait go at once.
    dead.clean(&[]);
    assert_eq!(dead.clean(&[]), "freed 0 B\n");
    let size = |path: &PathBuf| {
        use std::os::unix::fs::MetadataExt as _;
        photo(path)
            .keys()
            .map(|it| it.symlink_metadata().unwrap().blocks() * 512)
            .sum::<u64>()
    };
    // What the larger one takes is too little for both, on any file system.
    let budget = || size(&first).max(size(&second)).to_string();
    used(&first, 1000);
    used(&second, 10);
    let told = dead.clean(&["--store-budget", &budget()]);
    assert!(told.contains("removed review store"), "{told}");
    assert_eq!(stores(&dead), std::slice::from_ref(&second));
    // Opening counts as use.
    let again = open(&dead, &dead.bench.repo).git_dir().to_owned();
    assert_eq!(again, first);
    dead.clean(&["--store-budget", &budget()]);
    assert_eq!(stores(&dead), std::slice::from_ref(&first));
}

/// A run holds its store; so does one that can be resumed, though nobody holds a lock for it.
#[test]
fn a_store_in_use_or_needed_is_kept() {
    let dead = Dead::ended();
    let before = photo(&dead.cache().join("stores"));
    let held = open(&dead, &dead.bench.repo);
    let told = dead.clean(&["--store-budget", "0"]);
    assert!(
        told.contains("kept review store") && told.contains("a run uses it"),
        "{told}"
    );
    same(&before, &photo(&dead.cache().join("stores")));
    drop(held);
    let told = dead.clean(&["--store-budget", "0"]);
    assert!(told.contains("removed review store"), "{told}");

    let killed = Dead::killed();
    let told = killed.clean(&["--store-budget", "0"]);
    assert!(told.contains("can be resumed and needs it"), "{told}");
    assert_eq!(stores(&killed).len(), 1);
}

/// A store whose repository is not there: its runs are unknown.
#[test]
fn a_store_without_its_repository_is_kept() {
    let dead = Dead::ended();
    let gone = Repo::new();
    let store = open(&dead, &gone).git_dir().to_owned();
    drop(gone);
    let told = dead.clean(&["--store-budget", "0"]);
    assert!(told.contains("its repository is not there"), "{told}");
    assert!(store.is_dir());
    let told = dead.clean(&["--gone"]);
    assert!(told.contains("removed review store"), "{told}");
    assert!(!store.exists());
}

/// Stores that were set aside, and makings that broke off, go when no lock is held for them.
#[test]
fn broken_stores_are_removed_under_their_locks() {
    let dead = Dead::ended();
    let store = stores(&dead).remove(0);
    let damaged = PathBuf::from(format!("{}.damaged-1", store.display()));
    let broken_off = dead.cache().join("stores/new-abc");
    let strange = dead.cache().join("stores/strange");
    for folder in [&damaged, &broken_off, &strange] {
        crate::dead::make(folder);
        std::fs::write(folder.join("file"), "x").unwrap();
    }
    let held = open(&dead, &dead.bench.repo);
    let told = dead.clean(&[]);
    assert!(told.contains("a run uses it"), "{told}");
    assert!(damaged.is_dir());
    drop(held);
    let told = dead.clean(&[]);
    assert!(told.contains("removed broken review store"), "{told}");
    assert!(!damaged.exists() && !broken_off.exists());
    assert!(strange.is_dir() && store.is_dir());
}

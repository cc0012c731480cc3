//! Tidying the store: what a run may go on with stays, whatever the budget (issue 3, point 2).

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use run_loop::domain::code::Code;
use run_loop::domain::end::End;
use run_loop::domain::event::Event;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::LoopId;
use run_loop::domain::oid::Oid;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::git::store::Budget;
use run_loop::git::{Git, GitEnvironment, ReviewStore};
use run_loop::store::{Journal, StateFolder};

use crate::support::repo::{self, Repo};
use crate::support::source::{Source, discover, environment, git};

/// How a run stands when its engine is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Parked,
    Ended,
    Damaged,
}

struct Pinned {
    id: LoopId,
    snapshot: Oid,
    /// The trees that evidence is made of: the base's, and the snapshot's.
    contents: [Oid; 2],
}

/// A run whose first round pinned an edit of its own.
fn pinned(repo: &Repo, number: u8, run: Run) -> Pinned {
    let id = LoopId::parse(&format!("01890a5d-ac96-774b-bcce-b3020000000{number}")).unwrap();
    repo.write("edit.txt", format!("edit of {number}\n"));
    let mut source = Source::of(repo, "HEAD");
    source.spec.loop_id = id;
    let state = StateFolder::open(&source.found.common_dir).unwrap();
    let mut journal = Journal::create(&state, id).unwrap();
    let started = Event::RunStarted {
        stamp: Stamp {
            at: Timestamp::from_millis(1),
            seed: [number; 32],
        },
        spec: Box::new(source.spec.clone()),
    };
    journal.append(&[started]).unwrap();
    let pin = source.pin();
    if run == Run::Ended {
        let failure = Failure::new(Code::FindingsStand, "findings stand");
        let end = End::Failed { failure };
        journal.append(&[Event::RunEnded { end }]).unwrap();
    }
    drop(journal);
    if run == Run::Damaged {
        std::fs::write(state.run_path(id).join("journal.db"), "torn").unwrap();
    }
    Pinned {
        id,
        snapshot: pin.snapshot,
        contents: [pin.base_content_tree, pin.identity.content_tree],
    }
}

/// Ends a run.
fn end(repo: &Repo, run: &Pinned) {
    let state = StateFolder::open(&discover(repo.root()).common_dir).unwrap();
    let (mut journal, _) = Journal::open(&state, run.id).unwrap();
    let failure = Failure::new(Code::FindingsStand, "findings stand");
    let end = End::Failed { failure };
    journal.append(&[Event::RunEnded { end }]).unwrap();
}

/// Opens the store with room for the newest round alone; what was written before is old.
fn tidied(repo: &Repo, cache: &Path) -> ReviewStore {
    let budget = Budget {
        rounds: 1,
        bytes: 1,
        idle: Duration::ZERO,
    };
    ReviewStore::open_within(&git(), &discover(repo.root()), cache, &budget).unwrap()
}

/// Whether the store still has a run's snapshot, whole, in a pack of its own.
fn is_held(store: &ReviewStore, run: &Pinned) -> bool {
    let held = store.git_dir().join(format!("refs/run-loop/{}/1", run.id));
    if !held.exists() {
        return false;
    }
    assert_eq!(
        std::fs::read_to_string(held).unwrap().trim(),
        run.snapshot.as_str()
    );
    let shown = |rest: &str| {
        repo::git(
            store.git_dir(),
            &["show", &format!("{}{rest}", run.snapshot)],
        )
    };
    assert!(shown(":edit.txt").starts_with("edit of"));
    true
}

/// Trees without promoted evidence are in no commit, and lie in packs all the same.
#[test]
fn the_content_of_runs_that_may_go_on_outlives_every_budget() {
    let repo = Repo::new();
    let report = ".agents/reports/security/report-01890a5d-ac96-774b-bcce-b302099a8057.md";
    repo.write(report, "a report\n");
    repo.write(".agents/reports/security/notes.md", "content\n");
    repo.commit("with evidence");
    let parked = pinned(&repo, 1, Run::Parked);
    pinned(&repo, 2, Run::Ended);
    let head = repo.git(&["rev-parse", "HEAD^{tree}"]);
    assert_ne!(parked.contents[0].as_str(), head);
    let store = tidied(&repo, &repo.beside("cache"));
    without_loose_objects(&store);
    for tree in &parked.contents {
        let listing = repo::git(
            store.git_dir(),
            &["ls-tree", "-r", "--name-only", tree.as_str()],
        );
        assert!(listing.contains("notes.md"), "{listing}");
        assert!(!listing.contains("report-"), "{listing}");
    }
}

/// Nobody looks at objects that nobody pinned; a run of an earlier version may.
#[test]
fn loose_objects_stay_while_a_run_may_go_on() {
    let repo = Repo::new();
    let parked = pinned(&repo, 1, Run::Parked);
    let cache = repo.beside("cache");
    let store = tidied(&repo, &cache);
    let loose = |store: &ReviewStore| repo::git(store.git_dir(), &["count-objects"]);
    assert!(loose(&store).starts_with("0 "), "all of it is packed too");
    let write = |store: &ReviewStore| {
        let file = repo.root().join("README.md");
        let file = file.to_str().unwrap();
        repo.write("README.md", "never pinned\n");
        repo::git(store.git_dir(), &["hash-object", "-w", file]);
    };
    write(&store);
    drop(store);
    let store = tidied(&repo, &cache);
    assert!(loose(&store).starts_with("1 "));
    end(&repo, &parked);
    drop(store);
    assert!(loose(&tidied(&repo, &cache)).starts_with("0 "));
}

/// Takes the loose copies away, so that only packs are left.
fn without_loose_objects(store: &ReviewStore) {
    for entry in std::fs::read_dir(store.objects()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().len() == 2 {
            std::fs::remove_dir_all(path).unwrap();
        }
    }
}

#[test]
fn the_snapshots_of_runs_that_may_go_on_outlive_every_budget() {
    let repo = Repo::new();
    let parked = pinned(&repo, 1, Run::Parked);
    let damaged = pinned(&repo, 2, Run::Damaged);
    let ended = pinned(&repo, 3, Run::Ended);
    let newest = pinned(&repo, 4, Run::Ended);
    let store = tidied(&repo, &repo.beside("cache"));
    without_loose_objects(&store);
    assert!(is_held(&store, &parked), "it can be resumed");
    assert!(is_held(&store, &damaged), "nobody knows whether it can");
    assert!(!is_held(&store, &ended), "nobody can go on with it");
    assert!(is_held(&store, &newest), "the newest stays");
}

/// A store is left alone while its own repository has a run that may go on, however long nobody
/// opened it.
#[test]
fn a_store_with_a_run_that_may_go_on_outlives_every_budget() {
    let (repo, other) = (Repo::new(), Repo::new());
    let cache = repo.beside("cache");
    let parked = pinned(&repo, 1, Run::Parked);
    let mine = discover(repo.root());
    let store = ReviewStore::find(&mine, &cache).unwrap();
    drop(tidied(&other, &cache));
    assert!(store.is_dir(), "its run can be resumed");
    end(&repo, &parked);
    // Looked at once a day otherwise.
    std::fs::remove_file(cache.join("stores/tidied")).unwrap();
    drop(tidied(&other, &cache));
    assert!(!store.exists(), "nobody needs it");
}

/// Its repository may lie on a disk that is not mounted today, or the store not say whose it is: then nobody
/// knows that no run goes on with it. Not for ever.
#[test]
fn a_store_whose_repository_is_not_there_is_kept_for_a_while() {
    let (repo, other) = (Repo::new(), Repo::new());
    let cache = repo.beside("cache");
    let parked = pinned(&repo, 1, Run::Parked);
    let store = ReviewStore::find(&discover(repo.root()), &cache).unwrap();
    let tidied_after = |idle: Duration| {
        drop(std::fs::remove_file(cache.join("stores/tidied")));
        let budget = Budget {
            rounds: 1,
            bytes: 1,
            idle,
        };
        let other = discover(other.root());
        drop(ReviewStore::open_within(&git(), &other, &cache, &budget).unwrap());
    };
    let month = Duration::from_hours(30 * 24);
    let away = repo.beside("away");
    std::fs::rename(repo.root(), &away).unwrap();
    tidied_after(month);
    std::fs::rename(&away, repo.root()).unwrap();
    assert!(store.is_dir(), "its run can be resumed");
    std::fs::remove_file(store.join("objects/info/alternates")).unwrap();
    tidied_after(month);
    let opened = ReviewStore::open(&git(), &discover(repo.root()), &cache).unwrap();
    assert!(is_held(&opened, &parked), "it was opened again");
    drop(opened);
    std::fs::rename(repo.root(), &away).unwrap();
    tidied_after(Duration::ZERO);
    assert!(!store.exists());
}

/// Whose a store is stands in what it borrows: no moment may come at which that is not there.
#[test]
fn what_a_store_borrows_stays_while_it_is_tidied() {
    let repo = Repo::new();
    let cache = repo.beside("cache");
    let parked = pinned(&repo, 1, Run::Parked);
    let found = discover(repo.root());
    let store = ReviewStore::find(&found, &cache).unwrap();
    let loose = || {
        let folders = std::fs::read_dir(store.join("objects")).unwrap();
        let folders = folders.map(|entry| entry.unwrap().path());
        let folders = folders.filter(|path| path.file_name().unwrap().len() == 2);
        folders
            .map(|folder| std::fs::read_dir(folder).unwrap().count())
            .sum::<usize>()
    };
    assert!(loose() > 0);
    let (program, missed) = (repo.beside("git"), repo.beside("missed"));
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] || [ -e '{}' ] || echo \"$*\" >>'{}'\nexec '{}' \"$@\"\n",
        store.join("objects/info/alternates").display(),
        missed.display(),
        repo::git_program().display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let watched = Git::find_in(&GitEnvironment {
        program: Some(program),
        ..environment()
    });
    let opened = ReviewStore::open(&watched.unwrap(), &found, &cache).unwrap();
    assert_eq!(loose(), 0, "what is packed is not kept twice");
    assert!(
        !missed.exists(),
        "{}",
        std::fs::read_to_string(missed).unwrap()
    );
    assert!(is_held(&opened, &parked));
}

/// A damaged pack is no second copy.
#[test]
fn loose_objects_do_not_go_for_a_damaged_pack() {
    let repo = Repo::new();
    let cache = repo.beside("cache");
    let parked = pinned(&repo, 1, Run::Parked);
    let found = discover(repo.root());
    let store = ReviewStore::find(&found, &cache).unwrap();
    let packs = std::fs::read_dir(store.join("objects/pack")).unwrap();
    let packs = packs.map(|entry| entry.unwrap().path());
    for pack in packs.filter(|path| path.extension().is_some_and(|kind| kind == "pack")) {
        let mut bytes = std::fs::read(&pack).unwrap();
        let last = bytes.len() - 25;
        bytes[last] ^= 0xff;
        std::fs::remove_file(&pack).unwrap();
        std::fs::write(&pack, bytes).unwrap();
    }
    let opened = ReviewStore::open(&git(), &found, &cache).unwrap();
    std::fs::remove_dir_all(store.join("objects/pack")).unwrap();
    assert!(is_held(&opened, &parked));
}

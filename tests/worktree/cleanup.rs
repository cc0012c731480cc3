//! `cleanup`: what dead runs left goes, and nothing else (the W list of scenarios).

use run_loop::domain::id::LoopId;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::{Journal, RunLock};

use crate::dead::{Dead, make};
use crate::fixture::{photo, same};
use crate::stores::open;
use crate::support::repo::Repo;
use crate::support::skipped;

/// Nothing was ever run: nothing to do, nothing made.
#[test]
fn without_a_cache_there_is_nothing_to_do() {
    let bench = crate::support::bench::Bench::new().ready();
    let before = photo(bench.repo.root().parent().unwrap());
    let ran = bench.run(&["cleanup"]);
    ran.ends(0);
    assert_eq!(ran.stdout, "freed 0 B\n");
    same(&before, &photo(bench.repo.root().parent().unwrap()));
}

/// W03: an ended run's folders go, its journal stays, and the gate still knows the approval.
#[test]
fn w03_what_an_ended_run_left_is_removed() {
    let dead = Dead::ended();
    dead.leftovers();
    let before = photo(dead.bench.repo.root().parent().unwrap());
    let told = dead.clean(&["--dry-run"]);
    assert!(told.contains("would remove job folders"), "{told}");
    assert!(told.contains("would remove evidence"), "{told}");
    assert!(
        told.contains("would remove review trees that wait"),
        "{told}"
    );
    same(&before, &photo(dead.bench.repo.root().parent().unwrap()));

    let told = dead.clean(&[]);
    assert!(told.contains("removed job folders"), "{told}");
    assert!(told.contains("removed review trees that wait"), "{told}");
    assert!(!dead.folder("jobs").exists() && !dead.folder("evidence").exists());
    assert!(Journal::load(&dead.state(), dead.run).is_ok());
    dead.bench.gate().ends(0);
    assert_eq!(dead.clean(&[]), "freed 0 B\n");
}

/// A killed run: what `resume` makes again goes, and what it cannot make again stays: the folder
/// of the job whose end is not in the journal. Nothing of the user's is touched.
#[test]
fn a_killed_run_keeps_what_a_resume_reads() {
    let dead = Dead::killed();
    assert!(dead.folder("trees").is_dir());
    let cache = dead.bench.repo.beside("home");
    let user = |all: std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        let mut all = all;
        all.retain(|path, _| !path.starts_with(&cache));
        all
    };
    let root = dead.bench.repo.root().parent().unwrap();
    let before = user(photo(root));
    let told = dead.clean(&["--dry-run"]);
    assert!(told.contains("would remove review trees"), "{told}");
    assert!(dead.folder("trees").is_dir());

    let ran = dead.bench.run(&["cleanup", "--format", "json"]);
    ran.ends(0);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let fates: Vec<(&str, &str)> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            (
                item["what"].as_str().unwrap(),
                item["fate"].as_str().unwrap(),
            )
        })
        .collect();
    assert!(fates.contains(&("trees", "removed")), "{fates:?}");
    assert!(fates.contains(&("jobs", "kept")), "{fates:?}");
    assert!(fates.contains(&("evidence", "removed")), "{fates:?}");
    assert!(!dead.folder("trees").exists());
    assert!(dead.folder("jobs").join(dead.job()).is_dir());
    assert!(!dead.folder("evidence").exists());
    same(&before, &user(photo(root)));
    // It goes on, and its end lets the rest go.
    let run = dead.run.to_string();
    dead.bench.run(&["cancel", &run]).ends(0);
    dead.clean(&[]);
    assert!(!dead.folder("jobs").exists());
}

/// Never by a missing process alone: whatever is not known keeps everything, and is said.
#[track_caller]
fn kept(dead: &Dead, words: &str) {
    let before = photo(&dead.cache());
    for args in [&["--dry-run"][..], &[]] {
        let told = dead.clean(args);
        assert!(told.contains(words), "no {words:?} in:\n{told}");
        assert!(!told.contains("removed"), "{told}");
    }
    same(&before, &photo(&dead.cache()));
}

/// W05: another machine's run on a shared disk.
#[test]
fn w05_a_run_of_another_machine_is_kept() {
    let dead = Dead::killed();
    dead.engine(|it| it["host"] = "another-machine".into());
    kept(&dead, "it was driven on another-machine");
}

/// W22: a number that was given to another process says that its owner is gone; the same process
/// still there says that it is not.
#[test]
fn w22_the_process_that_drove_it_is_told_by_its_start() {
    let dead = Dead::killed();
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let start: u64 = stat
        .rsplit_once(')')
        .unwrap()
        .1
        .split_ascii_whitespace()
        .nth(19)
        .unwrap()
        .parse()
        .unwrap();
    let pid = std::process::id();
    dead.engine(|it| {
        it["pid"] = pid.into();
        it["pid_start"] = start.into();
    });
    kept(&dead, "that drove it lives");
    dead.engine(|it| it["pid_start"] = serde_json::Value::Null);
    kept(&dead, "does not say enough");
    dead.engine(|it| it["pid_start"] = (start + 1).into());
    let told = dead.clean(&[]);
    assert!(told.contains("removed review trees"), "{told}");
}

#[test]
fn a_run_without_a_record_of_its_engine_is_kept() {
    let dead = Dead::killed();
    let record = dead.state().run_path(dead.run).join("engine.json");
    std::fs::write(&record, "{").unwrap();
    kept(&dead, "engine.json");
    // Without it the record at the source's lock tells, as long as it is this run's.
    std::fs::remove_file(&record).unwrap();
    let other = mint(9);
    let lock = RunLock::acquire(&dead.state(), dead.bench.repo.root(), other).unwrap();
    kept(&dead, "no record of who drove it");
    drop(lock);
}

/// The locks: a writer, the source's lock for this run, the run's own engine.
#[test]
fn a_run_whose_locks_are_held_is_kept() {
    let dead = Dead::killed();
    let held = Journal::hold_off(&dead.state(), dead.run).unwrap().unwrap();
    kept(&dead, "an engine drives this run");
    drop(held);
    let lock = RunLock::acquire(&dead.state(), dead.bench.repo.root(), dead.run).unwrap();
    kept(&dead, "its source is locked for it");
    drop(lock);
}

/// A damaged journal proves nothing.
#[test]
fn a_run_that_cannot_be_read_is_kept() {
    let dead = Dead::killed();
    let folder = dead.state().run_path(dead.run);
    // Its log alone would still hold every event.
    std::fs::remove_file(folder.join("journal.db-wal")).unwrap();
    std::fs::write(folder.join("journal.db"), "no journal").unwrap();
    kept(&dead, "the journal of run");
}

/// A cache that was copied or moved to another disk: whether its folders are ours is not known any more, which
/// is said, with what a person can do, and is no failure.
#[test]
fn trees_that_are_other_folders_now_are_kept() {
    let dead = Dead::killed();
    let slot = dead.folder("trees").join("ann");
    let before = dead.cache().join("before");
    std::fs::rename(&slot, &before).unwrap();
    let mut copy = std::process::Command::new("cp");
    assert!(
        copy.arg("-a")
            .args([&before, &slot])
            .status()
            .unwrap()
            .success()
    );
    let told = dead.clean(&[]);
    let trees = dead.folder("trees");
    let next = format!("nobody needs it; look first: ls -la {}", trees.display());
    assert!(
        told.contains("kept review trees") && told.contains(&next),
        "{told}"
    );
    assert!(slot.join("tree/README.md").exists());
}

/// A run that no known repository has: perhaps its disk is not mounted.
#[test]
fn an_unknown_run_is_kept() {
    let dead = Dead::ended();
    // The review trees that wait would go too.
    dead.clean(&[]);
    let stranger = dead.cache().join("jobs").join(mint(9).to_string());
    make(&stranger.join("x"));
    make(&dead.cache().join("trees/not-a-run"));
    kept(&dead, "no repository that is known here has this run");
    kept(&dead, "it is no folder of a run");
}

/// Where the user says so, what is left of a repository that is gone goes too; its runs are not touched, should it
/// come back.
#[test]
fn what_a_gone_repository_left_goes_where_that_is_said() {
    let dead = Dead::killed();
    let git = dead.bench.repo.root().join(".git");
    let away = dead.bench.repo.beside("away");
    std::fs::rename(&git, &away).unwrap();
    let gone = "if it is gone for good: run-loop cleanup --gone";
    kept(&dead, gone);
    let before = photo(&dead.cache());
    let told = dead.clean(&["--gone", "--dry-run"]);
    assert!(told.contains("would remove job folders"), "{told}");
    same(&before, &photo(&dead.cache()));
    // It may be a run of one that is there and cannot be read.
    let other = Repo::new();
    drop(open(&dead, &other));
    let state = other.root().join(".git/run-loop");
    std::fs::write(&state, "no folder").unwrap();
    let told = dead.clean(&["--gone"]);
    assert!(
        told.contains(gone) && dead.folder("jobs").exists(),
        "{told}"
    );
    assert!(told.contains("removed review store"), "{told}");
    std::fs::remove_file(state).unwrap();
    let told = dead.clean(&["--gone"]);
    for what in ["job folders", "review trees", "evidence"] {
        assert!(told.contains(&format!("removed {what}")), "{what}: {told}");
    }
    for kind in ["jobs", "trees", "evidence"] {
        assert!(!dead.folder(kind).exists(), "{kind}");
    }
    std::fs::rename(&away, &git).unwrap();
    let run = dead.run.to_string();
    dead.bench.run(&["show", &run]).ends(0);
    dead.clean(&["--gone"]);
    dead.bench.run(&["show", &run]).ends(0);
}

/// Started in another repository, or in none, runs are found by the review stores.
#[test]
fn runs_of_other_repositories_are_found_by_their_stores() {
    let dead = Dead::ended();
    dead.leftovers();
    let outside = dead.bench.repo.beside("tmp");
    let ran = dead
        .bench
        .command(&["cleanup"])
        .current_dir(outside)
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(told.contains("removed job folders"), "{told}");
}

/// What the journal does not name is not the run's, whoever put it there.
#[test]
fn what_the_journal_does_not_name_is_kept() {
    let dead = Dead::ended();
    dead.leftovers();
    make(&dead.folder("jobs").join(mint(9).to_string()));
    make(&dead.folder("evidence").join("77"));
    let told = dead.clean(&[]);
    assert!(told.contains("names no such job"), "{told}");
    assert!(told.contains("names no such round"), "{told}");
    assert!(!dead.folder("jobs").join(dead.job()).exists());
    assert!(!dead.folder("evidence").join("1").exists());
    assert!(dead.folder("evidence").join("77").is_dir());
}

/// W02: links among the folders are removed at most, never followed; a folder of trees without
/// our owner file is not ours.
#[test]
fn w02_nothing_is_removed_through_a_link() {
    let dead = Dead::ended();
    dead.leftovers();
    let precious = dead.bench.repo.beside("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "mine\n").unwrap();
    std::os::unix::fs::symlink(&precious, dead.folder("jobs").join(dead.job()).join("link"))
        .unwrap();
    std::os::unix::fs::symlink(&precious, dead.folder("evidence").join("1/link")).unwrap();
    make(&dead.folder("trees").join("ann"));
    std::fs::write(dead.folder("trees").join("ann/file"), "whose?\n").unwrap();
    let ran = dead.bench.run(&["cleanup"]);
    ran.ends(6).with("RL0506").says("does not name this run");
    assert_eq!(
        std::fs::read_to_string(precious.join("file")).unwrap(),
        "mine\n"
    );
    assert!(dead.folder("trees").join("ann/file").is_file());
    assert!(!dead.folder("jobs").exists());

    std::fs::remove_dir_all(dead.folder("trees")).unwrap();
    std::os::unix::fs::symlink(&precious, dead.folder("trees")).unwrap();
    let told = dead.clean(&[]);
    assert!(!told.contains("removed review trees"), "{told}");
    assert!(precious.join("file").is_file());
}

/// A cache folder that others can write to is nobody's proof of anything.
#[test]
fn a_cache_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let dead = Dead::ended();
    dead.leftovers();
    let jobs = dead.cache().join("jobs");
    std::fs::set_permissions(&jobs, std::fs::Permissions::from_mode(0o777)).unwrap();
    dead.bench
        .run(&["cleanup"])
        .ends(3)
        .with("RL0121")
        .says("other users can write");
    assert!(dead.folder("jobs").join(dead.job()).is_dir());
}

/// What belongs to somebody else is not ours to remove, whatever it is called. Only root can give a folder
/// away.
#[test]
fn a_cache_of_another_user_is_refused() {
    use std::os::unix::fs::MetadataExt as _;
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        return skipped("only root can give a folder to another user");
    }
    for kind in ["jobs", "evidence", ""] {
        let dead = Dead::ended();
        dead.leftovers();
        let theirs = dead.cache().join(kind);
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        dead.bench
            .run(&["cleanup"])
            .ends(3)
            .with("RL0121")
            .says("it belongs to another user");
        assert!(dead.folder("jobs").join(dead.job()).is_dir(), "{kind}");
    }
}

/// A run that died before its first event vouches for nothing; its folder goes.
#[test]
fn a_run_that_never_began_is_removed() {
    let dead = Dead::ended();
    let run = mint(9);
    drop(Journal::create(&dead.state(), run).unwrap());
    let path = dead.state().run_path(run);
    // This process made it and lives.
    let told = dead.clean(&[]);
    assert!(!told.contains("removed state"), "{told}");
    assert!(path.is_dir());
    let record = path.join("engine.json");
    let mut engine: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    engine["pid_start"] = 1.into();
    std::fs::write(&record, engine.to_string()).unwrap();
    let told = dead.clean(&[]);
    assert!(told.contains("removed state"), "{told}");
    assert!(!path.exists());
    assert!(Journal::load(&dead.state(), dead.run).is_ok());
}

fn mint(seed: u8) -> LoopId {
    let stamp = Stamp {
        at: Timestamp::from_millis(1_700_000_000_000),
        seed: [seed; 32],
    };
    LoopId::mint(&stamp, "loop")
}

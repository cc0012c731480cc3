//! One repository's store used by many runs, and by a repository that was moved.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};
use crate::support::repo;
use crate::support::source::Source;

/// Files with what they hold.
type Files<'a> = &'a [(&'a Path, &'a [u8])];

fn bench() -> Bench {
    Bench::new()
        .reviewer("reader", &ScriptedAgent::passing())
        .ready()
}

/// The stores in the cache, those that were set aside too.
fn stores(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.repo.beside("home").join(".cache/run-loop/stores");
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

fn started(bench: &Bench, folder: &Path) -> Child {
    bench
        .command(&["--base", "main", "--review-only"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Issue 3, item 2: eight runs at once, each in a working tree of its own, beside a garbage collection
/// in the user's repository. Each is approved for its own content, in one store that is whole.
#[test]
fn eight_runs_at_once_share_a_store() {
    let bench = bench();
    let branches: Vec<String> = (0..8).map(|number| format!("part-{number}")).collect();
    let folders: Vec<PathBuf> = branches
        .iter()
        .map(|branch| {
            let folder = bench.repo.beside(branch);
            let place = folder.to_str().unwrap();
            bench
                .repo
                .git(&["worktree", "add", "-q", "-b", branch, place, "main"]);
            std::fs::write(folder.join("README.md"), format!("# {branch}\n")).unwrap();
            repo::git(&folder, &["commit", "-q", "-am", branch]);
            // Uncommitted too: these objects are in the store alone.
            std::fs::write(folder.join("only-here.txt"), branch).unwrap();
            folder
        })
        .collect();
    let runs: Vec<Child> = folders
        .iter()
        .map(|folder| started(&bench, folder))
        .collect();
    bench.repo.git(&["gc", "-q", "--prune=now"]);
    for run in runs {
        Ran::of(&run.wait_with_output().unwrap()).ends(0);
    }
    let [store] = stores(&bench).try_into().unwrap();
    repo::git(&store, &["fsck", "--full", "--strict"]);
    for (branch, folder) in branches.iter().zip(&folders) {
        repo::git(folder, &["add", "only-here.txt"]);
        repo::git(folder, &["commit", "-q", "-m", "what was reviewed"]);
        bench
            .run(&["gate", "--base", "main", "--head", branch])
            .ends(0);
    }
    // The one that nobody reviewed.
    bench.gate().ends(5);
}

/// A repository that was moved keeps its approvals, and gets a store of its own: the old one is known
/// by a path and an inode that are nobody's now.
#[test]
fn a_moved_repository_goes_on() {
    let bench = bench();
    bench.review().ends(0);
    let before = stores(&bench);
    let moved = bench.repo.beside("moved");
    std::fs::rename(bench.repo.root(), &moved).unwrap();
    let run = |args: &[&str]| {
        let output = bench.command(args).current_dir(&moved).output().unwrap();
        Ran::of(&output)
    };
    run(&["gate", "--base", "main", "--head", "feature"]).ends(0);
    std::fs::write(moved.join("more.txt"), "more\n").unwrap();
    Ran::of(&started(&bench, &moved).wait_with_output().unwrap()).ends(0);
    assert_eq!(stores(&bench).len(), before.len() + 1);
    // Another repository in its old place has nothing to do with the old store.
    std::fs::create_dir(bench.repo.root()).unwrap();
    repo::git(
        &moved,
        &["clone", "-q", ".", bench.repo.root().to_str().unwrap()],
    );
    bench.repo.git(&["branch", "main", "origin/main"]);
    bench.gate().ends(5);
    bench.review().ends(0);
    assert_eq!(stores(&bench).len(), before.len() + 2);
}

/// What other runs published meanwhile is no tampering, by their journals; everything else in the
/// folder is: forged, changed, taken away, or hidden beside one that was published.
#[test]
fn only_what_a_journal_vouches_for_is_overlooked() {
    let bench = bench();
    bench.review().ends(0);
    let folder = bench.repo.root().join(".agents/reports/approvals");
    let files = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let [first] = files().try_into().unwrap();
    bench.repo.write("src/more.rs", "// more\n");
    bench.review().ends(0);
    let second = files().into_iter().find(|file| *file != first).unwrap();
    let (one, two) = (
        std::fs::read(&first).unwrap(),
        std::fs::read(&second).unwrap(),
    );
    let changed = |bytes: &[u8]| [bytes, b"\n"].concat();
    let another = folder.join("01a22993-a7b3-74f1-a44e-445a81e71332.json");
    let source = Source::of(&bench.repo, "main");
    // What lies there when the round is pinned, and what when it is measured.
    let trips = |before: Files<'_>, after: Files<'_>| {
        let lay = |files: Files<'_>| {
            std::fs::remove_dir_all(&folder).unwrap();
            std::fs::create_dir(&folder).unwrap();
            for (path, bytes) in files {
                std::fs::write(path, bytes).unwrap();
            }
        };
        lay(before);
        let pin = source.pin();
        lay(after);
        !source.measure(&pin).drift_from(&pin).trips.is_empty()
    };
    let (one, two) = (
        (first.as_path(), one.as_slice()),
        (second.as_path(), two.as_slice()),
    );
    assert!(!trips(&[], &[one]), "published");
    assert!(!trips(&[], &[one, two]), "both published");
    assert!(!trips(&[one], &[one, two]), "one more published");
    assert!(
        trips(&[], &[(one.0, &changed(one.1))]),
        "published and changed"
    );
    assert!(
        trips(&[], &[(&another, one.1)]),
        "under a name that no run has"
    );
    assert!(trips(&[], &[(one.0, two.1)]), "under another run's name");
    assert!(trips(&[one], &[]), "taken away");
    assert!(trips(&[one], &[(one.0, &changed(one.1))]), "changed");
    assert!(
        trips(&[one], &[two]),
        "taken away behind one that was published"
    );
    assert!(
        trips(&[], &[one, (&another, b"{}")]),
        "forged beside one that was published"
    );
    assert!(
        trips(&[], &[(&another, b"{}"), one]),
        "forged before one that was published"
    );
}

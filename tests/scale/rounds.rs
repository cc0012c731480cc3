//! Many rounds in one repository leave it as it was, and the cache small.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use run_loop::git::store::Budget;
use run_loop::git::{Repository, ReviewStore};

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::Bench;
use crate::support::source;

/// How many: `RUN_LOOP_TEST_ROUNDS=200` on demand.
fn rounds() -> usize {
    std::env::var("RUN_LOOP_TEST_ROUNDS").map_or(5, |number| number.parse().unwrap())
}

/// Everything below a folder: kind and bytes of each file.
fn everything(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(path.clone());
            }
            let bytes = if meta.is_file() {
                std::fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            found.insert(path, (meta.permissions().mode(), bytes));
        }
    }
    found
}

/// How large a text a round has that no other one has.
const NOISE: usize = 32 << 10;

/// Lines that nothing makes much smaller, others in each round.
fn noise(round: usize) -> Vec<u8> {
    let mut state = u64::try_from(round).unwrap() + 1;
    let letter = |at| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if at % 64 == 63 {
            return b'\n';
        }
        b'0' + u8::try_from(state >> 40 & 63).unwrap()
    };
    (0..NOISE).map(letter).collect()
}

#[track_caller]
fn keeps_to_its_budget(bench: &Bench, rounds: usize) {
    // The last 64 rounds, and the newest that was not there yet when the store was tidied.
    let stores = bench.repo.beside("home").join(".cache/run-loop/stores");
    let packed = || -> Vec<u64> {
        let all = everything(&stores);
        let of = |(path, (_, bytes)): (&PathBuf, &(u32, Vec<u8>))| {
            let is_pack = path.extension().is_some_and(|it| it == "pack");
            is_pack.then(|| u64::try_from(bytes.len()).unwrap())
        };
        all.iter().filter_map(of).collect()
    };
    let all = packed();
    assert_eq!(all.len(), rounds.min(64 + 1));
    assert!(all.iter().sum::<u64>() <= u64::try_from(all.len() * NOISE).unwrap());
    // A smaller budget in bytes is kept as well, and what fits in it stays.
    let git = source::git();
    let found = Repository::discover(&git, bench.repo.root()).unwrap();
    let budget = Budget {
        bytes: all.iter().max().unwrap() * 7 / 2,
        ..Budget::default()
    };
    drop(ReviewStore::open_within(&git, &found, stores.parent().unwrap(), &budget).unwrap());
    let left = packed();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left.iter().sum::<u64>() <= budget.bytes, "{left:?}");
}

/// Issue 3: after 200 rounds no object, ref, worktree entry, configuration line or file more.
#[test]
fn many_rounds_leave_nothing_in_the_repository_and_little_in_the_cache() {
    let found = finding("not yet", "high", "src/lib.rs", 1);
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::not_passing(&format!("[{found}]")))
        .reviewer("bob", &ScriptedAgent::passing())
        .ready();
    let root = bench.repo.root().to_owned();
    let state = root.join(".git/run-loop");
    let original = std::fs::read(root.join("src/lib.rs")).unwrap();
    let of_the_user = || {
        let mut all = everything(&root);
        all.retain(|path, _| !path.starts_with(&state));
        all
    };
    let before = of_the_user();
    let rounds = rounds();
    for round in 0..rounds {
        bench.repo.write(
            "src/lib.rs",
            format!("pub fn edit() -> usize {{\n    {round}\n}}\n"),
        );
        bench.repo.write("untracked.txt", noise(round));
        bench.review().ends(1);
    }
    bench.repo.write("src/lib.rs", &original);
    std::fs::remove_file(root.join("untracked.txt")).unwrap();
    // What a run left is its record, and no other file of ours grows in number.
    let records = std::fs::read_dir(state.join("runs")).unwrap();
    assert_eq!(records.count(), rounds);
    let after = of_the_user();
    for (path, was) in &before {
        assert_eq!(after.get(path), Some(was), "{}", path.display());
    }
    let more: Vec<_> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .collect();
    assert_eq!(more, Vec::<&PathBuf>::new());

    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
    let stored = bench.left_in_cache(&["stores"]);
    let temporary = stored.iter().filter(|path| path.contains("run-loop-tmp/"));
    assert_eq!(temporary.collect::<Vec<_>>(), Vec::<&String>::new());
    keeps_to_its_budget(&bench, rounds);
    let waiting: std::collections::BTreeSet<_> = bench
        .left_in_cache(&["pool"])
        .iter()
        .filter_map(|path| path.split('/').nth(2).map(str::to_owned))
        .collect();
    assert_eq!(
        waiting.len(),
        2,
        "the trees of the last panel alone: {waiting:?}"
    );
    let temporary = everything(&bench.repo.beside("tmp"));
    assert_eq!(temporary.keys().collect::<Vec<_>>(), Vec::<&PathBuf>::new());

    // Whoever is done with all of it takes it away, and begins anew.
    std::fs::remove_dir_all(&state).unwrap();
    assert!(
        everything(&root) == before,
        "all that was made lay in there"
    );
    bench.review().ends(1);
}

//! Many rounds in one repository leave it as it was, and the cache small.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::agents::{ScriptedAgent, finding};
use crate::support::bench::Bench;

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
    // One run first: what it makes once (locks, the index over all runs) is no growth.
    bench.review().ends(1);
    let of_the_user = || {
        let mut all = everything(&root);
        all.retain(|path, _| !path.starts_with(&state));
        all
    };
    let before = of_the_user();
    for round in 0..rounds() {
        bench.repo.write(
            "src/lib.rs",
            format!("pub fn edit() -> usize {{\n    {round}\n}}\n"),
        );
        bench.repo.write("untracked.txt", format!("{round}\n"));
        bench.review().ends(1);
    }
    bench.repo.write("src/lib.rs", &original);
    std::fs::remove_file(root.join("untracked.txt")).unwrap();
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
    let packs = stored
        .iter()
        .filter(|path| path.rsplit('.').next() == Some("pack"))
        .count();
    assert!(packs <= 64 + 1, "{packs} packs");
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
}

//! What a switch costs, counted: the files that it writes and the processes that it starts.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::fixture::{World, counted_trees};
use crate::support::repo::git;

/// A file and when it changed last: a new one may get the number of one that went.
type File = (u64, i64, i64);

/// Which file lies at each path, the agent's git left out.
fn files(tree: &Path) -> BTreeMap<PathBuf, File> {
    let mut found = BTreeMap::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            if !meta.is_dir() {
                let below = path.strip_prefix(tree).unwrap().to_owned();
                found.insert(below, (meta.ino(), meta.ctime(), meta.ctime_nsec()));
            } else if !path.ends_with(".git") {
                folders.push(path);
            }
        }
    }
    found
}

#[test]
fn a_switch_writes_only_what_differs() {
    let world = World::new();
    let before = files(&world.open("a", "one"));
    let tree = world.open("a", "two");
    let after = files(&tree);
    let kept = |path: &str| before.get(Path::new(path)) == after.get(Path::new(path));
    for path in ["same-size", "README.md", "bin/run.sh", "link", ".gitignore"] {
        assert!(kept(path), "{path} was written again");
    }
    assert!(!kept("src/lib.rs") && after.contains_key(Path::new("new/file")));
    assert!(!tree.join("deep").exists());
    world.release();
}

#[test]
fn what_an_agent_touched_is_written_again_and_nothing_else() {
    let world = World::new();
    let before = files(&world.open("a", "two"));
    let tree = world.root().join("a/tree");
    let file = std::fs::File::options()
        .append(true)
        .open(tree.join("same-size"))
        .unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    let after = files(&world.open("a", "two"));
    let differ = |(path, file): (&PathBuf, &File)| {
        (before.get(path) != Some(file)).then(|| path.to_str().unwrap().to_owned())
    };
    let written: Vec<_> = after.iter().filter_map(differ).collect();
    assert_eq!(written, ["same-size"]);
    world.release();
}

/// The first slot of a round asks git for what all have in common; the others ask nothing.
#[test]
fn the_other_slots_of_a_round_start_no_git() {
    let world = World::new();
    let (trees, log) = counted_trees(&world.repo);
    let started = || {
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, "").unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    for slot in ["a", "b", "c"] {
        world.open_of(&trees, slot, "one");
    }
    started();
    let tree = world.open_of(&trees, "a", "two");
    let first = started();
    assert!((1..=5).contains(&first.len()), "git processes: {first:?}");
    // Not every file is listed again: what changed from the last tree is asked for.
    let lists = |line: &String| line.contains(" ls-tree ");
    assert!(!first.iter().any(lists), "{first:?}");
    for slot in ["b", "c"] {
        world.open_of(&trees, slot, "two");
        assert!(started().is_empty(), "{slot}");
    }
    // The index is whole, and says of every file what the file system says.
    git(&tree, &["fsck"]);
    assert_eq!(git(&tree, &["diff-files", "--name-only"]), "");
    assert_eq!(git(&tree, &["diff-index", "--cached", "HEAD"]), "");
    assert_eq!(trees.release(), Vec::<String>::new());
    world.untouched();
}

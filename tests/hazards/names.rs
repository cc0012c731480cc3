//! Names of files that are data to some program on the way.

use std::os::unix::ffi::OsStrExt as _;

use run_loop::domain::code::Code;

use crate::support::repo::{Repo, git_command};
use crate::trial::{refused, same};

/// New, tracked and edited, tracked and flagged.
#[track_caller]
fn named(name: &[u8]) {
    let repo = Repo::new();
    let at = |folder: &str| {
        let folder = repo.root().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(std::ffi::OsStr::from_bytes(name))
    };
    for folder in ["edited", "hidden"] {
        std::fs::write(at(folder), "x\n").unwrap();
    }
    repo.commit("named");
    let flagged = git_command(repo.root())
        .args(["update-index", "--assume-unchanged", "--"])
        .arg(at("hidden"))
        .status()
        .unwrap();
    assert!(flagged.success());
    for folder in ["edited", "hidden", "new"] {
        std::fs::write(at(folder), "y\n").unwrap();
    }
    let seen = same(&repo);
    let listed = git_command(seen.source.store.git_dir())
        .args(["ls-tree", "-r", "-z", seen.pin.snapshot.as_str()])
        .output()
        .unwrap();
    let blob = "975fbec8256d3e8a3797e7a3611380f27c49f4ac";
    for folder in ["edited/", "hidden/", "new/"] {
        let entry = [
            b"100644 blob ",
            blob.as_bytes(),
            b"\t",
            folder.as_bytes(),
            name,
        ]
        .concat();
        let mut lines = listed.stdout.split(|byte| *byte == 0);
        assert!(lines.any(|line| line == entry), "{folder}");
    }
}

#[test]
fn not_utf_8() {
    named(b"bytes\xff\xfe\x80");
}

#[test]
fn line_breaks_and_tabs() {
    named(b"new\nline\ttab\r");
}

#[test]
fn quotes_and_backslashes() {
    named(b"\"quote\" 'back\\slash' $(x) `y`");
}

#[test]
fn leading_dash() {
    named(b"--all");
}

#[test]
fn magic_of_path_patterns() {
    named(b":(top)*");
    named(b"[a]?*");
}

#[test]
fn spaces_at_both_ends() {
    named(b" x ");
}

#[test]
fn escapes_and_bidirectional_text() {
    named("esc\u{1b}[31m\u{202e}txt".as_bytes());
}

#[test]
fn names_that_git_uses_itself() {
    let repo = Repo::new();
    for name in [
        "HEAD",
        "main",
        "refs/heads/main",
        "index",
        "@",
        "FETCH_HEAD",
    ] {
        repo.write(name, "x\n");
    }
    same(&repo)
        .shows("HEAD", "x\n")
        .shows("refs/heads/main", "x\n")
        .shows("@", "x\n");
}

#[test]
fn folders_that_sort_between_files() {
    let repo = Repo::new();
    for name in ["a.b", "a/b", "a-b", "a0", "ab/c"] {
        repo.write(name, "x\n");
    }
    same(&repo).shows("a/b", "x\n");
}

/// A name that could be a git directory on another system.
#[test]
fn names_that_could_be_a_git_directory_are_refused() {
    for name in [".GIT/config", "git~1/config", "deep/.Git/config"] {
        let repo = Repo::new();
        repo.write(name, "x\n");
        refused(
            &repo,
            Code::SnapshotRefused,
            name.split('/').next().unwrap(),
        );
    }
}

#[test]
fn long_names_and_deep_folders() {
    let repo = Repo::new();
    let long = "n".repeat(255);
    let deep = format!("{}/file.txt", vec!["folder"; 300].join("/"));
    let both = format!("both/{}/{long}", [long.as_str(); 9].join("/"));
    for path in [&long, &deep, &both] {
        repo.write(path, "x\n");
    }
    same(&repo)
        .shows(&long, "x\n")
        .shows(&deep, "x\n")
        .shows(&both, "x\n");
}

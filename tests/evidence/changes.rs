//! Every kind of change is named and gives something to review (scenarios V23, S19, S21, T-027).

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::{ChangedFile, FileStatus, UnreviewedKind};
use run_loop::domain::path::RepoPath;

use crate::fixture::{changed, failed, make, oid, pin, try_make};
use crate::support::repo::{Repo, git, git_command};

fn executable(repo: &Repo, path: &str) {
    let path = repo.root().join(path);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_pure_change_of_mode_is_shown() {
    let (_repo, made) = changed(|r| r.write("run.sh", "true\n"), |r| executable(r, "run.sh"));
    let file = made.file("run.sh");
    assert_eq!(file.status, FileStatus::ModeChanged);
    assert_eq!(
        (file.old_mode.as_str(), file.new_mode.as_str()),
        ("100644", "100755")
    );
    assert!(made.text().contains("old mode 100644\nnew mode 100755\n"));
    assert_eq!(made.evidence.parts.len(), 1);
}

#[test]
fn an_empty_file_is_shown() {
    let (_repo, made) = changed(|_| {}, |r| r.write("empty", ""));
    let file = made.file("empty");
    assert_eq!((file.status, file.size), (FileStatus::Added, Some(0)));
    assert_eq!((file.added, file.removed), (Some(0), Some(0)));
    assert!(made.text().contains("new file mode 100644\n"));
    assert_eq!(made.evidence.parts.len(), 1);
}

#[test]
fn a_pure_rename_is_shown() {
    let (_repo, made) = changed(
        |r| r.write("a", "1\n2\n3\n"),
        |r| {
            r.git(&["mv", "a", "b"]);
        },
    );
    let file = made.file("b");
    assert_eq!(file.status, FileStatus::Renamed);
    assert_eq!(file.old_path, Some(RepoPath::from("a")));
    assert!(made.text().contains("rename from a\nrename to b\n"));
    assert_eq!(made.evidence.files.len(), 1);
    assert!(file.changed_lines.is_empty());
}

#[test]
fn a_deletion_is_shown() {
    let (_repo, made) = changed(
        |r| r.write("a", "1\n2\n"),
        |r| {
            r.git(&["rm", "-q", "a"]);
        },
    );
    let file = made.file("a");
    assert_eq!((file.status, file.size), (FileStatus::Deleted, None));
    assert_eq!((file.added, file.removed), (Some(0), Some(2)));
    assert_eq!(file.unreviewed, None);
    assert!(made.text().contains("-1\n-2\n"));
}

#[test]
fn a_binary_is_named_and_not_reviewed() {
    let (_repo, made) = changed(
        |r| {
            r.write("gone.bin", b"\0old");
            r.write("moved.bin", b"\0moved along");
            r.write("mode.bin", b"\0mode");
        },
        |r| {
            r.write("new.bin", b"MZ\0\x01");
            r.git(&["rm", "-q", "gone.bin"]);
            r.git(&["mv", "moved.bin", "else.bin"]);
            executable(r, "mode.bin");
        },
    );
    let file = made.file("new.bin");
    assert_eq!(file.unreviewed, Some(UnreviewedKind::Binary));
    assert_eq!((file.size, file.added, file.removed), (Some(4), None, None));
    assert!(
        made.text()
            .contains("Binary files /dev/null and b/new.bin differ\n")
    );
    for path in ["gone.bin", "else.bin", "mode.bin"] {
        assert_eq!(
            made.file(path).unreviewed,
            None,
            "{path} brings no new bytes"
        );
    }
}

#[test]
fn a_file_is_binary_by_a_nul_among_its_first_8000_bytes() {
    let late = ["x".repeat(79) + "\n", "y\0z\n".to_owned()];
    let (_repo, made) = changed(
        |_| {},
        |r| {
            r.write("late.txt", late[0].repeat(100) + &late[1]);
            r.write("early.txt", late[0].repeat(99) + &late[1]);
        },
    );
    assert_eq!(made.file("late.txt").unreviewed, None);
    assert_eq!(
        made.file("early.txt").unreviewed,
        Some(UnreviewedKind::Binary)
    );
}

#[test]
fn a_pointer_of_lfs_is_named() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
    let (_repo, made) = changed(|_| {}, |r| r.write("big.psd", pointer));
    assert_eq!(
        made.file("big.psd").unreviewed,
        Some(UnreviewedKind::LfsPointer)
    );
}

#[test]
fn a_link_and_a_change_of_type_are_shown() {
    let (_repo, made) = changed(
        |r| r.write("file", "text\n"),
        |r| {
            std::fs::remove_file(r.root().join("file")).unwrap();
            symlink("/etc/passwd", r.root().join("file")).unwrap();
            symlink("README.md", r.root().join("link")).unwrap();
        },
    );
    let file = made.file("file");
    assert_eq!(file.status, FileStatus::TypeChanged);
    assert_eq!(
        (file.old_mode.as_str(), file.new_mode.as_str()),
        ("100644", "120000")
    );
    assert_eq!(made.file("link").new_mode, "120000");
    assert!(
        made.text()
            .contains("+/etc/passwd\n\\ No newline at end of file\n")
    );
}

/// S19: a submodule's move is shown, whatever `.gitmodules` and the user's settings say.
#[test]
fn a_submodule_that_moved_is_shown() {
    let repo = Repo::new();
    let inner = repo.beside("inner");
    git(repo.root(), &["clone", "-q", ".", inner.to_str().unwrap()]);
    let first = git(&inner, &["rev-parse", "HEAD"]);
    repo.write(
        ".gitmodules",
        "[submodule \"sub\"]\n\tpath = sub\n\turl = ../inner\n\tignore = all\n",
    );
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{first},sub"),
    ]);
    repo.git(&["add", ".gitmodules"]);
    repo.git(&["commit", "-q", "-m", "base"]);
    repo.git(&["tag", "base"]);
    let next = "1".repeat(40);
    repo.git(&["update-index", "--cacheinfo", &format!("160000,{next},sub")]);
    repo.git(&["commit", "-q", "-m", "moved"]);
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    repo.git(&["config", "diff.submodule", "log"]);
    let made = make(&repo, &[]);
    let file = made.file("sub");
    assert_eq!(file.unreviewed, Some(UnreviewedKind::Submodule));
    assert_eq!((file.size, file.added), (None, None));
    assert!(
        made.text()
            .contains(&format!("+Subproject commit {next}\n"))
    );
    assert_eq!(made.evidence.files.len(), 1);
}

/// S21: nothing to review is never evidence.
#[test]
fn no_change_is_no_evidence() {
    let repo = Repo::new();
    let folder = repo.beside("evidence");
    failed(
        try_make(&repo, &pin(&repo, "HEAD", "HEAD"), &[], &folder),
        "nothing differs",
    );
    assert!(!folder.exists());
}

/// T-023: a diff that cannot be made is a failure, never an empty diff.
#[test]
fn a_tree_that_is_missing_is_no_evidence() {
    let repo = Repo::new();
    let folder = repo.beside("evidence");
    let mut pin = pin(&repo, "HEAD", "HEAD");
    pin.identity.content_tree = oid(&repo, &"1".repeat(40));
    failed(try_make(&repo, &pin, &[], &folder), "git");
    assert!(!folder.exists());
}

#[test]
fn a_missing_blob_is_no_evidence() {
    let repo = Repo::new();
    repo.git(&["tag", "base"]);
    repo.write("a", "lost\n");
    repo.commit("a");
    let blob = repo.git(&["rev-parse", "HEAD:a"]);
    let (folder, name) = blob.split_at(2);
    std::fs::remove_file(repo.root().join(".git/objects").join(folder).join(name)).unwrap();
    let folder = repo.beside("evidence");
    failed(
        try_make(&repo, &pin(&repo, "base", "HEAD"), &[], &folder),
        "git",
    );
    assert!(!folder.exists());
}

/// The diff turns the base into the change: nothing is missing and nothing added.
#[test]
fn git_itself_applies_the_diff() {
    let names: [&[u8]; 8] = [
        b"with space",
        b"quote\"back\\slash",
        b"new\nline\ttab",
        b"-dash",
        "é\u{202e}x".as_bytes(),
        b"bytes\xff\xfe",
        b"esc\x1b[31m",
        b" x b",
    ];
    let at = |r: &Repo, name: &[u8]| r.root().join(std::ffi::OsStr::from_bytes(name));
    let (repo, made) = changed(
        |r| {
            r.write("keep", "a\nb\nc\nd\ne\nf\ng\nh\n");
            r.write("gone", "x");
            for name in names {
                std::fs::write(at(r, name), "one\ntwo\nthree\n").unwrap();
            }
        },
        |r| {
            r.write("keep", "a\nB\nc\nd\ne\nf\ng\nh\ni");
            r.write(
                "deep/er/new",
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n",
            );
            std::fs::remove_file(r.root().join("gone")).unwrap();
            for name in names {
                std::fs::write(at(r, name), "one\nTWO\nthree\nfour\n").unwrap();
            }
        },
    );
    let listed: Vec<&RepoPath> = made.evidence.files.iter().map(|f| &f.path).collect();
    let reference = git_command(repo.root())
        .args(["diff", "--name-only", "-z", "base", "HEAD"])
        .output()
        .unwrap()
        .stdout;
    let mut wanted: Vec<RepoPath> = reference
        .split(|b| *b == 0)
        .filter(|n| !n.is_empty())
        .map(RepoPath::new)
        .collect();
    wanted.sort();
    assert_eq!(listed, wanted.iter().collect::<Vec<_>>());

    let copy = repo.beside("copy");
    git(repo.root(), &["clone", "-q", ".", copy.to_str().unwrap()]);
    git(&copy, &["checkout", "-q", "base"]);
    let diff = made.folder.join("diff.patch");
    git(
        &copy,
        &[
            "apply",
            "--index",
            "--whitespace=nowarn",
            diff.to_str().unwrap(),
        ],
    );
    assert_eq!(
        git(&copy, &["write-tree"]),
        oid(&repo, "HEAD^{tree}").to_string()
    );
}

#[test]
fn changed_lines_are_those_of_a_diff_without_context() {
    let numbers: Vec<String> = (1..=60).map(|n| n.to_string()).collect();
    let old = numbers.join("\n") + "\n";
    let new = old
        .replace("\n7\n8\n", "\n7a\n8a\n8b\n")
        .replace("\n20\n", "\n")
        .replace("\n40\n", "\n40\nx\n")
        .replace("\n60\n", "\nend");
    let (repo, made) = changed(|r| r.write("f", &old), |r| r.write("f", &new));
    let hunks = repo.git(&["diff", "-U0", "base", "HEAD", "--", "f"]);
    let wanted: Vec<(u32, u32)> = hunks
        .lines()
        .filter_map(|line| line.strip_prefix("@@ "))
        .filter_map(|line| {
            let range = line.split('+').nth(1)?.split(' ').next()?;
            let (start, count) = range.split_once(',').unwrap_or((range, "1"));
            let (start, count): (u32, u32) = (start.parse().ok()?, count.parse().ok()?);
            (count > 0).then(|| (start, start + count - 1))
        })
        .collect();
    assert_eq!(wanted.len(), 3);
    assert_eq!(made.file("f").changed_lines, wanted);
}

#[test]
fn the_listing_has_the_agreed_form() {
    let (repo, made) = changed(
        |r| r.write("old", "a\nb\nc\nd\n"),
        |r| {
            r.git(&["mv", "old", "new"]);
            r.write("new", "a\nb\nc\nD\n");
            let odd = r.root().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
            std::fs::write(odd, "x\n").unwrap();
        },
    );
    let bytes = std::fs::read(made.folder.join("files.json")).unwrap();
    assert_eq!(made.evidence.files_sha256, Digest::of(&bytes));
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        json,
        serde_json::json!({"files": [
            {"path": "new", "status": "renamed", "old_path": "old", "old_mode": "100644",
             "new_mode": "100644", "size": 8, "added": 1, "removed": 1},
            {"path": "odd\u{fffd}", "path_b64": "b2Rk/w==", "status": "added",
             "old_mode": "000000", "new_mode": "100644", "size": 2, "added": 1, "removed": 0},
        ]})
    );
    drop(repo);
}

#[test]
fn made_again_it_is_the_same_and_private() {
    let (repo, first) = changed(|_| {}, |r| r.write("a", "1\n"));
    std::fs::write(first.folder.join("parts/009.patch"), "left over").unwrap();
    let again = make(&repo, &[]);
    assert_eq!(again.evidence, first.evidence);
    assert!(!first.folder.join("parts/009.patch").exists());
    let mode = |name: &str| {
        let meta = std::fs::symlink_metadata(first.folder.join(name)).unwrap();
        meta.permissions().mode() & 0o7777
    };
    assert_eq!((mode(""), mode("parts")), (0o700, 0o700));
    for file in ["files.json", "diff.patch", "parts/001.patch"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    let beside = std::fs::read_dir(first.folder.parent().unwrap())
        .unwrap()
        .count();
    assert_eq!(beside, 1, "no draft is left");
}

/// A link that somebody put in the folder's place goes; what it points at stays.
#[test]
fn a_link_in_the_folders_place_is_not_followed() {
    let (repo, first) = changed(|_| {}, |r| r.write("a", "1\n"));
    let precious = repo.beside("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("files.json"), "mine").unwrap();
    std::fs::remove_dir_all(&first.folder).unwrap();
    symlink(&precious, &first.folder).unwrap();
    let again = make(&repo, &[]);
    assert_eq!(again.evidence, first.evidence);
    assert_eq!(std::fs::read(precious.join("files.json")).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(precious).unwrap().count(), 1);
}

#[test]
fn files_are_in_the_order_of_their_paths() {
    let (_repo, made) = changed(
        |_| {},
        |r| {
            for name in ["b", "a/z", "a.b", "a-c/x"] {
                r.write(name, "x\n");
            }
        },
    );
    let paths: Vec<&ChangedFile> = made.evidence.files.iter().collect();
    assert!(paths.is_sorted_by_key(|file| &file.path));
    assert_eq!(paths.len(), 4);
}

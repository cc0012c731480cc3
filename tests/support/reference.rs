//! What plain git says: the tree that a capture is compared with, and the state it must not touch.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::repo::{Repo, git_command};

/// The tree that plain git makes of a working tree. `config` are `-c` settings.
#[track_caller]
pub fn reference(root: &Path, config: &[&str]) -> String {
    reference_with(root, config, &[])
}

/// The tree that plain git makes of a working tree, by an index seeded from HEAD plus the staged
/// entries: the usual recipe, with a new index that knows nothing of any file.
#[track_caller]
pub fn reference_with(root: &Path, config: &[&str], env: &[(&str, &OsStr)]) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let run = |args: &[&str], stdin: Option<&Path>| {
        let mut command = git_command(root);
        command.envs(env.iter().copied());
        for setting in config {
            command.args(["-c", setting]);
        }
        if let Some(path) = stdin {
            command.stdin(std::fs::File::open(path).unwrap());
        }
        let output = command
            .args(args)
            .env("GIT_INDEX_FILE", scratch.path().join("index"))
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        output.stdout
    };
    run(&["read-tree", "HEAD"], None);
    // What the user staged: ids and modes, but neither flags nor stat data.
    let staged = git_command(root)
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .args(["diff-index", "--cached", "--no-renames", "-z"])
        .args(["--ita-visible-in-index", "--ignore-submodules=none"])
        // A file may have the name, too.
        .args(["HEAD", "--"])
        .output()
        .unwrap();
    assert!(staged.status.success(), "{staged:?}");
    let mut lines = Vec::new();
    let mut fields = staged.stdout.split(|byte| *byte == 0);
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        let about = std::str::from_utf8(about).unwrap();
        let words: Vec<&str> = about.split(' ').collect();
        let line = if words[4] == "U" {
            format!("0 {}\t", words[3])
        } else {
            format!("{} {}\t", words[1], words[3])
        };
        lines.extend_from_slice(line.as_bytes());
        lines.extend_from_slice(path);
        lines.push(0);
    }
    // A path in a conflict is one that git tracks, whatever ignores it.
    let unmerged = git_command(root)
        .args(["ls-files", "--full-name", "-u", "-z"])
        .output()
        .unwrap();
    assert!(unmerged.status.success(), "{unmerged:?}");
    lines.extend(unmerged.stdout);
    let file = scratch.path().join("staged");
    std::fs::write(&file, lines).unwrap();
    run(&["update-index", "-z", "--index-info"], Some(&file));
    run(&["add", "-A"], None);
    let tree = run(&["write-tree"], None);
    String::from_utf8(tree).unwrap().trim_end().to_owned()
}

/// Bytes, mode and, where it counts, mtime.
type FileState = (Vec<u8>, u32, Option<(i64, i64)>);

/// Everything of a repository that a pin must leave alone, by what a user can see and by bytes.
#[derive(Debug, PartialEq, Eq)]
pub struct Untouched {
    answers: BTreeMap<&'static str, String>,
    files: BTreeMap<PathBuf, FileState>,
}

impl Untouched {
    pub fn of(repo: &Repo, root: &Path) -> Self {
        // Bytes first: the questions below refresh the index.
        let mut files = BTreeMap::new();
        walk(repo.root(), &mut files);
        if root != repo.root() {
            walk(root, &mut files);
        }
        let ask = |args: &[&str]| {
            let output = git_command(root)
                .env("GIT_OPTIONAL_LOCKS", "0")
                .args(args)
                .output()
                .unwrap();
            assert!(output.status.success(), "git {args:?}: {output:?}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let answers = [
            ("refs", ask(&["for-each-ref"])),
            (
                "status",
                ask(&["status", "--porcelain=v2", "-uall", "--branch"]),
            ),
            ("stash", ask(&["stash", "list"])),
            ("worktrees", ask(&["worktree", "list", "--porcelain"])),
            ("config", ask(&["config", "--list", "--local"])),
        ]
        .into();
        Self { answers, files }
    }
}

/// Bytes and mode of every file; the mtime too, except of objects: git freshens those it would
/// otherwise write again, so that a garbage collection does not take them.
fn walk(folder: &Path, files: &mut BTreeMap<PathBuf, FileState>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let in_objects = path.components().any(|part| part.as_os_str() == "objects");
        let time = (!in_objects).then(|| (meta.mtime(), meta.mtime_nsec()));
        if meta.is_dir() {
            files.insert(path.clone(), (Vec::new(), meta.mode(), time));
            walk(&path, files);
        } else if meta.is_symlink() {
            let target = std::fs::read_link(&path).unwrap();
            let bytes = target.into_os_string().into_encoded_bytes();
            files.insert(path, (bytes, meta.mode(), time));
        } else if meta.is_file() {
            files.insert(
                path.clone(),
                (std::fs::read(&path).unwrap(), meta.mode(), time),
            );
        }
    }
}

/// The tree that plain git makes of the user's own index as it stands, stat data and all.
#[track_caller]
pub fn in_place(root: &Path) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let index = scratch.path().join("index");
    let own = root.join(".git/index");
    std::fs::copy(&own, &index).unwrap();
    let modified = std::fs::metadata(&own).unwrap().modified().unwrap();
    let times = std::fs::FileTimes::new().set_modified(modified);
    let copy = std::fs::File::options().append(true).open(&index).unwrap();
    copy.set_times(times).unwrap();
    let run = |args: &[&str]| {
        let mut command = git_command(root);
        let output = command.args(args).env("GIT_INDEX_FILE", &index).output();
        let output = output.unwrap();
        assert!(output.status.success(), "git {args:?}: {output:?}");
        output.stdout
    };
    run(&["add", "-A"]);
    let tree = run(&["write-tree"]);
    String::from_utf8(tree).unwrap().trim_end().to_owned()
}

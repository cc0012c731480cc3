//! Clocks: an edit that leaves the stat data as they are. Every time is set, none is raced for; the
//! index is made to agree with what cannot be set, a file's ctime.

use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

use crate::support::repo::Repo;
use crate::trial::{moment, same, set_mtime};

const OLD: &str = "# A project\n";
const NEW: &str = "# a projecT\n";

/// README.md staged with a known mtime.
fn staged() -> Repo {
    let repo = Repo::new();
    set_mtime(&repo.root().join("README.md"), moment());
    repo.git(&["add", "README.md"]);
    repo
}

/// An edit of the same size, at the same time.
fn edit(repo: &Repo, content: &str) {
    repo.write("README.md", content);
    set_mtime(&repo.root().join("README.md"), moment());
}

/// Writes README.md's ctime into the index, or another one.
pub(crate) fn enter_ctime(repo: &Repo, ctime: Option<(u32, u32)>) {
    let meta = std::fs::metadata(repo.root().join("README.md")).unwrap();
    let of_file = || {
        let seconds = u32::try_from(meta.ctime()).unwrap();
        (seconds, u32::try_from(meta.ctime_nsec()).unwrap())
    };
    let (seconds, nanos) = ctime.unwrap_or_else(of_file);
    let path = repo.root().join(".git/index");
    let mut index = std::fs::read(&path).unwrap();
    let name = b"README.md\0";
    let at = index.windows(name.len()).position(|bytes| bytes == name);
    // 62 bytes of an entry stand before its name, and in version 3 two more where it has a flag of that.
    let before = match (&index[..8], index[at.unwrap() - 4] & 0x40) {
        (b"DIRC\0\0\0\x02", _) | (b"DIRC\0\0\0\x03", 0) => 62,
        (b"DIRC\0\0\0\x03", _) => 64,
        (other, _) => panic!("an index of {other:?}"),
    };
    let start = at.unwrap() - before;
    index[start..start + 4].copy_from_slice(&seconds.to_be_bytes());
    index[start + 4..start + 8].copy_from_slice(&nanos.to_be_bytes());
    std::fs::write(&path, index).unwrap();
}

fn index_at(repo: &Repo, seconds: u64) {
    let time = moment() + Duration::from_secs(seconds);
    set_mtime(&repo.root().join(".git/index"), time);
}

/// What plain git believes about the state: the hazard is really there.
fn looks_clean(repo: &Repo, settings: &[&str]) -> bool {
    let mut args = vec!["--no-optional-locks"];
    for setting in settings {
        args.extend(["-c", setting]);
    }
    args.extend(["status", "--porcelain"]);
    repo.git(&args).is_empty()
}

/// The index is as old as the file, so git looks inside; a copy with a later mtime would not.
#[test]
fn racily_clean_edit() {
    let repo = staged();
    edit(&repo, NEW);
    enter_ctime(&repo, None);
    index_at(&repo, 60);
    assert!(looks_clean(&repo, &[]), "a later mtime would hide it");
    index_at(&repo, 0);
    same(&repo).shows("README.md", NEW);
}

#[test]
fn racily_clean_edit_under_an_older_index() {
    let repo = staged();
    edit(&repo, NEW);
    enter_ctime(&repo, None);
    let time = moment() - Duration::from_hours(1);
    set_mtime(&repo.root().join(".git/index"), time);
    same(&repo).shows("README.md", NEW);
}

/// The same second, and a later fraction of it in the index.
#[test]
fn racily_clean_edit_in_the_same_second() {
    let repo = staged();
    edit(&repo, NEW);
    enter_ctime(&repo, None);
    let time = moment() + Duration::from_millis(900);
    set_mtime(&repo.root().join(".git/index"), time);
    same(&repo).shows("README.md", NEW);
}

/// Git marks a racily clean entry with size 0 when it writes the index again.
#[test]
fn racily_clean_edit_that_git_marked() {
    let repo = staged();
    edit(&repo, NEW);
    enter_ctime(&repo, None);
    index_at(&repo, 0);
    repo.write("other.txt", "x\n");
    repo.git(&["add", "other.txt"]);
    enter_ctime(&repo, None);
    index_at(&repo, 60);
    same(&repo).shows("README.md", NEW);
}

/// … and size 0 is then the size of the file.
#[test]
fn racily_clean_edit_that_git_marked_and_that_leaves_nothing() {
    let repo = staged();
    edit(&repo, NEW);
    enter_ctime(&repo, None);
    index_at(&repo, 0);
    repo.write("other.txt", "x\n");
    repo.git(&["add", "other.txt"]);
    edit(&repo, "");
    enter_ctime(&repo, None);
    index_at(&repo, 60);
    same(&repo).shows("README.md", "");
}

#[test]
fn racily_clean_index_without_an_edit() {
    let repo = staged();
    index_at(&repo, 0);
    same(&repo).shows("README.md", OLD).is_clean();
}

/// Only the ctime tells, and the user told git not to trust it.
#[test]
fn trustctime_false() {
    let repo = staged();
    repo.git(&["config", "core.trustctime", "false"]);
    edit(&repo, NEW);
    enter_ctime(&repo, Some((5, 5)));
    index_at(&repo, 60);
    assert!(looks_clean(&repo, &[]), "the setting hides it");
    same(&repo).shows("README.md", NEW);
}

/// Another file in its place, of the same size and time: the ctime and the inode tell.
#[test]
fn checkstat_minimal() {
    let repo = staged();
    repo.git(&["config", "core.checkStat", "minimal"]);
    repo.write("other", NEW);
    std::fs::rename(repo.root().join("other"), repo.root().join("README.md")).unwrap();
    set_mtime(&repo.root().join("README.md"), moment());
    index_at(&repo, 60);
    assert!(looks_clean(&repo, &[]), "the setting hides it");
    same(&repo).shows("README.md", NEW);
}

#[test]
fn edit_with_its_old_mtime_and_another_size() {
    let repo = staged();
    edit(&repo, "# Another project\n");
    enter_ctime(&repo, None);
    index_at(&repo, 60);
    same(&repo).shows("README.md", "# Another project\n");
}

#[test]
fn edit_in_the_future() {
    let repo = staged();
    repo.write("README.md", NEW);
    let time = moment() + Duration::from_hours(200_000);
    set_mtime(&repo.root().join("README.md"), time);
    same(&repo).shows("README.md", NEW);
}

#[test]
fn touched_without_an_edit() {
    let repo = staged();
    set_mtime(
        &repo.root().join("README.md"),
        moment() + Duration::from_hours(1),
    );
    same(&repo).is_clean();
}

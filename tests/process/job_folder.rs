//! Job folders: private, made once, copies only, removed whole.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use run_loop::agent::job_folder::JobFolder;
use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{JobId, LoopId};

use crate::job::{JOB, LOOP};

fn create(cache: &Path, prompt: &[u8], evidence: Option<&Path>) -> Result<JobFolder, Failure> {
    let (loop_id, job) = (LoopId::parse(LOOP).unwrap(), JobId::parse(JOB).unwrap());
    JobFolder::create(cache, loop_id, job, prompt, evidence)
}

/// Everything below a folder, with its mode.
fn listing(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let data = std::fs::symlink_metadata(&path).unwrap();
            let name = path
                .strip_prefix(folder)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            found.push((name, data.permissions().mode() & 0o777));
            if data.is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_job_folder_is_private_and_holds_copies() {
    let root = tempfile::tempdir().unwrap();
    let (cache, evidence) = (root.path().join("cache"), root.path().join("evidence"));
    std::fs::create_dir_all(evidence.join("parts")).unwrap();
    std::fs::write(evidence.join("parts/001.patch"), "one").unwrap();
    let folder = create(&cache, b"prompt", Some(&evidence)).unwrap();
    assert_eq!(folder.path(), cache.join("jobs").join(LOOP).join(JOB));
    let expected = [
        ("empty", 0o700),
        ("evidence", 0o700),
        ("evidence/parts", 0o700),
        ("evidence/parts/001.patch", 0o600),
        ("inbox", 0o700),
        ("outbox", 0o700),
        ("prompt.md", 0o600),
        ("tmp", 0o700),
    ]
    .map(|(name, mode)| (name.to_owned(), mode));
    assert_eq!(listing(folder.path()), expected);
    let copy = folder.evidence().join("parts/001.patch");
    std::fs::write(&copy, "changed by an agent").unwrap();
    assert_eq!(
        std::fs::read(evidence.join("parts/001.patch")).unwrap(),
        b"one"
    );
    assert_eq!(std::fs::metadata(copy).unwrap().nlink(), 1);
    assert!(!folder.stdout().starts_with(folder.path()));

    let parent = folder.path().parent().unwrap().to_owned();
    assert_eq!(folder.remove(), [""; 0]);
    assert_eq!(listing(&parent), []);
}

#[test]
fn a_job_folder_is_made_once() {
    let root = tempfile::tempdir().unwrap();
    let first = create(root.path(), b"prompt", None).unwrap();
    std::fs::write(first.report(), "a report").unwrap();
    let failure = create(root.path(), b"prompt", None).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert_eq!(
        std::fs::read(first.report()).unwrap(),
        b"a report",
        "the first is untouched"
    );
}

/// M-105.
#[test]
fn an_empty_prompt_is_refused() {
    let root = tempfile::tempdir().unwrap();
    assert!(create(root.path(), b" \n", None).is_err());
    assert_eq!(listing(root.path()), []);
}

/// M-103: what was written is removed when the folder cannot be completed.
#[test]
fn evidence_that_is_no_plain_file_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let (cache, evidence) = (root.path().join("cache"), root.path().join("evidence"));
    std::fs::create_dir(&evidence).unwrap();
    symlink("/etc/hostname", evidence.join("files.json")).unwrap();
    let failure = create(&cache, b"prompt", Some(&evidence)).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert!(failure.message.contains("files.json"), "{failure}");
    assert_eq!(listing(&cache.join("jobs").join(LOOP)), []);
}

#[test]
fn folders_that_are_links_are_refused() {
    for linked in ["cache", "cache/jobs"] {
        let root = tempfile::tempdir().unwrap();
        let elsewhere = root.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        let link = root.path().join(linked);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();
        let cache = root.path().join("cache");
        assert!(create(&cache, b"prompt", None).is_err(), "{linked}");
        assert_eq!(listing(&elsewhere), [], "{linked}");
    }
}

//! Full and read-only disks.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use run_loop::domain::code::Code;
use run_loop::store::{Artifacts, Folder, Journal, StateFolder};

use crate::sample::{Place, approved, run_id};

/// A small file system of our own; `None` where that is not allowed.
struct Tmpfs(tempfile::TempDir);

impl Tmpfs {
    fn mount(options: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder));
        }
        crate::support::skipped(
            "no file system can be mounted here (tests of bad disks need root)",
        );
        None
    }
    fn remount(&self, options: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(self.0.path())
            .status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).status());
    }
}

#[test]
fn a_full_disk_is_a_clear_failure_and_leaves_nothing_half_written() {
    let Some(disk) = Tmpfs::mount("size=600k") else {
        return;
    };
    let state = StateFolder::open(disk.0.path()).unwrap();
    let mut journal = Journal::create(&state, run_id(1)).unwrap();
    let events = approved(1, Path::new("/src"), 'd');
    journal.append(&events[..2]).unwrap();
    let artifacts = Artifacts::open(&state, run_id(1)).unwrap();
    let failure = artifacts.put(&vec![7; 700_000]).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert!(failure.message.contains("No space left"), "{failure}");
    assert!(
        failure.next.to_string().starts_with("df -h "),
        "{}",
        failure.next
    );
    let left = std::fs::read_dir(state.run_path(run_id(1)).join("artifacts")).unwrap();
    assert_eq!(left.count(), 0);

    // Now really full: the journal says so, and what was durable stays.
    let fill = disk.0.path().join("fill");
    drop(std::fs::write(&fill, vec![1; 700_000]));
    let failure = (0..200)
        .find_map(|_| journal.append(&events[1..2]).err())
        .expect("the disk is full");
    assert_eq!(failure.code, Code::JournalFailed);
    assert!(failure.next.to_string().starts_with("df -h "), "{failure}");
    drop(journal);
    std::fs::remove_file(&fill).unwrap();
    let entries = Journal::load(&state, run_id(1)).unwrap();
    assert_eq!(entries[0].event, events[0]);

    std::fs::write(disk.0.path().join("fill"), vec![1; 700_000]).unwrap_err();
    let (number, failure) = (2..60)
        .find_map(|number| Some((number, Journal::create(&state, run_id(number)).err()?)))
        .expect("no room for another run");
    assert!(
        !state.run_path(run_id(number)).exists(),
        "nothing half made"
    );
    let made = std::fs::read_dir(state.path().join("runs"))
        .unwrap()
        .count();
    assert_eq!(
        made,
        state.run_ids().unwrap().len(),
        "nor under another name"
    );
    assert!(matches!(
        failure.code,
        Code::StateUnwritable | Code::JournalFailed
    ));
}

#[test]
fn a_read_only_disk_is_a_clear_failure_and_can_be_read() {
    let Some(disk) = Tmpfs::mount("size=4m") else {
        return;
    };
    let state = StateFolder::open(disk.0.path()).unwrap();
    let events = approved(1, Path::new("/src"), 'd');
    let mut journal = Journal::create(&state, run_id(1)).unwrap();
    journal.append(&events).unwrap();
    drop(journal);
    disk.remount("ro");
    let again = StateFolder::find(disk.0.path()).unwrap().unwrap();
    assert_eq!(
        Journal::load(&again, run_id(1)).unwrap().len(),
        events.len()
    );
    let listed = run_loop::store::Index::open(&again).list(&again).unwrap();
    assert_eq!(listed.len(), 1);
    let failure = Journal::create(&again, run_id(2)).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert!(failure.message.contains("Read-only"), "{failure}");
    let refused = run_loop::store::RunLock::acquire(&again, Path::new("/src"), run_id(2));
    assert_eq!(refused.unwrap_err().code, Code::StateUnwritable);
    disk.remount("rw");

    let empty = Tmpfs::mount("size=1m,ro").unwrap();
    let failure = StateFolder::open(empty.0.path()).unwrap_err();
    assert_eq!(failure.code, Code::StateUnwritable);
    assert!(failure.message.contains("Read-only"), "{failure}");
}

/// T-051: a write stopped in the middle by a file size limit leaves nothing.
#[test]
fn t051_a_partial_write_leaves_nothing() {
    let place = Place::new();
    let mut child = Command::new("bash");
    child
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "limited"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "disk::writes_too_much_for_its_parent",
            "--nocapture",
        ])
        .env("RUN_LOOP_TEST_WRITE", place.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    assert!(
        child.status().unwrap().success(),
        "the write failed as it should"
    );
    assert_eq!(
        std::fs::read(place.folder.path().join("kept")).unwrap(),
        b"as before"
    );
    let names = Folder::open(place.folder.path()).unwrap().names().unwrap();
    assert_eq!(names, ["kept", "run-loop"]);
}

/// Not a test by itself: the limited process of the test above.
#[test]
fn writes_too_much_for_its_parent() {
    let Some(folder) = std::env::var_os("RUN_LOOP_TEST_WRITE") else {
        return;
    };
    let kept = Path::new(&folder).join("kept");
    std::fs::write(&kept, b"as before").unwrap();
    run_loop::store::atomic::write(&kept, &vec![1; 100_000]).unwrap_err();
    run_loop::store::atomic::write(&Path::new(&folder).join("new"), &vec![1; 100_000]).unwrap_err();
}

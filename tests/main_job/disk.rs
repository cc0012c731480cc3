//! Full and read-only disks under the state, the cache and the reports folder. They need a file
//! system of their own, so root; elsewhere they are skipped, and say so.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::{Engine, calls, counted};
use crate::support::skipped;

/// A small file system mounted on a folder.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path, options: &str) -> Option<Self> {
        // What lies under the mount is private too: it is used once the disk is gone.
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .unwrap();
        let mounted = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("mode=0700,{options}"),
                "tmpfs",
            ])
            .arg(folder)
            .stderr(Stdio::null())
            .status();
        if mounted.is_ok_and(|status| status.success()) {
            return Some(Self(folder.to_owned()));
        }
        skipped("no file system can be mounted here (tests of bad disks need root)");
        None
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

/// The main job with a bad disk at a folder: it fails with a code and the next command that shows the disk,
/// promotes nothing, and passes once the disk is gone.
fn with_disk(folder: impl Fn(&Bench) -> PathBuf, options: &str, codes: &[i32]) {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .also("checks")
        .ready();
    let folder = folder(&bench);
    let Some(disk) = Disk::mount(&folder, options) else {
        return;
    };
    let ran = bench.review();
    assert!(
        ran.code.is_some_and(|code| codes.contains(&code)),
        "{options} ended {:?}\n{}\n{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    ran.with("RL0");
    let shows = match options {
        "ro" => "next: findmnt --target /",
        _ => "next: df -h",
    };
    ran.with(shows);
    let manifests = bench
        .promoted()
        .into_iter()
        .filter(|path| path.starts_with("approvals/"));
    assert_eq!(manifests.count(), 0, "something was promoted");
    assert_ne!(bench.gate().code, Some(0));
    drop(disk);
    bench.review().ends(0);
    bench.gate().ends(0);
}

/// 4-30: a reviewer fills the cache's disk, and its report needs mending: once there is room again, the other
/// one's verdict is used.
#[test]
fn a_cache_disk_that_is_full_for_a_moment_ends_no_run() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (there, go) = (Point::new(&agents, "there"), Point::new(&agents, "go"));
    let folder = cache(&bench);
    let full = format!(
        "echo $$ > {}; read -r _ < {}; head -c 9000000 /dev/zero > {}/full 2> {}",
        there.path().display(),
        go.path().display(),
        folder.display(),
        bench.repo.beside("said").display()
    );
    let turns = [
        ScriptedAgent::plain_pass().and_then(&full),
        ScriptedAgent::passing(),
    ];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let ann = counted(&bench, "ann", &ScriptedAgent::passing());
    let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
    let Some(_disk) = Disk::mount(&folder, "size=8m") else {
        return;
    };
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    there.reached();
    go.release();
    let next = r#""next":["df","-h"]"#;
    engine.ended().ends(6).says("RL0513").says(next);
    std::fs::remove_file(folder.join("full")).unwrap();
    bench.run(&["resume"]).ends(0);
    assert_eq!(calls(&bench, "ann"), 1);
    bench.gate().ends(0);
}

fn state(bench: &Bench) -> PathBuf {
    bench.repo.root().join(".git/run-loop")
}
fn cache(bench: &Bench) -> PathBuf {
    bench.repo.beside("home").join(".cache/run-loop")
}
fn reports(bench: &Bench) -> PathBuf {
    bench.repo.root().join(".agents/reports")
}

#[test]
fn a_read_only_state_folder() {
    with_disk(state, "ro", &[3]);
}
#[test]
fn a_full_state_folder() {
    for size in ["size=16k", "size=64k", "size=140k"] {
        with_disk(state, size, &[3, 5, 6]);
    }
}
#[test]
fn a_read_only_cache_folder() {
    with_disk(cache, "ro", &[3]);
}
#[test]
fn a_full_cache_folder() {
    for size in ["size=16k", "size=36k", "size=48k", "size=80k", "size=116k"] {
        with_disk(cache, size, &[3, 5, 6]);
    }
}
#[test]
fn a_read_only_reports_folder() {
    with_disk(reports, "ro", &[3, 6]);
}
#[test]
fn a_full_reports_folder() {
    for size in ["size=4k", "size=12k"] {
        with_disk(reports, size, &[6]);
    }
}

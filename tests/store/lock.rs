//! One loop per source root, between real processes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use run_loop::domain::code::Code;
use run_loop::store::run_lock::{Holder, RunLock};

use crate::sample::{Place, run_id};

/// Runs this test binary again as another process that takes the lock and says so.
fn another_process(common_dir: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "lock::holds_the_lock_for_its_parent",
            "--nocapture",
        ])
        .env("RUN_LOOP_TEST_HOLD", common_dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(
        lines
            .map_while(Result::ok)
            .any(|line| line.contains("LOCKED")),
        "the other process did not take the lock"
    );
    child
}

/// Not a test by itself: the other process of the tests below.
#[test]
fn holds_the_lock_for_its_parent() {
    let Some(common_dir) = std::env::var_os("RUN_LOOP_TEST_HOLD") else {
        return;
    };
    let state = run_loop::store::StateFolder::open(Path::new(&common_dir)).unwrap();
    let _lock = RunLock::acquire(&state, Path::new("/src"), run_id(7)).unwrap();
    println!("LOCKED");
    std::io::stdout().flush().unwrap();
    // Until the parent closes the pipe, or kills us.
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
}

#[test]
fn a_lock_is_held_against_other_processes_and_freed_by_death() {
    let place = Place::new();
    let mut child = another_process(place.folder.path());

    let refused = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap_err();
    assert_eq!(refused.code, Code::LoopRunning);
    assert!(
        refused.message.contains(&run_id(7).to_string()),
        "{refused}"
    );
    assert!(
        refused.message.contains(&child.id().to_string()),
        "{refused}"
    );
    let status = format!("run-loop status {}", run_id(7));
    assert_eq!(refused.next.to_string(), status);
    let Holder::Held(Some(owner)) = RunLock::holder(&place.state, Path::new("/src")).unwrap()
    else {
        panic!("somebody holds it and says who");
    };
    assert_eq!((owner.run, owner.pid), (run_id(7), child.id()));
    assert!(owner.pid_start.is_some() && owner.boot_id.is_some());

    // Another source root is another lock.
    let other = RunLock::acquire(&place.state, Path::new("/other"), run_id(2)).unwrap();
    drop(other);

    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(
        RunLock::holder(&place.state, Path::new("/src")).unwrap(),
        Holder::Free,
        "the record that is left is no lock"
    );
    let lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap();
    assert_eq!(lock.run(), run_id(1));
}

#[test]
fn a_lock_is_not_handed_on_to_children() {
    // In a process of its own: between fork and exec the children of other tests hold everything.
    let alone = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lock::hands_no_lock_on"])
        .env("RUN_LOOP_TEST_ALONE", "1")
        .output()
        .unwrap();
    assert!(alone.status.success(), "{alone:?}");
}

/// Not a test by itself: the process of the test above.
#[test]
fn hands_no_lock_on() {
    if std::env::var_os("RUN_LOOP_TEST_ALONE").is_none() {
        return;
    }
    let place = Place::new();
    let lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap();
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    drop(lock);
    let again = RunLock::acquire(&place.state, Path::new("/src"), run_id(2)).unwrap();
    drop(again);
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Probes never look like a holder, and never keep an engine out.
#[test]
fn probes_do_not_disturb() {
    let place = Place::new();
    let go_on = std::sync::atomic::AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while go_on.load(std::sync::atomic::Ordering::Relaxed) {
                    RunLock::holder(&place.state, Path::new("/src")).unwrap();
                }
            });
        }
        for _ in 0..50 {
            let lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap();
            lock.proof().check().unwrap();
        }
        go_on.store(false, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A lock file that was replaced proves nothing: another loop may hold the new one.
#[test]
fn a_proof_fails_when_the_lock_file_was_replaced() {
    let place = Place::new();
    let lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap();
    assert_eq!(lock.proof().run(), run_id(1));
    lock.proof().check().unwrap();
    for entry in std::fs::read_dir(place.state.locks().path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "lock") {
            std::fs::remove_file(path).unwrap();
        }
    }
    lock.proof().check().unwrap_err();
    let _second = RunLock::acquire(&place.state, Path::new("/src"), run_id(2)).unwrap();
    lock.proof().check().unwrap_err();
}

#[test]
fn a_damaged_owner_record_hides_no_lock() {
    let place = Place::new();
    let _lock = RunLock::acquire(&place.state, Path::new("/src"), run_id(1)).unwrap();
    for entry in std::fs::read_dir(place.state.locks().path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "json") {
            std::fs::write(path, b"{").unwrap();
        }
    }
    let refused = RunLock::acquire(&place.state, Path::new("/src"), run_id(2)).unwrap_err();
    assert_eq!(refused.code, Code::LoopRunning);
}

/// One working tree has one lock, whatever path leads to it: through another mount it has another one. The
/// others of its repository have theirs.
#[test]
fn a_working_tree_is_locked_whatever_leads_to_it() {
    let place = Place::new();
    let tree = |name: &str, of: Option<&str>| {
        let path = place.folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        match of {
            None => std::fs::create_dir(path.join(".git")).unwrap(),
            Some(of) => {
                let text = format!("gitdir: /r/.git/worktrees/{of}\n");
                std::fs::write(path.join(".git"), text).unwrap();
            }
        }
        path
    };
    let (main, again) = (tree("main", None), tree("again", None));
    let (one, other) = (tree("one", Some("one")), tree("other", Some("other")));
    let mounted = tree("mounted", Some("one"));
    let _main = RunLock::acquire(&place.state, &main, run_id(1)).unwrap();
    let _one = RunLock::acquire(&place.state, &one, run_id(2)).unwrap();
    let _other = RunLock::acquire(&place.state, &other, run_id(3)).unwrap();
    for (locked, number) in [(&again, 4), (&mounted, 5)] {
        let refused = RunLock::acquire(&place.state, locked, run_id(number)).unwrap_err();
        assert_eq!(refused.code, Code::LoopRunning);
    }
}

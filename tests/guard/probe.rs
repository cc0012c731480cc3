//! What can be said of an attempt from its folder alone.

use run_loop::process::guard::{Probe, probe};

use crate::bench::Bench;

#[test]
fn nothing_there_is_a_lost_attempt() {
    let bench = Bench::new();
    assert_eq!(probe(&bench.capture()).unwrap(), Probe::Lost);
    std::fs::create_dir(bench.capture()).unwrap();
    assert_eq!(probe(&bench.capture()).unwrap(), Probe::Lost);
}

/// A number in a file proves nothing: the process of that number may be anybody's.
#[test]
fn a_lock_file_that_nobody_holds_is_no_guard() {
    let bench = Bench::new();
    std::fs::create_dir(bench.capture()).unwrap();
    let own = std::process::id();
    let text =
        format!(r#"{{"guard":{{"pid":{own},"start":1}},"agent":{{"pid":{own},"start":1}}}}"#);
    std::fs::write(bench.capture().join("guard.lock"), text).unwrap();
    assert_eq!(probe(&bench.capture()).unwrap(), Probe::Lost);
}

/// An outcome whose bytes were changed on the disk is an error, and never another end: each bit
/// of it, one by one.
#[tokio::test]
async fn a_damaged_outcome_is_an_error() {
    let bench = Bench::new();
    bench.run("exit 1").await;
    let whole = probe(&bench.capture()).unwrap();
    assert!(matches!(whole, Probe::Ended(_)));
    let path = bench.capture().join("outcome.json");
    let bytes = std::fs::read(&path).unwrap();
    for index in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1 << bit;
            std::fs::write(&path, &damaged).unwrap();
            let read = probe(&bench.capture());
            assert!(read.is_err(), "byte {index}, bit {bit}: {read:?}");
        }
    }
    for length in 0..bytes.len() {
        std::fs::write(&path, &bytes[..length]).unwrap();
        assert!(probe(&bench.capture()).is_err(), "cut at {length}");
    }
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(probe(&bench.capture()).unwrap(), whole);
}

/// An agent can put anything there; nothing but a file of ours is opened.
#[test]
fn links_and_pipes_are_not_followed() {
    let bench = Bench::new();
    let capture = bench.capture();
    std::fs::create_dir(&capture).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(capture.join("outcome.json"))
        .status();
    assert!(made.unwrap().success());
    assert!(probe(&capture).is_err());
    std::fs::remove_file(capture.join("outcome.json")).unwrap();
    std::os::unix::fs::symlink("/dev/null", capture.join("outcome.json")).unwrap();
    assert!(probe(&capture).is_err());
    let link = bench.path().join("link");
    std::os::unix::fs::symlink(&capture, &link).unwrap();
    assert!(probe(&link).is_err());
}

//! What is left of a job, shown without its help: who holds a pipe.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::agents::{quote, within};

/// A FIFO that everything of a job holds open for writing, so that its end shows that all of it is
/// gone, whatever it calls itself and wherever it went.
pub(crate) struct Trace {
    path: PathBuf,
}

impl Trace {
    pub(crate) fn new(folder: &Path) -> Self {
        let path = folder.join("alive");
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        Self { path }
    }
    /// The first line of a script; descriptor 9 is inherited by all that it starts.
    pub(crate) fn hold(&self) -> String {
        // Opened both ways, so that it does not wait for the reader.
        format!("exec 9<> {}", quote(self.path.to_str().unwrap()))
    }
    /// Waits until nobody holds it.
    #[track_caller]
    pub(crate) fn wait_until_nobody_is_left(&self) {
        let path = self.path.clone();
        within("the job's processes to be gone", move || {
            // The reader's open waits for a writer, who may be gone already: this one is there.
            let writer = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .unwrap();
            let mut reader = std::fs::File::open(&path).unwrap();
            drop(writer);
            reader.read_to_end(&mut Vec::new()).unwrap();
        });
    }
}

/// Whether a process lives; a zombie does not.
pub(crate) fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'))
}

/// Sends a signal with the system's own program.
#[track_caller]
pub(crate) fn kill(signal: &str, pid: &str) {
    let sent = Command::new("kill")
        .args([signal, "--", pid.trim()])
        .status();
    assert!(sent.unwrap().success(), "kill {signal} {pid}");
}

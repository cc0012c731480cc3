//! What became of an attempt whose engine is dead: read from its capture folder.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::process::getpid;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::domain::sealed::unseal;
use crate::process::captured::CapturedFile;
use crate::process::guard::files::{CaptureFolder, LOCK, OUTCOME, STDERR, STDOUT};
use crate::process::guard::lineage::{ProcessId, Seen};
use crate::process::guard::outcome::{Outcome, VERSION};

/// The largest file of ours that is read here.
const CAP: u64 = 1 << 20;
/// How often a running guard is looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// What is known of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Its guard lives and holds the lock.
    Running {
        /// Who that is, once it has said so.
        holder: Option<Holder>,
    },
    /// It is over, and this is how.
    Ended(Box<Outcome>),
    /// No guard lives, and none said how it ended: nothing was started, or the guard was killed.
    Lost,
}

/// Who holds an attempt, as the guard wrote it down: information, never proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// The guard; also the number of the job's session.
    pub guard: ProcessId,
    /// The program.
    pub agent: ProcessId,
}

impl Holder {
    /// This process as the guard of a program.
    pub(crate) fn new(agent: ProcessId) -> Self {
        let pid = getpid().as_raw_nonzero().get();
        let guard = match Seen::look(pid) {
            Ok(Some(seen)) => seen.id,
            Ok(None) | Err(_) => ProcessId { pid, start: 0 },
        };
        Self { guard, agent }
    }
}

/// The outcome in the bytes of its file: a flipped bit does not turn a failure into a success.
fn read(bytes: &[u8]) -> Result<Outcome, String> {
    let outcome: Outcome = unseal(bytes)?;
    if outcome.version == VERSION {
        Ok(outcome)
    } else {
        Err(format!("its version {} is not known", outcome.version))
    }
}

/// What is known of the attempt with this capture folder.
///
/// That a guard lives is proven by the lock it holds, never by a process number.
///
/// # Errors
/// When the folder or a file of ours in it cannot be read, or is damaged: then nothing is known,
/// which is neither an end nor its absence.
pub fn probe(capture_folder: &Path) -> io::Result<Probe> {
    let folder = match CaptureFolder::open(capture_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Probe::Lost),
        other => other?,
    };
    // In this order: a guard writes its outcome before it lets the lock go.
    if folder.is_locked()? {
        let text = folder.read_whole(LOCK, CAP)?.unwrap_or_default();
        let holder = serde_json::from_slice(&text).ok();
        return Ok(Probe::Running { holder });
    }
    let Some(bytes) = folder.read_whole(OUTCOME, CAP)? else {
        return Ok(Probe::Lost);
    };
    let outcome = read(&bytes).map_err(|reason| {
        let path = capture_folder.join(OUTCOME);
        io::Error::other(format!("{} is damaged: {reason}", path.display()))
    })?;
    Ok(Probe::Ended(Box::new(outcome)))
}

/// Waits until no guard holds the attempt; `Ended` or `Lost`.
///
/// The guard of a dead engine ends its job by itself, so this takes seconds; a caller who wants a
/// limit drops the future.
///
/// # Errors
/// As [`probe`].
pub async fn attach(capture_folder: &Path) -> io::Result<Probe> {
    loop {
        match probe(capture_folder)? {
            Probe::Running { .. } => sleep(PAUSE).await,
            over @ (Probe::Ended(_) | Probe::Lost) => return Ok(over),
        }
    }
}

/// The captured output of an attempt that is over: standard output, whole in memory if it has at
/// most `keep` bytes, and standard error, of which messages show the end. Each is believed only
/// if it has the outcome's digest.
#[must_use]
pub fn output(
    capture_folder: &Path,
    outcome: &Outcome,
    keep: usize,
) -> (CapturedFile, CapturedFile) {
    let read = |name: &str, captured, keep| {
        let open = || CaptureFolder::open(capture_folder)?.read(name);
        CapturedFile::read(&capture_folder.join(name), captured, open, keep)
    };
    let stdout = read(STDOUT, &outcome.stdout, keep);
    (stdout, read(STDERR, &outcome.stderr, 0))
}

//! How long an engine has driven its run, noted in the run's own folder while it lives.
//!
//! It is time of a machine that is awake, which no pair of dates tells. The note is written every few
//! seconds and not made durable: without it, or with one that is damaged or of an earlier engine, the
//! newest event says how long the run is known to have run.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};

use crate::domain::time::Timestamp;
use crate::store::folder::Folder;

/// The file in the run's folder.
const FILE: &str = "beat.json";
/// How large a note is: each is written over the one before it, at once.
const SIZE: usize = 128;

/// What is noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// When the engine took the run up, as its first event says.
    since: Timestamp,
    /// How many milliseconds it has driven it.
    ran_ms: u64,
}

/// Where an engine notes that it lives.
#[derive(Debug)]
pub(super) struct Beat(File);

impl Beat {
    /// Opens the note of a run. What it says is left there.
    pub(super) fn open(folder: &Folder) -> io::Result<Self> {
        folder.open_or_make_file(FILE).map(Self)
    }
    /// Notes how long the engine has driven the run that took it up then.
    pub(super) fn note(&self, since: Timestamp, ran_ms: u64) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(&Note { since, ran_ms })?;
        bytes.resize(SIZE, b' ');
        self.0.write_all_at(&bytes, 0).inspect_err(|_| {
            // Half of it over the one before may tell a time that nobody noted.
            drop(self.0.set_len(0));
        })
    }
    /// How long the engine that took the run up then is known to have driven it.
    pub(super) fn last(folder: &Folder, since: Timestamp) -> Option<u64> {
        let bytes = folder.read(FILE, 2 * SIZE as u64).ok()?;
        let note: Note = serde_json::from_slice(&bytes).ok()?;
        (note.since == since).then_some(note.ran_ms)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Read as _;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

    use super::*;

    /// What could not be written leaves no older note that would be believed.
    #[test]
    fn a_note_that_fails_leaves_none() {
        let file = memfd_create("beat", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap();
        let beat = Beat(File::from(file));
        let since = Timestamp::from_millis(1);
        beat.note(since, 2_000).unwrap();
        fcntl_add_seals(&beat.0, SealFlags::WRITE).unwrap();
        beat.note(since, 4_000).unwrap_err();
        let mut left = Vec::new();
        (&beat.0).read_to_end(&mut left).unwrap();
        assert_eq!(left, b"");
        assert_eq!(beat.0.metadata().unwrap().len(), 0);
    }
}

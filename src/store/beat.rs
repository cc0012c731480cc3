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
        self.0.write_all_at(&bytes, 0)
    }
    /// How long the engine that took the run up then is known to have driven it.
    pub(super) fn last(folder: &Folder, since: Timestamp) -> Option<u64> {
        let bytes = folder.read(FILE, 2 * SIZE as u64).ok()?;
        let note: Note = serde_json::from_slice(&bytes).ok()?;
        (note.since == since).then_some(note.ran_ms)
    }
}

//! How far a journal reaches, noted beside it after each commit.
//!
//! A write-ahead log that somebody removes, or cuts at a commit, leaves a journal that is whole and shorter.
//! The note knows better. It is not made durable: after a power cut it may be older than the journal, which
//! is no matter, and never newer. One that is missing or damaged says nothing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use serde::{Deserialize, Serialize};

use crate::domain::digest::hex;
use crate::domain::sealed::{seal, unseal};
use crate::store::folder::Folder;
use crate::store::journal::chain::Link;

/// The file in the run's folder.
const FILE: &str = "tail.json";
/// How large a note is: each is written over the one before it, at once.
const SIZE: usize = 256;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// The last event that is durable.
    seq: u64,
    /// Its hash.
    hash: String,
}

/// What is known of a journal's end beside the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) seq: u64,
    hash: String,
}

impl Noted {
    /// What the note of a run says.
    pub(super) fn read(folder: &Folder) -> Option<Self> {
        let bytes = folder.read(FILE, 2 * SIZE as u64).ok()?;
        let Note { seq, hash } = unseal(&bytes).ok()?;
        Some(Self { seq, hash })
    }
    /// Whether a row is the noted one, or is not the one that the note is about.
    pub(super) fn allows(&self, row: &Link) -> bool {
        row.seq != self.seq || hex(&row.hash) == self.hash
    }
}

/// Where a writer notes how far its journal reaches.
#[derive(Debug)]
pub(super) struct Tail(File);

impl Tail {
    /// Opens the note of a run. What it says is left there.
    pub(super) fn open(folder: &Folder) -> io::Result<Self> {
        folder.open_or_make_file(FILE).map(Self)
    }
    /// Notes that this row is durable.
    pub(super) fn note(&self, last: &Link) -> io::Result<()> {
        let note = Note {
            seq: last.seq,
            hash: hex(&last.hash),
        };
        let mut bytes = seal(&note)?;
        bytes.resize(SIZE, b' ');
        self.0.write_all_at(&bytes, 0).inspect_err(|_| {
            // Half of it over the one before may tell of a row that nobody wrote.
            drop(self.0.set_len(0));
        })
    }
}

//! The hash chain: each row is bound to its run, its number, its time and all rows before it.

use sha2::{Digest as _, Sha256};

use crate::domain::id::LoopId;
use crate::domain::time::Timestamp;

/// One link: a row's number and hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The row's number; 0 before the first row.
    pub(super) seq: u64,
    /// The row's hash.
    pub(super) hash: [u8; 32],
}

impl Link {
    /// Where a run's chain begins: no two runs share it, so no row fits into another journal.
    pub(super) fn genesis(run: LoopId) -> Self {
        let text = format!("run-loop journal 1\n{run}\n");
        Self {
            seq: 0,
            hash: Sha256::digest(text.as_bytes()).into(),
        }
    }
    /// The link of the row that follows.
    pub(super) fn next(&self, at: Timestamp, json: &str) -> Self {
        let seq = self.seq.saturating_add(1);
        let mut hash = Sha256::new();
        hash.update(self.hash);
        hash.update(seq.to_be_bytes());
        hash.update(at.as_millis().to_be_bytes());
        hash.update(json.as_bytes());
        Self {
            seq,
            hash: hash.finalize().into(),
        }
    }
}

//! What changed since the content that a slot last reported on.

use crate::domain::id::RoundNumber;
use crate::domain::slot::SlotName;

/// A round that slots last reported on, beside what a job works with now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The round.
    pub round: RoundNumber,
    /// Whose last report was on it; nobody where it is the job's own slot.
    pub by: Vec<SlotName>,
    /// What changed since.
    pub change: Change,
}

/// What changed between two contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the same content, against the same base.
    Same,
    /// It cannot be told, or not by a diff of the content.
    Unknown,
    /// The diff.
    Differs {
        /// The diff in parts, in order; none where nothing of it may be shown.
        parts: Vec<SeenPart>,
        /// Files that changed and that the project leaves out of diffs.
        hidden: usize,
        /// Bytes of the diff that are in no part, since it is too long.
        left_out: u64,
    },
}

/// A part of a diff since an earlier round. Unlike a part of the round's diff it has no receipt: it
/// helps to read that one and is no part of what is judged. What was taken back since, and what came
/// with another base, it shows alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenPart {
    /// Its number, `001` and on.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it stands in the prompt.
    pub in_prompt: bool,
}

impl Seen {
    /// Where its parts lie in the evidence folder of a job.
    #[must_use]
    pub fn folder(&self) -> String {
        format!("since/round-{}", self.round)
    }
    /// Its parts; none where there is no diff.
    #[must_use]
    pub fn parts(&self) -> &[SeenPart] {
        match &self.change {
            Change::Same | Change::Unknown => &[],
            Change::Differs { parts, .. } => parts,
        }
    }
}

//! What clean-up found, and what became of it.

use std::path::Path;

use serde::Serialize;

use crate::domain::id::LoopId;

/// Something that a run, or runs, left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Where it lies.
    pub path: String,
    /// What it is.
    pub what: What,
    /// The run that made it.
    pub run: Option<LoopId>,
    /// How many bytes it takes.
    pub bytes: u64,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
}

/// What was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Processes of a job whose guard was killed; they are ended.
    Processes,
    /// The review trees of a run, those in quarantine included.
    Trees,
    /// Review trees that wait for a later run.
    WaitingTrees,
    /// Job folders of a run.
    Jobs,
    /// The evidence of a run's rounds.
    Evidence,
    /// A run's state without any event.
    State,
    /// The record of a run that cannot be read.
    Damaged,
    /// A review store.
    Store,
    /// A review store that was set aside, or never completed.
    BrokenStore,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// It is gone.
    Removed,
    /// It would be removed.
    WouldRemove,
    /// It is not touched.
    Kept {
        /// Why.
        reason: String,
    },
    /// It lies elsewhere now, whole.
    PutAway {
        /// Where.
        to: String,
    },
    /// It would be moved, whole.
    WouldPutAway {
        /// Where.
        to: String,
    },
    /// It was to be removed and is still there, or a part of it.
    Left {
        /// What, each with its reason.
        left: Vec<String>,
    },
}

impl Item {
    pub(crate) fn new(path: &Path, what: What, run: Option<LoopId>, bytes: u64) -> Self {
        Self {
            path: path.display().to_string(),
            what,
            run,
            bytes,
            fate: Fate::WouldRemove,
        }
    }
    pub(crate) fn kept(mut self, reason: impl Into<String>) -> Self {
        self.fate = Fate::Kept {
            reason: reason.into(),
        };
        self
    }
    /// Removed, unless something is left.
    pub(crate) fn removed(mut self, left: Vec<String>) -> Self {
        self.fate = if left.is_empty() {
            Fate::Removed
        } else {
            Fate::Left { left }
        };
        self
    }
}

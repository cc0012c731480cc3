//! The source as it was seen around the jobs that may write: by these looks it is told whose the uncommitted
//! edits are that a later job takes away.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;

/// What the index alone held before a step of work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexAlone {
    /// The commit that has it, on HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Oid>,
    /// The commit that has sides of conflicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<Oid>,
}

/// One look at the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Its head.
    pub head: Oid,
    /// What lay in the working tree.
    pub tree: Oid,
    /// What the index was.
    pub index: Digest,
    /// What the index alone held, where that was looked for.
    pub alone: Option<IndexAlone>,
    /// Who may have written since the look before.
    pub since: Since,
}

/// Who may have written between a look and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Anybody: nobody of the run is known to have, or how far it came is not known.
    Anybody,
    /// Jobs of the run that may write; nobody else is known to have.
    Jobs,
}

impl Look {
    /// The look that a measurement took.
    #[must_use]
    pub fn of(pin: &Pin, since: Since) -> Self {
        Self {
            head: pin.identity.head.clone(),
            tree: pin.identity.tree.clone(),
            index: pin.tripwire.index.clone(),
            alone: pin.alone.clone(),
            since,
        }
    }
}

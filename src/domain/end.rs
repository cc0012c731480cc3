//! How a run ended.

use serde::{Deserialize, Serialize};

use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "snake_case", deny_unknown_fields)]
pub enum End {
    /// Every slot passed on content that measured the same to the last, and it was promoted.
    Approved {
        /// How many slots read the change; 0 means `checks` alone.
        readers: u32,
    },
    /// A run of one job whose agent completed it. It approves nothing.
    Completed {
        /// The job.
        job: JobId,
    },
    /// Anything else, with its reason.
    Failed {
        /// The reason.
        failure: Failure,
    },
}

impl End {
    /// The exit code of a run that ended so.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Approved { .. } | Self::Completed { .. } => Exit::Approved,
            Self::Failed { failure } => failure.code.exit(),
        }
    }
}

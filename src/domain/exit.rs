//! Exit codes, public and documented.

use serde::{Deserialize, Serialize};

/// How a command ends, for the caller's shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// 0: approved and promoted; the gate: the content is approved.
    Approved,
    /// 1: findings stand; the gate: the evidence says NOT PASS, or it was revoked.
    NotPass,
    /// 2: the command line or the configuration is wrong.
    Usage,
    /// 3: a precondition failed, nothing was changed.
    Refused,
    /// 4: the content or the base is not what was reviewed or approved.
    Stale,
    /// 5: no verdict, or evidence is missing.
    Inconclusive,
    /// 6: the creator, the planner or our own tools failed.
    ToolFailed,
    /// 7: a limit was reached: time, cost, no progress.
    Limit,
    /// 8: a human must decide.
    NeedsHuman,
    /// 75: parked on a limit of a provider.
    Parked,
    /// 126: a job could not be started, or its prompt not be written.
    NotStarted,
    /// 130: interrupted by SIGINT.
    Interrupted,
    /// 143: terminated by SIGTERM.
    Terminated,
}

impl Exit {
    /// Every exit, in the order of its code.
    pub const ALL: [Self; 13] = [
        Self::Approved,
        Self::NotPass,
        Self::Usage,
        Self::Refused,
        Self::Stale,
        Self::Inconclusive,
        Self::ToolFailed,
        Self::Limit,
        Self::NeedsHuman,
        Self::Parked,
        Self::NotStarted,
        Self::Interrupted,
        Self::Terminated,
    ];

    /// The process exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Approved => 0,
            Self::NotPass => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Stale => 4,
            Self::Inconclusive => 5,
            Self::ToolFailed => 6,
            Self::Limit => 7,
            Self::NeedsHuman => 8,
            Self::Parked => 75,
            Self::NotStarted => 126,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

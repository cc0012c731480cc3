//! How an attempt ended: what a guard writes as `outcome.json` before it exits.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::time::Timestamp;
use crate::process::guard::lineage::ProcessId;

/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The format's version, [`VERSION`].
    pub version: u32,
    /// The program's process; `None` when it was not started.
    pub agent: Option<ProcessId>,
    /// How that process ended.
    pub exit: Exit,
    /// Why we stopped it; `None` when it ended by itself.
    pub stopped: Option<StopReason>,
    /// Whether every process of the job is proven gone.
    pub gone: bool,
    /// What was still seen of it, if not; the first hundred.
    pub left: Vec<ProcessId>,
    /// The names of those that still ran when the program had ended by itself, and were ended then; the
    /// first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlived: Vec<String>,
    /// When it was started, by the machine's clock.
    pub started_at: Timestamp,
    /// When everything of it had ended, by the machine's clock.
    pub ended_at: Timestamp,
    /// Milliseconds between the two in which the machine was awake.
    pub took_ms: u64,
    /// Its standard output.
    pub stdout: Captured,
    /// Its standard error.
    pub stderr: Captured,
}

/// How the program's own process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum Exit {
    /// With a code.
    Code {
        /// The code.
        code: i32,
    },
    /// By a signal, ours or not.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// It was not started.
    NotStarted {
        /// Why.
        failure: Failure,
    },
    /// Nobody saw it end.
    Unknown,
}

/// Why we stopped a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The engine asked.
    Asked,
    /// Its budget was used up.
    Budget,
    /// The engine is gone.
    EngineGone,
    /// The guard was told to end (SIGTERM, SIGINT or SIGHUP), for instance at shutdown.
    GuardTold,
}

/// One captured channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captured {
    /// Bytes that the program printed.
    pub bytes_total: u64,
    /// Bytes that the file lacks.
    pub bytes_cut: u64,
    /// Bytes in the file, mark included.
    pub file_bytes: u64,
    /// The file's hash.
    pub sha256: Digest,
    /// Why the capture is not complete, where reading or writing failed.
    pub broken: Option<String>,
}

impl Captured {
    /// What stands for the output of a program that never ran.
    #[must_use]
    pub(crate) fn nothing() -> Self {
        Self {
            bytes_total: 0,
            bytes_cut: 0,
            file_bytes: 0,
            sha256: Digest::of(b""),
            broken: None,
        }
    }
}

impl Outcome {
    /// What the end means for the job. A program that we stopped is `TimedOut` or `Stopped`,
    /// whatever its code.
    #[must_use]
    pub fn ended(&self) -> Ended {
        match (self.stopped, &self.exit) {
            (_, Exit::NotStarted { failure }) => Ended::NotStarted {
                failure: failure.clone(),
            },
            (Some(StopReason::Budget), _) => Ended::TimedOut,
            (Some(StopReason::Asked | StopReason::EngineGone | StopReason::GuardTold), _) => {
                Ended::Stopped
            }
            (None, Exit::Code { code }) => Ended::Exited { code: *code },
            (None, Exit::Signal { signal }) => Ended::Signalled { signal: *signal },
            (None, Exit::Unknown) => Ended::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(exit: Exit, stopped: Option<StopReason>) -> Outcome {
        Outcome {
            version: VERSION,
            agent: None,
            exit,
            stopped,
            gone: true,
            left: Vec::new(),
            outlived: Vec::new(),
            started_at: Timestamp::from_millis(0),
            ended_at: Timestamp::from_millis(0),
            took_ms: 0,
            stdout: Captured::nothing(),
            stderr: Captured::nothing(),
        }
    }

    /// Design, section 8: a job that we stopped has no verdict, even if it exits 0.
    #[test]
    fn a_stopped_program_is_never_a_success() {
        for reason in [
            StopReason::Asked,
            StopReason::Budget,
            StopReason::EngineGone,
            StopReason::GuardTold,
        ] {
            let stopped = outcome(Exit::Code { code: 0 }, Some(reason));
            assert!(!stopped.ended().is_success(), "{reason:?}");
        }
        assert!(outcome(Exit::Code { code: 0 }, None).ended().is_success());
        assert_eq!(outcome(Exit::Unknown, None).ended(), Ended::Lost);
    }
}

//! Jobs that somebody delegates: an agent inside a job (a sub-job), or a person.
//!
//! Such a job is no review: its end is no verdict, and its report is no evidence. Every message
//! about a dispatch carries the job, the attempt and the token of that dispatch, and counts only
//! while it is the job's newest (rows M-141 to M-143).

use serde::{Deserialize, Serialize};

use crate::domain::agent::Agent;
use crate::domain::id::{JobId, MessageId};
use crate::domain::identity::{Doubt, Lost};
use crate::domain::job::{Ended, SessionUse, Stored};
use crate::domain::spent::Spent;
use crate::domain::time::{Stamp, Timestamp};

/// How many jobs one tree of jobs may hold (row M-130, scenario T-114).
pub const TREE_MAX: usize = 50;
/// Seconds that are waited for a job beyond its budget (row M-122).
pub const WAIT_GRACE: u64 = 300;
/// How long a message's detail may be, in bytes; the rest is cut.
pub const DETAIL_CAP: usize = 2048;

/// A delegated job, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The job inside which it was delegated; `None` when nobody says so.
    pub parent: Option<JobId>,
    /// Who is asked.
    pub agent: Agent,
    /// What it is asked, without the sentence that every job's prompt ends with.
    pub prompt: Stored,
    /// Its budget in seconds.
    pub budget: u64,
    /// The JSON Schema that its answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Stored>,
    /// The session of an earlier job that it goes on in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<Continues>,
}

/// A session of an agent's program in which a delegated job goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Continues {
    /// The job that was in it last.
    pub job: JobId,
    /// The program's own id of it.
    pub session: String,
    /// The folder that it stands in.
    pub directory: String,
    /// What was used in it so far, as far as all its jobs told.
    pub used: Spent,
    /// What that job reported: told to a new session, where this one is gone.
    pub report: Stored,
}

/// One dispatch of a delegated job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dispatch {
    /// The job.
    pub job: JobId,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// The attempt's own id: the name of its folder.
    pub folder: JobId,
    /// What every message about this dispatch must carry; it is no secret of the report.
    pub token: String,
    /// The folder it works in.
    pub directory: String,
    /// When its budget ends.
    pub deadline: Timestamp,
    /// Why the answer before this one did not do, where it is asked for once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
    /// Whether what follows from its end is an event of its own. An engine that knew none requested it
    /// otherwise, and folding its journal makes of that end what that engine did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judged: bool,
    /// Whether its agent's word that it is done is a claim, which its end bears out or not. Older engines
    /// closed the job by it, and folding their journals still does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub claims: bool,
    /// Which session of its agent's program it goes on in.
    #[serde(default, skip_serializing_if = "SessionUse::is_new")]
    pub session: SessionUse,
}

/// The id of the job that a message asks for, or, where none does, the run's own start.
#[must_use]
pub fn job_of(stamp: &Stamp, message: Option<MessageId>) -> JobId {
    let by = message.map_or_else(|| "the run".to_owned(), |message| message.to_string());
    JobId::mint(stamp, &format!("job delegated by {by}"))
}

/// Which dispatch a message is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fence {
    /// The job.
    pub job: JobId,
    /// The attempt.
    pub attempt: u32,
    /// The dispatch's token.
    pub token: String,
}

impl Fence {
    /// Whether it names this dispatch.
    #[must_use]
    pub fn is_of(&self, dispatch: &Dispatch) -> bool {
        (self.job, self.attempt) == (dispatch.job, dispatch.attempt) && self.token == dispatch.token
    }
}

/// What a message about jobs asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum JobRequest {
    /// Delegate a job.
    Submit {
        /// It.
        submission: Box<Submission>,
    },
    /// Something happened in a dispatch.
    Signal {
        /// Which dispatch.
        of: Fence,
        /// What.
        signal: Signal,
        /// Its words: general text.
        detail: String,
    },
    /// End a job.
    Cancel {
        /// The job.
        job: JobId,
        /// Why; its first word is the kind.
        reason: String,
    },
    /// Dispatch a job that ended once more, under a new token (row M-111).
    Redispatch {
        /// The job.
        job: JobId,
    },
}

/// What a dispatch says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// It began its work.
    Started,
    /// It is making progress.
    Progress,
    /// It waits for somebody's permission.
    PermissionRequired,
    /// It is done.
    Completed,
    /// It failed.
    Error,
}

impl Signal {
    /// Whether nothing may follow it.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Completed | Self::Error => true,
            Self::Started | Self::Progress | Self::PermissionRequired => false,
        }
    }
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Progress => "progress",
            Self::PermissionRequired => "permission_required",
            Self::Completed => "completed",
            Self::Error => "error",
        }
    }
}

/// How a delegated job was closed: once, by whoever came first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "closed", rename_all = "snake_case", deny_unknown_fields)]
pub enum Closed {
    /// Its agent completed it.
    Completed {
        /// What it said of it.
        detail: String,
    },
    /// It failed.
    Error {
        /// Why; the first word is the kind (row M-127). It may be empty.
        reason: String,
    },
    /// It was ended on purpose.
    Cancelled {
        /// Why; the first word is the kind.
        reason: String,
    },
}

impl Closed {
    /// The end of a job that was open when its run came to its end.
    #[must_use]
    pub fn with_its_run() -> Self {
        let reason = format!("{RUN_ENDED}: the run came to its end before the job did");
        Self::Cancelled { reason }
    }
    /// The status's word.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Error { .. } => "error",
            Self::Cancelled { .. } => "cancelled",
        }
    }
    /// Its words, without control characters.
    #[must_use]
    pub fn detail(&self) -> &str {
        match self {
            Self::Completed { detail } => detail,
            Self::Error { reason } | Self::Cancelled { reason } => reason,
        }
    }
    /// The kind of the reason: its first word, without a colon after it (row M-127).
    #[must_use]
    pub fn kind(&self) -> &str {
        let first = self.detail().split_ascii_whitespace().next();
        first.unwrap_or_default().trim_end_matches(':')
    }
    /// Whether the job may still be writing although it was closed (row M-131).
    #[must_use]
    pub fn is_unconfirmed(&self) -> bool {
        match self {
            Self::Completed { .. } | Self::Cancelled { .. } => false,
            Self::Error { .. } => {
                let kinds = [
                    "",
                    WALL_CLOCK_TIMEOUT,
                    "deadline_timeout",
                    "agent_blocked",
                    LOST,
                ];
                kinds.contains(&self.kind())
            }
        }
    }
}

/// The reason of a job whose budget was spent.
pub const WALL_CLOCK_TIMEOUT: &str = "wall_clock_timeout";
/// The reason of a job that could not be started.
pub const NOT_STARTED: &str = "not_started";
/// A limit of its provider ended its last dispatch: it waits to be dispatched again.
pub const LIMITED: &str = "limit";
/// The reason of a job whose answer did not fit its schema, asked twice.
pub const MISFIT: &str = "output_invalid";
/// The reason of a job whose end nobody saw.
pub const LOST: &str = "end_not_seen";
/// The reason of a job that was ended with the job inside which it was delegated.
pub const PARENT_ENDED: &str = "parent_ended";
/// The reason of a job that was open when its run came to its end.
pub const RUN_ENDED: &str = "run_ended";

/// What came back from a dispatch, once nothing of it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchOutcome {
    /// How its process ended.
    pub ended: Ended,
    /// Whether every process of it is gone.
    pub gone: bool,
    /// What it handed over, as stored.
    pub report: Option<Stored>,
    /// Why what lies there is no report, where something does.
    pub unusable: Option<String>,
    /// Why what it handed over does not fit the schema that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misfit: Option<String>,
    /// What it used, as far as it told.
    #[serde(default)]
    pub spent: Spent,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it had ended.
    pub ended_at: Timestamp,
    /// The names of processes that it left running, and that were ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlived: Vec<String>,
    /// Uncommitted edits that are gone since, where the source was pinned before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Box<Lost>>,
    /// Why it is not known whether there are any, where it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Box<Doubt>>,
}

impl DispatchOutcome {
    /// Whether it came to no end of its own, which is nobody's failure: it was stopped, or its
    /// provider is at a limit.
    #[must_use]
    pub fn was_cut_short(&self) -> bool {
        let stopped = matches!(self.ended, Ended::Stopped | Ended::Interrupted);
        self.gone && (stopped || self.ended.is_limit())
    }
}

/// A text of others, fit for one line of a journal: no control characters, and cut.
#[must_use]
pub fn detail(text: &str) -> String {
    let mut kept = String::new();
    for c in text.trim().chars() {
        let c = if c.is_control() { ' ' } else { c };
        if kept.len() + c.len_utf8() > DETAIL_CAP {
            break;
        }
        kept.push(c);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// T-105, row M-127: the leading word counts, whatever follows it.
    #[test]
    fn a_reason_is_classified_by_its_first_word() {
        for reason in [
            "wall_clock_timeout",
            "wall_clock_timeout:",
            "wall_clock_timeout: after 3600 s",
            "wall_clock_timeout (remote runner)",
            "agent_blocked",
            "",
        ] {
            let closed = Closed::Error {
                reason: reason.to_owned(),
            };
            assert!(closed.is_unconfirmed(), "{reason:?}");
        }
        let plain = Closed::Error {
            reason: "exited with 1, wall_clock_timeout".to_owned(),
        };
        assert!(!plain.is_unconfirmed());
    }

    #[test]
    fn a_detail_is_one_line_and_cut_at_a_character() {
        assert_eq!(detail(" a\nb\u{1b}[31m "), "a b [31m");
        let long = "ä".repeat(DETAIL_CAP);
        assert!(detail(&long).len() <= DETAIL_CAP);
    }
}

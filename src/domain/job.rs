//! One delegation to one agent: what it is asked, and what came back.

mod reading;

use serde::{Deserialize, Serialize};

use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::isolation::EvidenceKind;
pub use crate::domain::job::reading::{
    Answer, AnswerAction, ItemState, PlanAnswer, Prior, Reading, Reply, Review, Ruling, RulingKind,
};
use crate::domain::slot::SlotName;
use crate::domain::spent::Spent;
use crate::domain::time::Timestamp;
use crate::domain::trouble::Trouble;

/// What a job is for; as it sees it in `RUN_LOOP_JOB_ROLE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Write a plan for the task, in a detached tree.
    Plan,
    /// Object to the plan before it is implemented.
    Challenge,
    /// Refine the plan from objections or findings.
    Refine,
    /// Implement the task in the source root.
    Implement,
    /// Review the snapshot.
    Review,
    /// Answer every open finding, in the source root.
    Correct,
    /// Rule on refuted findings of one's own.
    Readjudicate,
    /// Rule on findings that their reviewer upheld.
    Arbitrate,
    /// Mend what was sustained, in the source root.
    Comply,
}

impl Role {
    /// Whether such a job rules on findings.
    #[must_use]
    pub fn rules(self) -> bool {
        match self {
            Self::Readjudicate | Self::Arbitrate => true,
            Self::Plan
            | Self::Challenge
            | Self::Refine
            | Self::Implement
            | Self::Review
            | Self::Correct
            | Self::Comply => false,
        }
    }
    /// The value of `RUN_LOOP_JOB_ROLE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Challenge => "challenge",
            Self::Refine => "refine",
            Self::Implement => "implement",
            Self::Review => "review",
            Self::Correct => "correct",
            Self::Readjudicate => "readjudicate",
            Self::Arbitrate => "arbitrate",
            Self::Comply => "comply",
        }
    }
    /// Whether the job works in the source root and may write there.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Implement | Self::Correct | Self::Comply => true,
            Self::Plan
            | Self::Challenge
            | Self::Refine
            | Self::Review
            | Self::Readjudicate
            | Self::Arbitrate => false,
        }
    }
}

/// A requested job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The job's id.
    pub id: JobId,
    /// What for.
    pub role: Role,
    /// In which round.
    pub round: RoundNumber,
    /// For which slot.
    pub slot: SlotName,
    /// Which of the slot's agents: 0 is its own, then the fallbacks.
    pub rank: usize,
    /// Why this job exists, the slot's first one or a later one.
    pub reason: AttemptReason,
    /// Which attempt of the slot in this round, from 1.
    pub attempt: u32,
    /// The nonce its report must carry.
    pub nonce: String,
    /// The evidence it judges by.
    pub evidence: EvidenceKind,
    /// When its budget ends.
    pub deadline: Timestamp,
    /// Its budget in seconds.
    pub budget: u64,
    /// Which session of its agent's program it continues.
    #[serde(default)]
    pub session: SessionUse,
}

/// Which session of its agent's program a job continues. What counts is new in each job all the
/// same: nonce, tree and receipts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "session", rename_all = "snake_case", deny_unknown_fields)]
pub enum SessionUse {
    /// None: it begins one.
    #[default]
    New,
    /// That of an earlier job, which stood in the same folder.
    Continues {
        /// The program's own id of it.
        id: String,
        /// The job that was in it last.
        from: JobId,
    },
    /// It begins one, since that of an earlier job could not be continued.
    Replaces {
        /// The job whose session it was.
        from: JobId,
    },
}

impl SessionUse {
    /// Whether it has nothing to do with an earlier one.
    #[must_use]
    pub fn is_new(&self) -> bool {
        *self == Self::New
    }
    /// Whether the program answered in another session than it was to go on in: what was said before, it may
    /// not know.
    #[must_use]
    pub fn was_left(&self, told: &Spent) -> bool {
        match (self, &told.session) {
            (Self::Continues { id, .. }, Some(other)) => id != other,
            (Self::Continues { .. }, None) | (Self::New | Self::Replaces { .. }, _) => false,
        }
    }
}

impl Job {
    /// Whether a review's word on a finding counts: it is of its own slot, or of an earlier round, since
    /// reviewers of one round are blind to each other (scenario C16).
    #[must_use]
    pub fn may_speak_of(&self, finding: &Finding) -> bool {
        finding.slot == self.slot || finding.round < self.round
    }
    /// What messages about this job must carry. It tells nothing of the nonce.
    #[must_use]
    pub fn token(&self) -> String {
        let text = format!("dispatch token of {}\n{}", self.id, self.nonce);
        Digest::of(text.as_bytes()).as_str()[..32].to_owned()
    }
}

/// Why a slot is asked (design, section 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case", deny_unknown_fields)]
pub enum AttemptReason {
    /// The first time this agent is asked in this round.
    First,
    /// Its last report was invalid; these are the problems. Once.
    ReAsk {
        /// What was wrong with the report, said to the agent.
        problems: Vec<String>,
    },
    /// Its last attempt failed on the way, without a valid or invalid report. Once.
    Fresh,
}

/// What came back from a job. Exactly one outcome closes a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobOutcome {
    /// How the agent's process ended.
    pub ended: Ended,
    /// The report, as stored in the run's artifacts; read once, after the processes were gone.
    pub report: Option<Stored>,
    /// The prompt, as stored.
    pub prompt: Option<Stored>,
    /// What it said on standard error, as stored, where it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<Stored>,
    /// What the report says.
    pub reading: Reading,
    /// What it used, as far as it told.
    #[serde(default)]
    pub spent: Spent,
    /// What confined it.
    #[serde(default)]
    pub confinement: Confinement,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it had ended.
    pub ended_at: Timestamp,
    /// The names of processes that it left running, and that were ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlived: Vec<String>,
}

/// Bytes in the run's artifacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// The bytes' hash, which is their name.
    pub sha256: Digest,
    /// How many.
    pub bytes: u64,
}

impl Stored {
    /// What these bytes are called.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            sha256: Digest::of(bytes),
            bytes: bytes.len() as u64,
        }
    }
}

/// How a job's process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum Ended {
    /// By itself, with this code.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// By itself, and not well: by its exit code, or by what it told of itself. Or its provider had
    /// refused it until its budget was spent: then that is told, and not the clock.
    Failed {
        /// The exit code, which may be 0; 143 where we ended it.
        code: i32,
        /// What kind of failure.
        trouble: Trouble,
        /// In its own words, shortened.
        message: String,
    },
    /// By a signal that was not ours.
    Signalled {
        /// The signal's number.
        signal: i32,
    },
    /// We stopped it: its budget was spent. It has no verdict, whatever lies there.
    TimedOut,
    /// Its guard stopped it, since somebody told it to who is not the engine (SIGTERM).
    Stopped,
    /// It could not be started.
    NotStarted {
        /// Why.
        failure: Failure,
    },
    /// Nobody saw its end: its guard was killed.
    Lost,
    /// The run stopped or its engine died while it ran: nothing of it counts but its claims, and
    /// the slot is asked again when the run goes on.
    Interrupted,
}

impl Ended {
    /// How the job ended, in words that follow its name.
    #[must_use]
    pub fn how(&self) -> String {
        match self {
            Self::Exited { code } => format!("exited with {code}"),
            Self::Failed {
                code,
                trouble,
                message,
            } => match trouble.named() {
                Some(trouble) => format!("failed, {trouble} (exit code {code}): {message}"),
                None => format!("exited with {code}: {message}"),
            },
            Self::Signalled { signal } => format!("was ended by signal {signal}"),
            Self::TimedOut => "was stopped at the end of its budget".to_owned(),
            Self::Stopped => "was ended by its guard, which somebody told to".to_owned(),
            Self::NotStarted { failure } => format!("could not be started: {}", failure.message),
            Self::Lost => "ended unseen".to_owned(),
            Self::Interrupted => "was interrupted".to_owned(),
        }
    }
    /// Whether the job failed on the way: it was asked, said nothing that counts, and the same may go well
    /// another time. A spent budget is no such failure, and nor is what is still wrong at the next attempt.
    #[must_use]
    pub fn failed_on_the_way(&self) -> bool {
        match self {
            Self::Exited { code } => *code != 0,
            Self::Failed { trouble, .. } => trouble.may_pass() && !trouble.is_limit(),
            Self::Signalled { .. } | Self::NotStarted { .. } | Self::Stopped | Self::Lost => true,
            Self::TimedOut | Self::Interrupted => false,
        }
    }
    /// Why nobody was asked, where that may have passed by the next minute: what the job needs could not be written.
    #[must_use]
    pub fn held_up(&self) -> Option<&Failure> {
        match self {
            Self::NotStarted { failure } if failure.code == Code::StateUnwritable => Some(failure),
            Self::NotStarted { .. }
            | Self::Exited { .. }
            | Self::Failed { .. }
            | Self::Signalled { .. }
            | Self::TimedOut
            | Self::Stopped
            | Self::Lost
            | Self::Interrupted => None,
        }
    }
    /// Whether a report of such a job may count: the agent ended by itself, with 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Exited { code: 0 })
    }
    /// The end of a job that ran, of which nothing can be read any more.
    #[must_use]
    pub fn unread(failure: &Failure) -> Self {
        Self::Exited { code: 0 }.without_its_answer(failure)
    }
    /// The end of a job that ran, where what it handed over could not be kept or read: it was asked,
    /// and has no answer. One that ended badly anyway has its own end.
    #[must_use]
    pub fn without_its_answer(self, failure: &Failure) -> Self {
        if !self.is_success() {
            return self;
        }
        Self::Failed {
            code: 0,
            trouble: Trouble::Unknown,
            message: format!(
                "what it handed over could not be taken: {}",
                failure.message
            ),
        }
    }
    /// Whether the job came so far that it may have cost something.
    #[must_use]
    pub fn was_asked(&self) -> bool {
        match self {
            Self::NotStarted { .. } => false,
            Self::Exited { .. }
            | Self::Failed { .. }
            | Self::Signalled { .. }
            | Self::TimedOut
            | Self::Stopped
            | Self::Lost
            | Self::Interrupted => true,
        }
    }
    /// Whether its provider took no key or login of it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(
            self,
            Self::Failed {
                trouble: Trouble::Auth,
                ..
            }
        )
    }
    /// Whether a limit of its provider ended it.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self, Self::Failed { trouble, .. } if trouble.is_limit())
    }
}

//! The facts a journal holds. State is nothing but the fold of them.

use serde::{Deserialize, Serialize};

use crate::domain::delegation::{Closed, Fence, JobRequest};
use crate::domain::effect::{Effect, Outcome};
use crate::domain::end::End;
use crate::domain::failure::Failure;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{EffectId, FindingId, JobId, MessageId, RoundNumber};
use crate::domain::identity::{Elsewhere, Remeasured, Trip};
use crate::domain::job::{AttemptReason, Reply};
use crate::domain::limits::Allowed;
use crate::domain::path::RepoPath;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::SlotName;
use crate::domain::time::{Stamp, Timestamp};
use crate::domain::verdict::PassedBy;
use crate::domain::work::Work;

/// One fact. Those that record an input carry its stamp; the others were decided from
/// the facts before them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// Input: the run was started.
    RunStarted {
        /// When, and its randomness.
        stamp: Stamp,
        /// What it is bound to.
        spec: Box<RunSpec>,
    },
    /// Input: an engine took the run up again.
    RunResumed {
        /// When, and its randomness.
        stamp: Stamp,
        /// What it is allowed from here on.
        #[serde(default, skip_serializing_if = "Allowed::is_nothing")]
        allowed: Allowed,
        /// When the engine before it was last seen alive, where an older engine noted that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<Timestamp>,
        /// How many milliseconds the engine before it drove the run, where that is known, by the clock
        /// of a machine that is awake.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ran: Option<u64>,
        /// What it found before anybody was asked, against what was measured last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Box<Remeasured>>,
        /// Why nobody can be shown any more what the round under way is about, where that is so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gone: Option<Failure>,
    },
    /// Input: somebody asked the run to stop.
    StopRequested {
        /// When, and its randomness.
        stamp: Stamp,
        /// By what.
        cause: StopCause,
        /// The message that asked for it, where one did: read again it says nothing new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageId>,
    },
    /// Input: an effect was performed.
    EffectDone {
        /// When, and its randomness.
        stamp: Stamp,
        /// Which one.
        effect: EffectId,
        /// What came of it.
        outcome: Box<Outcome>,
    },
    /// Input: somebody asked for something about delegated jobs, and it was granted.
    JobRequested {
        /// When, and its randomness.
        stamp: Stamp,
        /// The message: read again it says nothing new.
        message: MessageId,
        /// The dispatch that asked; `None` for a person.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Fence>,
        /// What was asked.
        request: Box<JobRequest>,
    },
    /// Input: a dispatch printed nothing for long, and did not say that it makes progress. It is
    /// told once, and ends nothing.
    JobSilent {
        /// When, and its randomness.
        stamp: Stamp,
        /// The job, of the loop or delegated.
        job: JobId,
        /// Which attempt.
        attempt: u32,
    },
    /// Input: a dispatch that was silent, or that waited on a question, printed something again.
    JobHeard {
        /// When, and its randomness.
        stamp: Stamp,
        /// The job, of the loop or delegated.
        job: JobId,
        /// Which attempt.
        attempt: u32,
        /// Whether it goes on after a question.
        answered: bool,
    },
    /// A delegated job was closed by how its dispatch ended, or by the run itself.
    JobClosed {
        /// The job.
        job: JobId,
        /// How.
        closed: Closed,
    },
    /// A wait for delegated jobs is over before its time: they are over, or it is to begin anew.
    WaitEnded {
        /// The wait.
        effect: EffectId,
        /// Whether jobs are open and are waited for anew: an engine took the run up, or all of them
        /// are at a limit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        again: bool,
    },
    /// A round opened.
    RoundOpened {
        /// Its number.
        round: RoundNumber,
    },
    /// An effect is to be performed; it is open until its `EffectDone`.
    EffectRequested {
        /// Its number.
        id: EffectId,
        /// What to do.
        effect: Box<Effect>,
    },
    /// The evidence was accepted and the slots are asked.
    ReviewOpened {
        /// The round.
        round: RoundNumber,
    },
    /// A claim was taken into the ledger.
    FindingRaised {
        /// The finding.
        finding: Box<Finding>,
    },
    /// An attempt gave no verdict and the slot is asked again.
    SlotRetried {
        /// The round.
        round: RoundNumber,
        /// The slot.
        slot: SlotName,
        /// Which of its agents is asked: 0 is its own, then the fallbacks.
        rank: usize,
        /// Why.
        reason: AttemptReason,
        /// How the attempt before ended, for people.
        ending: String,
    },
    /// The agent of a slot is at a limit of its provider: nothing is spent, and it is asked later
    /// where nobody else gives a verdict.
    SlotLimited {
        /// The round.
        round: RoundNumber,
        /// The slot.
        slot: SlotName,
        /// When it is worth asking again.
        until: Timestamp,
        /// Whether its program told just that moment.
        told: bool,
        /// Which of the slot's agents is asked next.
        rank: usize,
        /// In its words.
        ending: String,
    },
    /// Who does a step of work, or a delegated job, is at a limit of its provider: it is asked the same
    /// later.
    WorkLimited {
        /// The delegated job, where it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        job: Option<JobId>,
        /// When it is worth asking again.
        until: Timestamp,
        /// Whether its program told just that moment.
        told: bool,
        /// In its words.
        ending: String,
    },
    /// A slot will not be asked again in this round.
    SlotSettled {
        /// The round.
        round: RoundNumber,
        /// The slot.
        slot: SlotName,
        /// How it stands.
        settlement: Settlement,
    },
    /// A step of work opened.
    WorkOpened {
        /// Which.
        work: Work,
    },
    /// A step of work is asked again: once for the form of its answer, and as often as the run
    /// was interrupted while it ran.
    WorkRetried {
        /// Why.
        reason: AttemptReason,
        /// How the last attempt ended, for people.
        ending: String,
    },
    /// What became of a finding.
    FindingDisposed {
        /// The finding.
        finding: FindingId,
        /// What became of it.
        disposition: Disposition,
        /// The job that says so.
        job: JobId,
        /// Why, in its words.
        note: String,
    },
    /// A step of work is over.
    WorkClosed {
        /// Its job.
        job: JobId,
        /// What it handed over; `None` where it gave no answer that counts.
        reply: Option<Reply>,
        /// Whether the content is another one now.
        changed: bool,
        /// Paths that had uncommitted edits before and have lost them.
        lost: Vec<RepoPath>,
        /// Other branches that hold new commits.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        elsewhere: Vec<Elsewhere>,
    },
    /// A round closed.
    RoundClosed {
        /// The round.
        round: RoundNumber,
        /// With what result.
        result: RoundResult,
    },
    /// The run is over but for giving back what it holds.
    RunClosing {
        /// How it will end.
        end: End,
    },
    /// A job told no cost, so that what it cost does not count towards the run's limit. It is told
    /// once.
    CostUntold {
        /// The first such job.
        job: JobId,
    },
    /// The run is to be put aside: what is under way is ended, and what is held is given back.
    RunParking {
        /// Why, and the command that takes it up again.
        failure: Failure,
        /// When it is worth going on, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The run is put aside: it was interrupted before its end was decided, or it spent what it may
    /// spend. It can be resumed.
    RunSuspended {
        /// Why, and the command that takes it up again.
        failure: Failure,
        /// When it is worth going on, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The run is over. Nothing follows.
    RunEnded {
        /// How.
        end: End,
    },
}

/// Who asked the run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// SIGINT.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// `run-loop cancel`: the run ends for good.
    Cancel,
}

/// How a slot stands at the end of its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "settled", rename_all = "snake_case", deny_unknown_fields)]
pub enum Settlement {
    /// It passes.
    Passed {
        /// By what.
        by: PassedBy,
        /// The job whose report says so.
        job: JobId,
    },
    /// It does not pass.
    NotPassed {
        /// The job whose report says so.
        job: JobId,
    },
    /// It has no verdict.
    NoVerdict {
        /// Why: how each attempt ended.
        reason: String,
    },
}

/// A round's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case", deny_unknown_fields)]
pub enum RoundResult {
    /// Every slot that must pass did, and nothing moved.
    Passed,
    /// A slot said NOT PASS, or claims stand.
    NotPassed {
        /// What moved that no job may touch: what passed in the round is void.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tripped: Vec<Trip>,
    },
    /// Content or base moved: every approval of the round is void.
    Stale {
        /// Paths whose content moved.
        moved: Vec<RepoPath>,
        /// Whether the base moved.
        base_moved: bool,
        /// What else moved that no job may touch.
        tripped: Vec<Trip>,
    },
    /// Something moved that no job may touch, and an engine took the run up since: every approval of the
    /// round is void, and the next round reviews again.
    Void {
        /// What.
        tripped: Vec<Trip>,
        /// The same for people.
        reason: String,
    },
    /// A verdict is missing, or the tripwire voided the approvals.
    Inconclusive {
        /// Why.
        reason: String,
    },
}

impl RoundResult {
    /// Whether somebody refused it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        match self {
            Self::NotPassed { .. } => true,
            Self::Passed | Self::Stale { .. } | Self::Void { .. } | Self::Inconclusive { .. } => {
                false
            }
        }
    }
    /// Whether what passed in it counts for nothing, and neither does what its reviewers said to be
    /// mended: the content moved, or something was touched that no job may touch.
    #[must_use]
    pub fn is_void(&self) -> bool {
        match self {
            Self::Stale { .. } | Self::Void { .. } => true,
            Self::NotPassed { tripped } => !tripped.is_empty(),
            Self::Passed | Self::Inconclusive { .. } => false,
        }
    }
}

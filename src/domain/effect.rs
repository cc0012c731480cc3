//! What the engine asks the runtime to do, and what came of it. A requested effect is an event.

use serde::{Deserialize, Serialize};

use crate::domain::delegation::{Dispatch, DispatchOutcome};
use crate::domain::digest::Digest;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::{Job, JobOutcome, Role};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::slot::SlotName;
use crate::domain::time::Timestamp;

/// Something to be done in the world. Each can be done again after a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case", deny_unknown_fields)]
pub enum Effect {
    /// Capture the source into the review store and measure it: a round opens, or a step of work.
    Pin {
        /// The round, or the one that the work comes before.
        round: RoundNumber,
        /// The step of work, where it is one: its snapshot is held beside the round's own.
        #[serde(default)]
        work: Option<Role>,
    },
    /// Make the evidence of the round from its two content trees.
    MakeEvidence {
        /// The round.
        round: RoundNumber,
        /// The identity to show.
        pin: Pin,
        /// 32 hexadecimal digits that the receipts are derived from.
        receipt_seed: String,
        /// Trees of earlier rounds whose lines are to be found again.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        since: Vec<Oid>,
    },
    /// Open a slot's review tree at a snapshot, proved to hold exactly that.
    OpenTree {
        /// The round.
        round: RoundNumber,
        /// The slot.
        slot: SlotName,
        /// The snapshot's commit.
        snapshot: Oid,
        /// The snapshot's tree: what the proof compares with.
        tree: Oid,
        /// The base's commit, shown to the agent as the base branch.
        base: Oid,
    },
    /// Run a job to its end and read its report.
    RunJob {
        /// The job.
        job: Job,
    },
    /// Run one dispatch of a delegated job to its end.
    Delegate {
        /// The dispatch.
        dispatch: Dispatch,
    },
    /// Measure again and compare with the round's pin.
    Measure {
        /// The round.
        round: RoundNumber,
        /// Which of the later measurements.
        point: MeasurePoint,
        /// What it is compared with.
        pinned: Pin,
    },
    /// Wait until a moment, unless the wait is over before: for jobs to end.
    AwaitJobs {
        /// The jobs.
        jobs: Vec<JobId>,
        /// Until when.
        until: Timestamp,
    },
    /// Wait until a moment.
    Timer {
        /// What for.
        of: Timer,
        /// Until when.
        until: Timestamp,
    },
    /// Publish the evidence of the approved identity.
    Promote {
        /// The round.
        round: RoundNumber,
    },
    /// Give back everything that outlives the rounds: review trees and job folders.
    Release,
}

impl Effect {
    /// Whether it belongs to the step that is under way: what is delegated, waited for or given
    /// back belongs to none.
    #[must_use]
    pub fn is_of_step(&self) -> bool {
        match self {
            Self::Release | Self::Delegate { .. } | Self::AwaitJobs { .. } | Self::Timer { .. } => {
                false
            }
            Self::Pin { .. }
            | Self::MakeEvidence { .. }
            | Self::OpenTree { .. }
            | Self::RunJob { .. }
            | Self::Measure { .. }
            | Self::Promote { .. } => true,
        }
    }
    /// The job that it runs a process of, with the job that the dispatch's folder is named for.
    #[must_use]
    pub fn dispatched(&self) -> Option<(JobId, JobId)> {
        match self {
            Self::RunJob { job } => Some((job.id, job.id)),
            Self::Delegate { dispatch } => Some((dispatch.job, dispatch.folder)),
            Self::Pin { .. }
            | Self::MakeEvidence { .. }
            | Self::OpenTree { .. }
            | Self::AwaitJobs { .. }
            | Self::Timer { .. }
            | Self::Measure { .. }
            | Self::Promote { .. }
            | Self::Release => None,
        }
    }
    /// Whether it is nothing but time that passes.
    #[must_use]
    pub fn is_timer(&self) -> bool {
        matches!(self, Self::Timer { .. })
    }
    /// Whether it is still open when another engine takes the run up: publishing on an old
    /// measurement and giving back what is in use are not done again, and the time that a run may
    /// take goes on from where it stood. A wait for jobs is open until an event ends it, since older
    /// journals tell of its outcome.
    #[must_use]
    pub fn outlives_its_engine(&self) -> bool {
        match self {
            Self::Promote { .. }
            | Self::Release
            | Self::Timer {
                of: Timer::MaxWall, ..
            } => false,
            Self::Pin { .. }
            | Self::MakeEvidence { .. }
            | Self::OpenTree { .. }
            | Self::RunJob { .. }
            | Self::Delegate { .. }
            | Self::AwaitJobs { .. }
            | Self::Timer {
                of: Timer::Limit, ..
            }
            | Self::Measure { .. } => true,
        }
    }
}

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    /// The end of the time that the run may take.
    MaxWall,
    /// That a provider's limit is lifted.
    Limit,
}

/// When a round is measured again; the first measurement is its pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasurePoint {
    /// When a step of work has ended.
    AfterWork,
    /// When the last report is sealed.
    Sealed,
    /// Right before promotion.
    BeforePromotion,
}

/// What came of an effect; each effect has its own type of outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// Of [`Effect::Pin`].
    Pinned {
        /// The measurement, or why there is none.
        result: Done<Pin>,
    },
    /// Of [`Effect::MakeEvidence`].
    EvidenceMade {
        /// The evidence, or why there is none.
        result: Done<Evidence>,
    },
    /// Of [`Effect::OpenTree`].
    TreeOpened {
        /// The tree, or why there is none.
        result: Done<ReviewTree>,
    },
    /// Of [`Effect::RunJob`].
    JobEnded {
        /// What came back.
        outcome: JobOutcome,
    },
    /// Of [`Effect::Delegate`].
    Delegated {
        /// What came back.
        outcome: DispatchOutcome,
    },
    /// Of [`Effect::Measure`].
    Measured {
        /// The measurement, or why there is none.
        result: Done<Remeasured>,
    },
    /// Of [`Effect::Promote`].
    Promoted {
        /// What was published, or why nothing was.
        result: Done<Promotion>,
    },
    /// Of [`Effect::AwaitJobs`]: the moment has come.
    JobsAwaited,
    /// Of [`Effect::Timer`].
    TimerEnded {
        /// Whether the moment has come; else the wait was given up.
        elapsed: bool,
    },
    /// Of [`Effect::Release`].
    Released {
        /// What could not be removed, each with its reason; the run's end does not depend on it.
        left: Vec<String>,
        /// What was found then, where the run is put aside: nobody of it runs from there on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Box<Remeasured>>,
    },
}

/// A result that can be stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done<T> {
    /// It was done.
    Ok(T),
    /// It was not.
    Err(Failure),
}

impl<T> From<Result<T, Failure>> for Done<T> {
    fn from(result: Result<T, Failure>) -> Self {
        match result {
            Ok(value) => Self::Ok(value),
            Err(failure) => Self::Err(failure),
        }
    }
}

/// A review tree that was proved to hold exactly its snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewTree {
    /// Where the agent works; of this machine, never promoted.
    pub path: String,
}

/// What was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promotion {
    /// The manifest, relative to the control root.
    pub manifest: RepoPath,
    /// The manifest's hash: what `policy.attest: journal` looks for.
    pub manifest_sha256: Digest,
    /// Every file written, relative to the control root, the manifest last.
    pub files: Vec<RepoPath>,
}

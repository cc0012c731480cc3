//! How one slot stands in a round.

use std::collections::BTreeMap;

use crate::domain::effect::{Done, ReviewTree};
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::job::{AttemptReason, JobOutcome};
use crate::domain::time::Timestamp;
use crate::engine::state::{Phase, State};

impl State {
    /// How many rounds it has had, the one under way among them.
    pub(super) fn rounds_opened(&self) -> u32 {
        match &self.phase {
            Phase::Round { number, .. } => number.0,
            Phase::Unstarted
            | Phase::Between
            | Phase::Work { .. }
            | Phase::Closing { .. }
            | Phase::Ended { .. } => self.rounds.last().map_or(0, |round| round.number.0),
        }
    }
    /// How many rounds the run may have, by what it was shown so far (scenario C04).
    #[must_use]
    pub fn rounds_allowed(&self) -> u32 {
        let now = self.review().map(|review| &*review.evidence);
        let before = self.rounds.iter().filter_map(|it| it.evidence.as_deref());
        let run = self.run.as_ref();
        run.map_or(0, |run| run.review.rounds(before.chain(now)))
    }
}

/// One slot in one round: where it stands and what was already spent on it.
#[derive(Debug, Clone)]
pub struct SlotReview {
    /// Where it stands.
    pub progress: SlotProgress,
    /// Which of its agents is asked: 0 is its own, then the fallbacks.
    pub rank: usize,
    /// Why it is asked, this time.
    pub reason: AttemptReason,
    /// How often it was asked.
    pub attempts: u32,
    /// Whether the one re-ask was spent.
    pub re_asked: bool,
    /// Whether the one fresh attempt was spent.
    pub refreshed: bool,
    /// How each attempt without a verdict ended, for people.
    pub endings: Vec<String>,
    /// The last of its agents that was asked, or is to be.
    pub top: usize,
    /// Its agents that were at a limit of their provider and still have their attempt.
    pub limits: BTreeMap<usize, Limit>,
    /// How often an agent of it was at a limit.
    pub limited: u32,
}

/// A limit of a provider that kept an agent of a slot from answering.
#[derive(Debug, Clone)]
pub struct Limit {
    /// When it is worth asking again.
    pub until: Timestamp,
    /// Why the agent is asked then.
    pub reason: AttemptReason,
}

impl Default for SlotReview {
    fn default() -> Self {
        Self {
            progress: SlotProgress::Waiting,
            rank: 0,
            reason: AttemptReason::First,
            attempts: 0,
            re_asked: false,
            refreshed: false,
            endings: Vec::new(),
            top: 0,
            limits: BTreeMap::new(),
            limited: 0,
        }
    }
}

impl SlotReview {
    /// When the limit is lifted of the agent whose turn it is.
    #[must_use]
    pub fn limited_until(&self) -> Option<Timestamp> {
        self.limits.get(&self.rank).map(|limit| limit.until)
    }
    /// Whoever else still has an attempt that a limit kept from it: first the one whose limit is
    /// lifted first.
    #[must_use]
    pub fn kept_waiting(&self) -> Option<(usize, AttemptReason)> {
        let others = self.limits.iter().filter(|(rank, _)| **rank != self.rank);
        let first = others.min_by_key(|(rank, limit)| (limit.until, **rank));
        first.map(|(rank, limit)| (*rank, limit.reason.clone()))
    }
    /// How the slot was settled, once it is.
    #[must_use]
    pub fn settlement(&self) -> Option<&Settlement> {
        match &self.progress {
            SlotProgress::Settled { settlement } => Some(settlement),
            SlotProgress::Waiting
            | SlotProgress::Opening
            | SlotProgress::Open { .. }
            | SlotProgress::Running { .. }
            | SlotProgress::Answered { .. } => None,
        }
    }
    /// Whether it passed.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        matches!(self.settlement(), Some(Settlement::Passed { .. }))
    }
    /// Whether one of the places for parallel jobs is taken by it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match &self.progress {
            SlotProgress::Opening | SlotProgress::Open { .. } | SlotProgress::Running { .. } => {
                true
            }
            SlotProgress::Waiting
            | SlotProgress::Answered { .. }
            | SlotProgress::Settled { .. } => false,
        }
    }
    /// Why it cannot be asked for now, where that is so: its tree could not be opened, or nobody be started.
    pub(super) fn held_up(&self) -> Option<&Failure> {
        match &self.progress {
            SlotProgress::Open {
                result: Done::Err(failure),
            } => Some(failure),
            SlotProgress::Answered { outcome, .. } => outcome.ended.held_up(),
            SlotProgress::Open {
                result: Done::Ok(_),
            }
            | SlotProgress::Waiting
            | SlotProgress::Opening
            | SlotProgress::Running { .. }
            | SlotProgress::Settled { .. } => None,
        }
    }
    /// Whether something of it is under way or still to be judged.
    pub(super) fn is_at_work(&self) -> bool {
        match &self.progress {
            SlotProgress::Opening | SlotProgress::Running { .. } => true,
            SlotProgress::Answered { outcome, .. } => outcome.ended.held_up().is_none(),
            SlotProgress::Waiting | SlotProgress::Open { .. } | SlotProgress::Settled { .. } => {
                false
            }
        }
    }
}

/// Where a slot stands.
#[derive(Debug, Clone)]
pub enum SlotProgress {
    /// It is to be asked.
    Waiting,
    /// Its review tree was requested.
    Opening,
    /// Its review tree is there, or not.
    Open {
        /// Which.
        result: Done<ReviewTree>,
    },
    /// Its job runs.
    Running {
        /// The job.
        job: JobId,
    },
    /// Its job ended and is to be judged.
    Answered {
        /// The job.
        job: JobId,
        /// What came back.
        outcome: Box<JobOutcome>,
    },
    /// It will not be asked again in this round.
    Settled {
        /// How it stands.
        settlement: Settlement,
    },
}

//! The state of a run: nothing but the fold of its events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::domain::effect::{Done, Effect, MeasurePoint, Promotion, ReviewTree, Timer};
use crate::domain::end::End;
use crate::domain::event::{RoundResult, StopCause};
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::finding::{Disposition, Finding, Word};
use crate::domain::id::{EffectId, FindingId, JobId, MessageId, RoundNumber};
use crate::domain::identity::{Moved, Pin, Remeasured};
use crate::domain::job::{Job, JobOutcome};
use crate::domain::lines::Place;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::SlotName;
use crate::domain::time::{Stamp, Timestamp};
use crate::domain::work::Work;
use crate::engine::aside::{Aside, Voided};
use crate::engine::blocked::Blocked;
use crate::engine::budget::Budget;
use crate::engine::delegation::DelegationRecord;
use crate::engine::ledger::Bar;
use crate::engine::looks::Looks;
use crate::engine::review::SlotReview;
use crate::engine::work::{ClosedWork, WorkStage};

/// A run, as its journal tells it.
///
/// # Invariants
/// See [`crate::engine::check`].
#[derive(Debug, Clone, Default)]
pub struct State {
    /// What the run is bound to; `None` until it has started.
    pub run: Option<Arc<RunSpec>>,
    /// When the run was started.
    pub started_at: Option<Timestamp>,
    /// The stamp of the newest input: time and randomness for what is decided from it.
    pub stamp: Option<Stamp>,
    /// Effects requested so far.
    pub requested: u64,
    /// Effects that are to be performed, beside the phase, since they may outlive it.
    pub open: BTreeMap<EffectId, Effect>,
    /// Jobs, in the order of their dispatch, with what came back.
    pub jobs: BTreeMap<JobId, JobRecord>,
    /// Delegated jobs, in the order of their submission.
    pub delegations: BTreeMap<JobId, DelegationRecord>,
    /// Messages about jobs that were taken, each with the job it was about.
    pub messages: BTreeMap<MessageId, JobId>,
    /// Delegated jobs that were open at the end of a wait for them: once is enough.
    pub awaited: BTreeSet<JobId>,
    /// When the engine of now took the run up to try whether limits still hold.
    pub tried_at: Option<Timestamp>,
    /// How many effects had been requested when the engine of now took the run up.
    pub inherited: u64,
    /// Dispatches that are silent for long: told once, until they print something again.
    pub silent: BTreeSet<(JobId, u32)>,
    /// The loop's own jobs that said that they wait for a permission, and for what.
    pub blocked: BTreeMap<JobId, Blocked>,
    /// Review trees that are open.
    pub trees: BTreeMap<SlotName, ReviewTree>,
    /// The ledger.
    pub findings: Vec<Finding>,
    /// Where the lines that a finding cites are now, as long as they were found again.
    pub places: BTreeMap<FindingId, Place>,
    /// The tree that reviewers were shown last.
    pub shown: Option<Oid>,
    /// Identities that may not pass, since somebody claimed NOT PASS on them.
    pub bars: Vec<Bar>,
    /// Rounds that closed.
    pub rounds: Vec<ClosedRound>,
    /// Steps of work that are over.
    pub works: Vec<ClosedWork>,
    /// The job whose report is the plan in force.
    pub plan: Option<JobId>,
    /// What everybody said of a finding, in order.
    pub notes: BTreeMap<FindingId, Vec<Word>>,
    /// The content that each job of the loop was asked on.
    pub contents: BTreeMap<JobId, Oid>,
    /// The source as it was last seen while jobs may have run.
    pub watched: Option<Pin>,
    /// The looks around the jobs that may write.
    pub looks: Looks,
    /// The branch that HEAD was on at the first look, in full, or that it was on none.
    pub branch: Option<String>,
    /// The base before and since, once both it and its ref moved while jobs may have run.
    pub rebased: Option<(Oid, Oid)>,
    /// What moved while jobs may have run that outlasts its round.
    pub tampered: Vec<Moved>,
    /// What voids what passed in the round under way, so that it goes on no further.
    pub voided: Option<Voided>,
    /// How it was when everything was given back, once it was since the run is to be put aside.
    pub aside: Option<Box<Aside>>,
    /// What reviews of the round under way settled, and how it stood before: in a void round it stands so
    /// again.
    pub settled: Vec<Undo>,
    /// Who asked the run to stop.
    pub stop: Option<StopCause>,
    /// Whether everything was given back since the run was asked to stop.
    pub given_back: bool,
    /// What the run has spent and may spend.
    pub budget: Budget,
    /// Why the run is to be put aside, once it is.
    pub parking: Option<Parking>,
    /// Why the run is put aside, while it is.
    pub suspended: Option<Failure>,
    /// A case that cannot be; it ends the run.
    pub fault: Option<Failure>,
    /// What was published.
    pub promotion: Option<Promotion>,
    /// Where the run stands.
    pub phase: Phase,
}

/// How a finding stood before a review settled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// Which.
    pub finding: FindingId,
    /// Its disposition before.
    pub before: Disposition,
    /// The review.
    pub job: JobId,
}

/// Why a run is to be put aside, and until when.
#[derive(Debug, Clone)]
pub struct Parking {
    /// Why, and the command that takes it up again.
    pub failure: Failure,
    /// When it is worth going on, where that is known.
    pub until: Option<Timestamp>,
}

/// A job with what came back.
#[derive(Debug, Clone)]
pub struct JobRecord {
    /// The job.
    pub job: Job,
    /// What came back; `None` while it runs.
    pub outcome: Option<JobOutcome>,
}

/// A closed round.
#[derive(Debug, Clone)]
pub struct ClosedRound {
    /// Its number.
    pub number: RoundNumber,
    /// What was under review, where it came so far.
    pub pin: Option<Pin>,
    /// What the slots were shown, where it came so far.
    pub evidence: Option<Arc<Evidence>>,
    /// How the slots stood.
    pub slots: BTreeMap<SlotName, SlotReview>,
    /// The job whose report was the plan in force.
    pub plan: Option<JobId>,
    /// Its result.
    pub result: RoundResult,
    /// How the blocking findings stood when it closed.
    pub stood: BTreeMap<FindingId, Disposition>,
    /// How they stood after the turn of work that followed it, once the next round opened.
    pub left: Option<BTreeMap<FindingId, Disposition>>,
    /// Whether its last measurement found that nobody touched what agents must not touch. Where
    /// somebody did, its approvals are void whatever else it says.
    pub untouched: bool,
}

impl ClosedRound {
    /// Whether what passed in it counts for nothing, and neither does what its reviewers said to be mended.
    /// By its last measurement: what older journals say of a refused round does not tell what was touched.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.result.is_void() || (self.result.is_refused() && !self.untouched)
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub enum Phase {
    /// No event yet.
    #[default]
    Unstarted,
    /// Between steps: the agenda says what comes next.
    Between,
    /// In a step of work.
    Work {
        /// Which.
        work: Work,
        /// How far it came.
        stage: Box<WorkStage>,
    },
    /// In a round.
    Round {
        /// Its number.
        number: RoundNumber,
        /// How far it came.
        stage: Box<Stage>,
    },
    /// Winding up: what runs is stopped, what is held is given back.
    Closing {
        /// How the run will end.
        end: End,
        /// Whether everything was given back.
        released: bool,
        /// The review that it was in: its reports may still come, and what they claim counts.
        review: Option<Box<Review>>,
    },
    /// Over.
    Ended {
        /// How.
        end: End,
    },
}

/// How far a round came. Stages that wait for an effect alternate with stages that hold its
/// outcome, still to be decided upon.
#[derive(Debug, Clone)]
pub enum Stage {
    /// Nothing was asked for yet.
    Opened,
    /// The pin was requested.
    Pinning,
    /// The pin is there, or not.
    Pinned {
        /// Which.
        result: Done<Pin>,
    },
    /// The evidence was requested.
    Gathering {
        /// What is under review.
        pin: Pin,
    },
    /// The evidence is there, or not.
    Gathered {
        /// What is under review.
        pin: Pin,
        /// Which.
        result: Done<Arc<Evidence>>,
    },
    /// Slots are asked.
    Reviewing {
        /// The review.
        review: Review,
    },
    /// A later measurement was requested.
    Measuring {
        /// The review.
        review: Review,
        /// Which measurement.
        point: MeasurePoint,
    },
    /// A later measurement is there, or not.
    Measured {
        /// The review.
        review: Review,
        /// Which measurement.
        point: MeasurePoint,
        /// Which.
        result: Done<Remeasured>,
    },
    /// Promotion was requested.
    Promoting {
        /// The review.
        review: Review,
        /// The measurement right before.
        measured: Remeasured,
    },
    /// The evidence is published, or not.
    Promoted {
        /// The review.
        review: Review,
        /// Which.
        result: Done<Promotion>,
    },
}

/// What a round's slots judge, and how they stand.
#[derive(Debug, Clone)]
pub struct Review {
    /// What is under review.
    pub pin: Pin,
    /// What the slots are shown.
    pub evidence: Arc<Evidence>,
    /// How each slot stands.
    pub slots: BTreeMap<SlotName, SlotReview>,
    /// What was measured when the last report was sealed, once it was.
    pub sealed: Option<Remeasured>,
}

impl State {
    /// The state after these events.
    #[must_use]
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a crate::domain::event::Event>) -> Self {
        let mut state = Self::default();
        for event in events {
            crate::engine::fold(&mut state, event);
        }
        state
    }
    /// The effects that the runtime is to perform, or is performing.
    pub fn open_effects(&self) -> impl Iterator<Item = (EffectId, &Effect)> {
        self.open.iter().map(|(id, effect)| (*id, effect))
    }
    /// Whether what is under way must be stopped: the run's end is decided, or it is being put
    /// aside. The release of what the run holds is what is left to do then.
    #[must_use]
    pub fn is_winding_up(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. })
            || self.is_being_put_aside()
            || self.is_cancelled()
    }
    /// Whether somebody cancelled the run and its end is not decided yet: what a job left that may
    /// write is measured first.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.stop == Some(StopCause::Cancel) && self.is_undecided()
    }
    /// Whether the run is being put aside: it was interrupted, or it spent what it may spend, before
    /// its end was decided.
    #[must_use]
    pub fn is_being_put_aside(&self) -> bool {
        let asked = match self.stop {
            Some(StopCause::Interrupt | StopCause::Terminate) => true,
            Some(StopCause::Cancel) => false,
            None => self.parking.is_some(),
        };
        asked && self.is_undecided()
    }
    /// Whether the run goes on and its end may still be any.
    ///
    /// A promotion under way is waited for: its files may already count, and a run must not say
    /// "interrupted" over an approval that was published.
    #[must_use]
    pub fn is_undecided(&self) -> bool {
        let undecided = match &self.phase {
            Phase::Round { stage, .. } => {
                !matches!(**stage, Stage::Promoting { .. } | Stage::Promoted { .. })
            }
            Phase::Between | Phase::Work { .. } => true,
            Phase::Unstarted | Phase::Closing { .. } | Phase::Ended { .. } => false,
        };
        undecided && self.promotion.is_none() && self.fault.is_none()
    }
    /// Whether an engine before the one of now requested an effect.
    #[must_use]
    pub fn is_inherited(&self, effect: EffectId) -> bool {
        effect.0 <= self.inherited
    }
    /// What a job asked for, of the loop or delegated, where it asked for anything.
    #[must_use]
    pub fn blocked_of(&self, job: JobId) -> Option<&Blocked> {
        let delegated = self.delegations.get(&job).map(|record| &record.blocked);
        delegated.or_else(|| self.blocked.get(&job))
    }
    /// Whether such a wait is under way.
    #[must_use]
    pub fn has_timer(&self, wanted: Timer) -> bool {
        let mut open = self.open.values();
        open.any(|effect| matches!(effect, Effect::Timer { of, .. } if *of == wanted))
    }
    /// Whether the run is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }
    /// How the run ended, once it is over.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.phase {
            Phase::Ended { end } => Some(end),
            Phase::Unstarted
            | Phase::Between
            | Phase::Work { .. }
            | Phase::Round { .. }
            | Phase::Closing { .. } => None,
        }
    }
    /// The review of the round under way, from the moment its slots are asked, until the run is over.
    #[must_use]
    pub fn review(&self) -> Option<&Review> {
        let stage = match &self.phase {
            Phase::Round { stage, .. } => stage,
            Phase::Closing { review, .. } => return review.as_deref(),
            Phase::Unstarted | Phase::Between | Phase::Work { .. } | Phase::Ended { .. } => {
                return None;
            }
        };
        match &**stage {
            Stage::Reviewing { review }
            | Stage::Measuring { review, .. }
            | Stage::Measured { review, .. }
            | Stage::Promoting { review, .. }
            | Stage::Promoted { review, .. } => Some(review),
            Stage::Opened
            | Stage::Pinning
            | Stage::Pinned { .. }
            | Stage::Gathering { .. }
            | Stage::Gathered { .. } => None,
        }
    }
}

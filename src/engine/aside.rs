//! A run that lies aside: what moved while its jobs ran, and what while nobody of it did.
//!
//! Jobs run between a measurement and the next one. The last of them is taken when everything was given
//! back, right before the run is put aside: that closes the interval. The first one is taken by whoever
//! takes it up. Between both people work, and git is theirs.

use crate::domain::code::Code;
use crate::domain::effect::Done;
use crate::domain::event::{Event, RoundResult};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Moved, Pin, Remeasured, Trip, Tripwire, named};
use crate::domain::job::Role;
use crate::engine::review::SlotReview;
use crate::engine::state::{Phase, Stage, State};
use crate::engine::work::WorkStage;

/// What was found when everything was given back: nobody of the run ran since.
#[derive(Debug, Clone)]
pub struct Aside {
    /// What moved that no job may touch, since what is under way was pinned.
    pub moved: Vec<Moved>,
    /// What it was by then.
    pub tripwire: Tripwire,
}

/// Why what passed in the round under way is void: nobody else is asked in it.
#[derive(Debug, Clone, Default)]
pub struct Voided {
    /// What no job may touch and is known to have moved while jobs ran.
    pub by_jobs: Vec<Moved>,
    /// The rest of what moved that no job may touch: perhaps after an engine died.
    pub unknown: Vec<Moved>,
    /// Why nobody can be shown any more what the round is about, where that is so; it says whether the content
    /// moved.
    pub gone: Option<Failure>,
}

impl Voided {
    /// With what was found later: it says more of a part than what was found before.
    #[must_use]
    pub(crate) fn and(mut self, later: Self) -> Self {
        self.by_jobs = merged(self.by_jobs, later.by_jobs);
        self.unknown = merged(self.unknown, later.unknown);
        let by_jobs = &self.by_jobs;
        self.unknown
            .retain(|it| by_jobs.iter().all(|known| known.trip != it.trip));
        self.gone = self.gone.or(later.gone);
        self
    }
    /// The end of the round that it voids.
    pub(crate) fn closes(&self, round: RoundNumber) -> Event {
        let tripped = self.trips();
        let result = match &self.gone {
            Some(why) if why.code.exit() == Exit::Stale => RoundResult::Stale {
                moved: Vec::new(),
                base_moved: why.code == Code::BaseMoved,
                tripped,
            },
            Some(_) | None => RoundResult::Void {
                tripped,
                reason: self.reason(),
            },
        };
        Event::RoundClosed { round, result }
    }
    /// Which parts moved, without their names.
    pub(crate) fn trips(&self) -> Vec<Trip> {
        let all = self.by_jobs.iter().chain(&self.unknown);
        all.map(|moved| moved.trip).collect()
    }
    /// Whether there is nothing left that could be measured against.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_some()
    }
    /// Whether it voids nothing.
    pub(crate) fn is_nothing(&self) -> bool {
        self.by_jobs.is_empty() && self.unknown.is_empty() && !self.is_gone()
    }
    fn reason(&self) -> String {
        let mut said: Vec<String> = self.gone.iter().map(|why| why.message.clone()).collect();
        let (by_jobs, unknown) = (named(&self.by_jobs), named(&self.unknown));
        if !by_jobs.is_empty() {
            said.push(format!("{by_jobs} moved while jobs ran"));
        }
        if !unknown.is_empty() {
            said.push(format!(
                "{unknown} moved since the round was pinned, and whether jobs did that is not known"
            ));
        }
        let said = said.join("; ");
        if self.trips().is_empty() {
            return said;
        }
        format!("{said}: the round's approvals are void")
    }
}

/// What was found before, and what later.
fn merged(before: Vec<Moved>, later: Vec<Moved>) -> Vec<Moved> {
    let is_said = |moved: &Moved| later.iter().any(|it| it.trip == moved.trip);
    let mut all: Vec<Moved> = before.into_iter().filter(|it| !is_said(it)).collect();
    all.extend(later);
    all
}

/// What it costs a round that something moved around the death of its engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// What is pinned next is how it is then. What is published counts already, or the run ends by it.
    Nothing,
    /// Nobody was asked in it yet: it begins again with how things are.
    Pin,
    /// What passed in it is void.
    Passes,
}

/// The parts of the tripwire that count for what is under way.
pub(crate) fn counted(role: Option<Role>, pinned: &Pin, measured: &Remeasured) -> Vec<Moved> {
    let mut trips = measured.drift_from(pinned).trips;
    trips.retain(|trip| role.is_none_or(|role| role.may_not_move(*trip)));
    measured.named(pinned, &trips)
}

impl Role {
    /// Whether its job may not move that: who writes may commit and stage, and nobody may rewire the
    /// repository.
    pub(crate) fn may_not_move(self, trip: Trip) -> bool {
        !self.writes() || !matches!(trip, Trip::Index | Trip::BranchTip)
    }
}

impl State {
    /// What is compared with when the run is put aside, and when it is taken up again.
    #[must_use]
    pub fn watched_aside(&self) -> Option<&Pin> {
        self.under_way().or(self.watched.as_ref())
    }
    /// The pin of what is under way: what is measured next is compared with it.
    pub(crate) fn under_way(&self) -> Option<&Pin> {
        let Phase::Round { stage, .. } = &self.phase else {
            return self.work().map(|(_, pin)| pin);
        };
        stage.pin()
    }
    /// The same, to be compared with something else.
    pub(crate) fn under_way_mut(&mut self) -> Option<&mut Pin> {
        match &mut self.phase {
            Phase::Round { stage, .. } => stage.pin_mut(),
            Phase::Work { stage, .. } => stage.pin_mut(),
            Phase::Unstarted | Phase::Between | Phase::Closing { .. } | Phase::Ended { .. } => None,
        }
    }
    /// What moved since the last look, by what whoever takes the run up found: while nobody of it ran, or,
    /// where its engine died, perhaps before. What a job may move that is under way is its own.
    #[must_use]
    pub fn moved_aside(&self, found: &Remeasured) -> Vec<Moved> {
        let Some(aside) = &self.aside else {
            let pin = self.watched_aside();
            return pin.map_or_else(Vec::new, |pin| counted(self.role_under_way(), pin, found));
        };
        let now = &found.pin.tripwire;
        let trips = aside.tripwire.differs(now);
        trips.map(|trip| aside.tripwire.moved(now, trip)).collect()
    }
    /// Why the round under way goes on no further: somebody is still to be shown its content, which could not
    /// be done, and the source is another one by now. It may never be possible, and nobody is asked about what
    /// nobody has any more.
    pub(crate) fn unshown_aside(&self, found: &Remeasured) -> Option<Failure> {
        let (Phase::Round { number, .. }, Some(review)) = (&self.phase, self.review()) else {
            return None;
        };
        review.slots.values().find_map(SlotReview::held_up)?;
        let drift = found.drift_from(&review.pin);
        let (code, what) = if drift.content_moved {
            (Code::SourceMoved, "the source holds other content")
        } else if drift.base_moved {
            (Code::BaseMoved, "the base moved")
        } else {
            return None;
        };
        let message =
            format!("the snapshot of round {number} could not be shown to everybody, and {what}");
        Some(Failure::new(code, message))
    }
    /// What it costs the round under way, where there is one.
    pub(crate) fn cost_aside(&self) -> Cost {
        match &self.phase {
            Phase::Round { stage, .. } => stage.cost(),
            Phase::Unstarted
            | Phase::Between
            | Phase::Work { .. }
            | Phase::Closing { .. }
            | Phase::Ended { .. } => Cost::Nothing,
        }
    }
    /// The role of the step of work under way, where it is one.
    pub(crate) fn role_under_way(&self) -> Option<Role> {
        self.work().map(|(work, _)| work.role)
    }
}

impl Stage {
    fn cost(&self) -> Cost {
        match self {
            Self::Pinned { .. } | Self::Gathering { .. } | Self::Gathered { .. } => Cost::Pin,
            // What lies there of a promotion, nobody attests; the next one replaces it.
            Self::Reviewing { .. }
            | Self::Measuring { .. }
            | Self::Measured { .. }
            | Self::Promoting { .. } => Cost::Passes,
            Self::Opened | Self::Pinning | Self::Promoted { .. } => Cost::Nothing,
        }
    }
    fn pin(&self) -> Option<&Pin> {
        match self {
            Self::Pinned {
                result: Done::Ok(pin),
            }
            | Self::Gathering { pin }
            | Self::Gathered { pin, .. } => Some(pin),
            Self::Reviewing { review }
            | Self::Measuring { review, .. }
            | Self::Measured { review, .. }
            | Self::Promoting { review, .. }
            | Self::Promoted { review, .. } => Some(&review.pin),
            Self::Opened
            | Self::Pinning
            | Self::Pinned {
                result: Done::Err(_),
            } => None,
        }
    }
    fn pin_mut(&mut self) -> Option<&mut Pin> {
        match self {
            Self::Pinned {
                result: Done::Ok(pin),
            }
            | Self::Gathering { pin }
            | Self::Gathered { pin, .. } => Some(pin),
            Self::Reviewing { review }
            | Self::Measuring { review, .. }
            | Self::Measured { review, .. }
            | Self::Promoting { review, .. }
            | Self::Promoted { review, .. } => Some(&mut review.pin),
            Self::Opened
            | Self::Pinning
            | Self::Pinned {
                result: Done::Err(_),
            } => None,
        }
    }
}

impl WorkStage {
    fn pin_mut(&mut self) -> Option<&mut Pin> {
        match self {
            Self::Ready { asked }
            | Self::Opening { asked }
            | Self::Open { asked, .. }
            | Self::Running { asked, .. }
            | Self::Answered { asked, .. }
            | Self::Measuring { asked, .. }
            | Self::Measured { asked, .. } => Some(&mut asked.pin),
            Self::Opened { .. } | Self::Pinning { .. } | Self::Unpinned { .. } => None,
        }
    }
}

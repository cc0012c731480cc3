//! A run that lies aside: what moved while its jobs ran, and what while nobody of it did.
//!
//! Jobs run between a measurement and the next one. The last of them is taken when everything was given
//! back, right before the run is put aside: that closes the interval. The first one is taken by whoever
//! takes it up. Between both people work, and git is theirs.

use crate::domain::effect::Done;
use crate::domain::event::{Event, RoundResult};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Moved, Pin, Remeasured, Trip, Tripwire, named};
use crate::domain::job::Role;
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
#[derive(Debug, Clone)]
pub enum Voided {
    /// Something moved that no job may touch.
    Touched {
        /// Which parts.
        moved: Vec<Moved>,
        /// Whether it is known to have moved while jobs ran, and not after their engine died.
        by_jobs: bool,
    },
    /// Nobody can be shown any more what it is about.
    Gone {
        /// Why; it says whether the content moved.
        why: Failure,
    },
}

impl Voided {
    /// The end of the round that it voids.
    pub(crate) fn closes(&self, round: RoundNumber) -> Event {
        let result = match self {
            Self::Touched { moved, by_jobs } => RoundResult::Void {
                tripped: self.trips(),
                reason: touched(moved, *by_jobs),
            },
            Self::Gone { why } if why.code.exit() == Exit::Stale => RoundResult::Stale {
                moved: Vec::new(),
                base_moved: false,
                tripped: Vec::new(),
            },
            Self::Gone { why } => RoundResult::Void {
                tripped: Vec::new(),
                reason: why.message.clone(),
            },
        };
        Event::RoundClosed { round, result }
    }
    /// Which parts moved, without their names.
    pub(crate) fn trips(&self) -> Vec<Trip> {
        match self {
            Self::Touched { moved, .. } => moved.iter().map(|moved| moved.trip).collect(),
            Self::Gone { .. } => Vec::new(),
        }
    }
    /// Whether there is nothing left that could be measured against.
    pub(crate) fn is_gone(&self) -> bool {
        matches!(self, Self::Gone { .. })
    }
}

/// Why a round is void in which something was touched.
fn touched(moved: &[Moved], by_jobs: bool) -> String {
    let what = named(moved);
    if by_jobs {
        format!("{what} moved while jobs ran: the round's approvals are void")
    } else {
        format!(
            "{what} moved since the round was pinned, and whether jobs did that is not known: the round's approvals are void"
        )
    }
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
    /// The role of the step of work under way, where it is one.
    pub(crate) fn role_under_way(&self) -> Option<Role> {
        self.work().map(|(work, _)| work.role)
    }
}

impl Stage {
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

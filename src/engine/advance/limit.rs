//! Limits of providers: who is told to come back later is asked again then, and nothing is spent.

use crate::domain::code::Code;
use crate::domain::delegation::DispatchOutcome;
use crate::domain::effect::{Effect, Timer};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::job::JobOutcome;
use crate::domain::limits::{PATIENCE, is_told, lifted_after, lifted_at};
use crate::domain::slot::Slot;
use crate::domain::time::Timestamp;
use crate::engine::advance::request;
use crate::engine::delegation::DelegationRecord;
use crate::engine::review::{SlotProgress, SlotReview};
use crate::engine::state::{Phase, Stage, State};
use crate::engine::work::WorkStage;

/// A slot's agent is at its limit: a fallback that was not asked yet is asked instead; without one,
/// whoever may be asked first.
pub(super) fn slot(
    round: RoundNumber,
    slot: &Slot,
    place: &SlotReview,
    outcome: &JobOutcome,
) -> Event {
    let until = lifted_at(outcome, place.limited);
    let first = || {
        let others = place
            .limits
            .iter()
            .map(|(rank, limit)| (limit.until, *rank));
        let of_others = others.filter(|(_, rank)| *rank != place.rank);
        of_others.chain([(until, place.rank)]).min()
    };
    let next = place.top + 1;
    let rank = if slot.agent_at(next).is_some() {
        next
    } else {
        first().map_or(place.rank, |(_, rank)| rank)
    };
    Event::SlotLimited {
        round,
        slot: slot.name.clone(),
        until,
        told: is_told(outcome.spent.reset, outcome.ended_at, until),
        rank,
        ending: super::slot::describe(outcome),
    }
}

/// Who does a step of work is at its limit.
pub(super) fn work(state: &State, limited: u32, outcome: &JobOutcome) -> Event {
    // Met before the run was taken up, by somebody who wants to know whether it still holds.
    let is_tried = state.tried_at.is_some_and(|at| outcome.ended_at < at);
    let until = if is_tried {
        outcome.ended_at
    } else {
        lifted_at(outcome, limited)
    };
    Event::WorkLimited {
        job: None,
        until,
        told: is_told(outcome.spent.reset, outcome.ended_at, until),
        ending: super::slot::describe(outcome),
    }
}

/// A delegated job is at its limit.
pub(super) fn delegated(record: &DelegationRecord, outcome: &DispatchOutcome) -> Event {
    let (reset, ended_at) = (outcome.spent.reset, outcome.ended_at);
    let until = lifted_after(reset, ended_at, record.limited);
    Event::WorkLimited {
        job: Some(record.id),
        until,
        told: is_told(reset, ended_at, until),
        ending: super::slot::describe_ended(&outcome.ended),
    }
}

/// What follows when nothing else can be done before a limit is lifted: the run waits, where it was
/// told to, or is put aside.
pub(super) fn held(state: &State) -> Option<Event> {
    let held = nearest(state)?;
    if waits(state, &held) {
        return timer(state, held.until);
    }
    let run = state.run.as_ref()?.loop_id.to_string();
    let Held { who, until, .. } = held;
    let message = format!("run {run} is parked until {until}: {who} is at a limit");
    let failure = Failure::new(Code::Parked, message).next(["run-loop", "resume", &run]);
    Some(Event::RunParking {
        failure,
        until: Some(until),
    })
}

/// What wakes the run when a limit is lifted while others work.
pub(super) fn wake(state: &State, until: Timestamp) -> Option<Event> {
    (!is_idle(state)).then(|| timer(state, until))?
}

/// The same for the loop's own jobs: whoever else works, and be it for hours, holds nobody up whose
/// limit is lifted.
pub(super) fn woken(state: &State) -> Option<Event> {
    timer(state, nearest_own(state)?.until)
}

/// Whether nobody works: nothing is under way but waits.
pub(super) fn is_idle(state: &State) -> bool {
    let mut open = state.open.values();
    open.all(|effect| effect.is_timer() || matches!(effect, Effect::AwaitJobs { .. }))
}

/// A timer up to this moment, where none ends before.
fn timer(state: &State, wanted: Timestamp) -> Option<Event> {
    let mut open = state.open.values();
    let is_there = open.any(|effect| match effect {
        Effect::Timer {
            of: Timer::Limit,
            until,
        } => *until <= wanted,
        Effect::Timer {
            of: Timer::MaxWall, ..
        }
        | Effect::Pin { .. }
        | Effect::MakeEvidence { .. }
        | Effect::OpenTree { .. }
        | Effect::RunJob { .. }
        | Effect::Delegate { .. }
        | Effect::AwaitJobs { .. }
        | Effect::Measure { .. }
        | Effect::Promote { .. }
        | Effect::Release => false,
    });
    let (of, until) = (Timer::Limit, wanted);
    (!is_there).then(|| request(state, Effect::Timer { of, until }))
}

/// Who may be asked first, and when.
struct Held {
    until: Timestamp,
    who: String,
    limited: u32,
}

fn nearest(state: &State) -> Option<Held> {
    let delegated = state.delegations.values().filter_map(|record| {
        let until = record.limited_until?;
        state.is_kept(record).then(|| Held {
            until,
            who: format!("the delegated job {}", record.id),
            limited: record.limited,
        })
    });
    delegated
        .chain(nearest_own(state))
        .min_by_key(|held| held.until)
}

/// The same of the loop's own jobs.
fn nearest_own(state: &State) -> Option<Held> {
    match &state.phase {
        Phase::Round { stage, .. } => {
            let Stage::Reviewing { review } = &**stage else {
                return None;
            };
            let waiting = review.slots.iter().filter(|(_, place)| {
                let waits = matches!(place.progress, SlotProgress::Waiting);
                waits && state.is_in_force(place.limited_until())
            });
            let held = waiting.filter_map(|(name, place)| {
                Some(Held {
                    until: place.limited_until()?,
                    who: format!("the reviewer {name}"),
                    limited: place.limited,
                })
            });
            held.min_by_key(|held| held.until)
        }
        Phase::Work { work, stage } => {
            let WorkStage::Ready { asked } = &**stage else {
                return None;
            };
            let until = asked.limited_until?;
            state.is_in_force(Some(until)).then(|| Held {
                until,
                who: format!("the {}", work.slot),
                limited: asked.limited,
            })
        }
        Phase::Unstarted | Phase::Between | Phase::Closing { .. } | Phase::Ended { .. } => None,
    }
}

/// Whether the run waits in place: it was told to, it has not done so too often, and its own time
/// reaches so far.
fn waits(state: &State, held: &Held) -> bool {
    let budget = &state.budget;
    let in_time = budget.ends_at().is_none_or(|end| held.until < end);
    budget.limits.wait && held.limited < PATIENCE && in_time
}

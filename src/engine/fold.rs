//! The only way state changes: one event at a time.

mod aside;
mod budget;
mod delegation;
mod effect;
mod progress;
mod round;
mod watch;
mod work;

use std::sync::Arc;

use crate::domain::code::Code;
use crate::domain::effect::Done;
use crate::domain::event::{Event, StopCause};
use crate::domain::failure::Failure;
use crate::domain::identity::Remeasured;
use crate::domain::lines::Place;
use crate::domain::time::Stamp;
use crate::engine::review::SlotProgress;
use crate::engine::state::{Parking, Phase, Stage, State};
use crate::engine::work::WorkStage;

/// Folds one event into the state.
///
/// A case that cannot be (an outcome of another type than its effect, an event of a round that is
/// not under way) sets [`State::fault`], which ends the run; it is never passed over.
#[expect(clippy::too_many_lines, reason = "one arm for each event")]
pub fn fold(state: &mut State, event: &Event) {
    match event {
        Event::RunStarted { stamp, spec } => {
            state.stamp = Some(*stamp);
            state.started_at = Some(stamp.at);
            let run = Arc::new((**spec).clone());
            budget::started(state, stamp, &run);
            state.run = Some(run);
            state.phase = Phase::Between;
            if let Some(submission) = &spec.single {
                delegation::submitted(state, stamp, None, submission);
            }
        }
        Event::JobRequested {
            stamp,
            message,
            request,
            ..
        } => delegation::requested(state, stamp, *message, request),
        Event::JobSilent {
            stamp,
            job,
            attempt,
        } => {
            state.stamp = Some(*stamp);
            state.silent.insert((*job, *attempt));
        }
        Event::JobHeard {
            stamp,
            job,
            attempt,
            answered,
        } => {
            state.stamp = Some(*stamp);
            state.silent.remove(&(*job, *attempt));
            if *answered {
                delegation::answered(state, *job);
            }
        }
        Event::WaitEnded { effect, .. } => drop(state.open.remove(effect)),
        Event::JobClosed { job, closed } => delegation::close(state, *job, closed.clone()),
        Event::RunResumed {
            stamp,
            allowed,
            seen,
            ran,
            found,
            gone,
        } => {
            let tries = budget::resumed(state, stamp, *allowed, *seen, *ran);
            resumed(state, *stamp, tries, (found.as_deref(), gone.as_ref()));
        }
        Event::CostUntold { .. } => state.budget.untold_is_told = true,
        Event::StopRequested { stamp, cause, .. } => {
            state.stamp = Some(*stamp);
            state.stop = Some(*cause);
            if *cause == StopCause::Cancel {
                // Whoever cancels takes it up only to end it.
                state.suspended = None;
            }
        }
        Event::EffectDone {
            stamp,
            effect,
            outcome,
        } => {
            state.stamp = Some(*stamp);
            watch::looked(state, outcome);
            effect::effect_done(state, *effect, outcome);
        }
        Event::RoundOpened { round } => {
            progress::turned(state);
            state.phase = Phase::Round {
                number: *round,
                stage: Box::new(Stage::Opened),
            };
        }
        Event::EffectRequested { id, effect } => effect::effect_requested(state, *id, effect),
        Event::ReviewOpened { .. } => round::review_opened(state),
        Event::WorkOpened { work } => {
            let stage = Box::new(WorkStage::Opened { again: None });
            state.phase = Phase::Work {
                work: work.clone(),
                stage,
            };
        }
        Event::WorkRetried { reason, .. } => work::retried(state, reason),
        Event::FindingDisposed {
            finding,
            disposition,
            job,
            note,
        } => {
            work::disposed(state, *job, *finding, *disposition, note);
        }
        Event::WorkClosed {
            job,
            reply,
            changed,
            ..
        } => work::closed(state, *job, reply.as_ref(), *changed),
        Event::FindingRaised { finding } => {
            if let Some(place) = Place::of(&finding.claim) {
                state.places.insert(finding.id, place);
            }
            state.findings.push((**finding).clone());
        }
        Event::SlotRetried {
            slot,
            rank,
            reason,
            ending,
            ..
        } => {
            round::slot_retried(state, slot, *rank, reason, ending);
        }
        Event::SlotSettled {
            slot, settlement, ..
        } => round::slot_settled(state, slot, settlement),
        Event::RoundClosed { round, result } => round::round_closed(state, *round, result),
        Event::RunClosing { end } => {
            let review = state.review().cloned().map(Box::new);
            state.phase = Phase::Closing {
                end: end.clone(),
                released: false,
                review,
            };
        }
        Event::SlotLimited {
            slot, rank, until, ..
        } => round::slot_limited(state, slot, *rank, *until),
        Event::WorkLimited { job, until, .. } => match job {
            Some(job) => delegation::limited(state, *job, *until),
            None => work::limited(state, *until),
        },
        Event::RunParking { failure, until } => {
            let (failure, until) = (failure.clone(), *until);
            state.parking = Some(Parking { failure, until });
        }
        Event::RunSuspended { failure, .. } => state.suspended = Some(failure.clone()),
        Event::RunEnded { end } => {
            delegation::run_ended(state);
            state.phase = Phase::Ended { end: end.clone() };
        }
    }
}

/// An engine takes the run up again: what an earlier engine found, and what it held, is not
/// believed. Whatever rests on a measurement is measured again; review trees are opened again.
fn resumed(
    state: &mut State,
    stamp: Stamp,
    tries: bool,
    (found, gone): (Option<&Remeasured>, Option<&Failure>),
) {
    state.stamp = Some(stamp);
    state.inherited = state.requested;
    if state.stop != Some(StopCause::Cancel) {
        state.stop = None;
    }
    if matches!(state.phase, Phase::Closing { .. } | Phase::Ended { .. }) {
        state.suspended = None;
        return;
    }
    aside::taken_up(state, found, gone);
    state.looks.taken_up(found);
    state.suspended = None;
    state.given_back = false;
    state.trees.clear();
    state.open.retain(|_, effect| effect.outlives_its_engine());
    state.tried_at = tries.then_some(stamp.at);
    work::resumed(state, tries);
    delegation::resumed(state, tries);
    let Phase::Round { stage, .. } = &mut state.phase else {
        return;
    };
    if let Stage::Pinned {
        result: Done::Err(_),
    }
    | Stage::Gathered {
        result: Done::Err(_),
        ..
    } = &**stage
    {
        // What could not be done is tried again, with how things are now.
        **stage = Stage::Opened;
    }
    if let Stage::Promoting { review, .. } | Stage::Measured { review, .. } = &**stage {
        let mut review = review.clone();
        review.sealed = None;
        **stage = Stage::Reviewing { review };
    }
    if let Stage::Reviewing { review } = &mut **stage {
        for place in review.slots.values_mut() {
            place.limited = 0;
            let is_open = matches!(place.progress, SlotProgress::Open { .. });
            if is_open || place.held_up().is_some() {
                place.progress = SlotProgress::Waiting;
            }
            for limit in place.limits.values_mut().filter(|_| tries) {
                limit.until = limit.until.min(stamp.at);
            }
        }
    }
}

pub(super) fn fault(state: &mut State, message: impl Into<String>) {
    state.fault = Some(Failure::new(Code::Internal, message));
}

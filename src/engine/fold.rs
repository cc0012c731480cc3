//! The only way state changes: one event at a time.

mod delegation;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::code::Code;
use crate::domain::effect::{Done, Effect, MeasurePoint, Outcome};
use crate::domain::event::{Event, RoundResult, Settlement, StopCause};
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::{EffectId, RoundNumber};
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::{AttemptReason, Job, JobOutcome};
use crate::domain::slot::{Slot, SlotName};
use crate::domain::time::Stamp;
use crate::engine::advance::verdict::claims_not_pass;
use crate::engine::ledger::Bar;
use crate::engine::review::{SlotProgress, SlotReview};
use crate::engine::state::{ClosedRound, JobRecord, Phase, Review, Stage, State};
use crate::engine::work::WorkStage;

mod work;

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
            state.run = Some(Arc::new((**spec).clone()));
            state.phase = Phase::Between;
            if let Some(submission) = &spec.single {
                delegation::submitted(state, stamp, "the run", submission);
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
        Event::WaitEnded { effect } => drop(state.open.remove(effect)),
        Event::JobClosed { job, closed } => delegation::close(state, *job, closed.clone()),
        Event::RunResumed { stamp } => resumed(state, *stamp),
        Event::StopRequested { stamp, cause, .. } => {
            state.stamp = Some(*stamp);
            state.stop = Some(*cause);
        }
        Event::EffectDone {
            stamp,
            effect,
            outcome,
        } => {
            state.stamp = Some(*stamp);
            effect_done(state, *effect, outcome);
        }
        Event::RoundOpened { round } => {
            state.phase = Phase::Round {
                number: *round,
                stage: Box::new(Stage::Opened),
            };
        }
        Event::EffectRequested { id, effect } => effect_requested(state, *id, effect),
        Event::ReviewOpened { .. } => review_opened(state),
        Event::WorkOpened { work } => {
            let stage = Box::new(WorkStage::Opened);
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
        Event::FindingRaised { finding } => state.findings.push((**finding).clone()),
        Event::SlotRetried {
            slot,
            rank,
            reason,
            ending,
            ..
        } => {
            slot_retried(state, slot, *rank, reason, ending);
        }
        Event::SlotSettled {
            slot, settlement, ..
        } => slot_settled(state, slot, settlement),
        Event::RoundClosed { round, result } => round_closed(state, *round, result),
        Event::RunClosing { end } => {
            state.phase = Phase::Closing {
                end: end.clone(),
                released: false,
            };
        }
        Event::RunSuspended { failure } => state.suspended = Some(failure.clone()),
        Event::RunEnded { end } => state.phase = Phase::Ended { end: end.clone() },
    }
}

/// An engine takes the run up again: what an earlier engine found, and what it held, is not
/// believed. Whatever rests on a measurement is measured again; review trees are opened again.
fn resumed(state: &mut State, stamp: Stamp) {
    state.stamp = Some(stamp);
    if state.stop != Some(StopCause::Cancel) {
        state.stop = None;
    }
    state.suspended = None;
    if matches!(state.phase, Phase::Closing { .. } | Phase::Ended { .. }) {
        return;
    }
    state.given_back = false;
    state.trees.clear();
    // Publishing on an old measurement, or giving back what is in use, must not be done again.
    state
        .open
        .retain(|_, effect| !matches!(effect, Effect::Promote { .. } | Effect::Release));
    work::resumed(state);
    let Phase::Round { stage, .. } = &mut state.phase else {
        return;
    };
    if let Stage::Promoting { review, .. } | Stage::Measured { review, .. } = &**stage {
        let mut review = review.clone();
        review.sealed = None;
        **stage = Stage::Reviewing { review };
    }
    if let Stage::Reviewing { review } = &mut **stage {
        for place in review.slots.values_mut() {
            if matches!(place.progress, SlotProgress::Open { .. }) {
                place.progress = SlotProgress::Waiting;
            }
        }
    }
}

fn effect_requested(state: &mut State, id: EffectId, effect: &Effect) {
    state.requested = state.requested.max(id.0);
    state.open.insert(id, effect.clone());
    // What is delegated or given back belongs to no step.
    let of_step = !matches!(
        effect,
        Effect::Release | Effect::Delegate { .. } | Effect::AwaitJobs { .. }
    );
    if matches!(state.phase, Phase::Work { .. }) && of_step {
        return work::requested(state, effect);
    }
    match effect {
        Effect::Pin { .. } => set_stage(state, Stage::Pinning),
        Effect::MakeEvidence { pin, .. } => set_stage(state, Stage::Gathering { pin: pin.clone() }),
        Effect::OpenTree { slot, .. } => with_slot(state, slot, |review| {
            review.progress = SlotProgress::Opening;
        }),
        Effect::RunJob { job } => {
            state.jobs.insert(
                job.id,
                JobRecord {
                    job: job.clone(),
                    outcome: None,
                },
            );
            with_slot(state, &job.slot, |review| {
                review.attempts += 1;
                review.progress = SlotProgress::Running { job: job.id };
            });
        }
        Effect::Delegate { dispatch } => delegation::dispatched(state, dispatch),
        Effect::Measure { point, .. } => {
            let point = *point;
            with_review(state, |review| Stage::Measuring { review, point });
        }
        Effect::Promote { .. } => promote_requested(state),
        Effect::AwaitJobs { jobs, .. } => state.awaited.extend(jobs),
        Effect::Release => {}
    }
}

fn effect_done(state: &mut State, id: EffectId, outcome: &Outcome) {
    let Some(effect) = state.open.remove(&id) else {
        return fault(
            state,
            format!("an outcome for effect {} that is not open", id.0),
        );
    };
    let of_step = !matches!(
        effect,
        Effect::Release | Effect::Delegate { .. } | Effect::AwaitJobs { .. }
    );
    if matches!(state.phase, Phase::Work { .. }) && of_step {
        return work::done(state, id, &effect, outcome);
    }
    match (&effect, outcome) {
        (Effect::Pin { .. }, Outcome::Pinned { result }) => pinned(state, result),
        (Effect::MakeEvidence { pin, .. }, Outcome::EvidenceMade { result }) => {
            gathered(state, pin, result);
        }
        (Effect::OpenTree { slot, .. }, Outcome::TreeOpened { result }) => {
            if let Done::Ok(tree) = result {
                state.trees.insert(slot.clone(), tree.clone());
            }
            with_slot(state, slot, |review| {
                review.progress = SlotProgress::Open {
                    result: result.clone(),
                };
            });
        }
        (Effect::RunJob { job }, Outcome::JobEnded { outcome }) => job_ended(state, job, outcome),
        (Effect::Delegate { dispatch }, Outcome::Delegated { outcome }) => {
            delegation::ended(state, dispatch, outcome);
        }
        (Effect::Measure { point, .. }, Outcome::Measured { result }) => {
            let (point, result): (_, Done<Remeasured>) = (*point, result.clone());
            with_review(state, |mut review| {
                if let (MeasurePoint::Sealed, Done::Ok(measured)) = (point, &result) {
                    review.sealed = Some(measured.clone());
                }
                Stage::Measured {
                    review,
                    point,
                    result,
                }
            });
        }
        (Effect::Promote { .. }, Outcome::Promoted { result }) => {
            if let Done::Ok(promotion) = result {
                state.promotion = Some(promotion.clone());
            }
            let result = result.clone();
            with_review(state, |review| Stage::Promoted { review, result });
        }
        (Effect::AwaitJobs { .. }, Outcome::JobsAwaited) => {}
        (Effect::Release, Outcome::Released { .. }) => released(state),
        (
            Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::RunJob { .. }
            | Effect::Delegate { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Measure { .. }
            | Effect::Promote { .. }
            | Effect::Release,
            Outcome::Pinned { .. }
            | Outcome::EvidenceMade { .. }
            | Outcome::TreeOpened { .. }
            | Outcome::JobEnded { .. }
            | Outcome::Delegated { .. }
            | Outcome::JobsAwaited
            | Outcome::Measured { .. }
            | Outcome::Promoted { .. }
            | Outcome::Released { .. },
        ) => fault(
            state,
            format!("effect {} came back as something else", id.0),
        ),
    }
}

/// Everything that the run held was given back.
fn released(state: &mut State) {
    match &mut state.phase {
        Phase::Closing { released, .. } => *released = true,
        Phase::Unstarted
        | Phase::Between
        | Phase::Work { .. }
        | Phase::Round { .. }
        | Phase::Ended { .. } => state.given_back = true,
    }
    state.trees.clear();
}

fn pinned(state: &mut State, result: &Done<Pin>) {
    set_stage(
        state,
        Stage::Pinned {
            result: result.clone(),
        },
    );
}

fn gathered(state: &mut State, pin: &Pin, result: &Done<Evidence>) {
    let result = match result {
        Done::Ok(evidence) => Done::Ok(Arc::new(evidence.clone())),
        Done::Err(failure) => Done::Err(failure.clone()),
    };
    set_stage(
        state,
        Stage::Gathered {
            pin: pin.clone(),
            result,
        },
    );
}

fn review_opened(state: &mut State) {
    let (
        Some(run),
        Some(Stage::Gathered {
            pin,
            result: Done::Ok(evidence),
        }),
    ) = (&state.run, stage_of(state))
    else {
        return fault(state, "a review opened without evidence");
    };
    // On the very identity of the last round its passes stand; the others are asked again, or
    // pass by what became of their findings.
    let before = state.same_as_last(pin);
    let carried = |slot: &Slot| {
        let place = before.and_then(|round| round.slots.get(&slot.name));
        place
            .filter(|place| matches!(place.settlement(), Some(Settlement::Passed { .. })))
            .cloned()
    };
    let slots = run
        .panel
        .iter()
        .map(|slot| (slot.name.clone(), carried(slot).unwrap_or_default()))
        .collect();
    let review = Review {
        pin: pin.clone(),
        evidence: Arc::clone(evidence),
        slots,
        sealed: None,
    };
    set_stage(state, Stage::Reviewing { review });
}

fn job_ended(state: &mut State, job: &Job, outcome: &JobOutcome) {
    if let Some(record) = state.jobs.get_mut(&job.id) {
        record.outcome = Some(outcome.clone());
    }
    let fail_on = state.run.as_ref().map(|run| run.review.fail_on);
    let pinned = state.review().map(|review| review.pin.identity.clone());
    if let (Some(fail_on), Some(identity)) = (fail_on, pinned)
        && claims_not_pass(&outcome.reading, fail_on)
    {
        state.bars.push(Bar {
            base: identity.base,
            content_tree: identity.content_tree,
            slot: job.slot.clone(),
            job: job.id,
        });
    }
    let (id, outcome) = (job.id, Box::new(outcome.clone()));
    with_slot(state, &job.slot, |review| {
        review.progress = SlotProgress::Answered { job: id, outcome };
    });
}

fn slot_retried(
    state: &mut State,
    slot: &SlotName,
    rank: usize,
    reason: &AttemptReason,
    ending: &str,
) {
    with_slot(state, slot, |review| {
        match reason {
            AttemptReason::First => {}
            AttemptReason::ReAsk { .. } => review.re_asked = true,
            AttemptReason::Fresh => review.refreshed = true,
        }
        review.rank = rank;
        review.reason = reason.clone();
        review.endings.push(ending.to_owned());
        review.progress = SlotProgress::Waiting;
    });
}

fn slot_settled(state: &mut State, slot: &SlotName, settlement: &Settlement) {
    with_slot(state, slot, |review| {
        review.progress = SlotProgress::Settled {
            settlement: settlement.clone(),
        };
    });
}

fn round_closed(state: &mut State, number: RoundNumber, result: &RoundResult) {
    let untouched = match stage_of(state) {
        Some(Stage::Measured {
            review,
            result: Done::Ok(measured),
            ..
        }) => measured.drift_from(&review.pin).trips.is_empty(),
        Some(Stage::Promoted { .. }) => true,
        Some(
            Stage::Opened
            | Stage::Pinning
            | Stage::Pinned { .. }
            | Stage::Gathering { .. }
            | Stage::Gathered { .. }
            | Stage::Reviewing { .. }
            | Stage::Measuring { .. }
            | Stage::Measured { .. }
            | Stage::Promoting { .. },
        )
        | None => false,
    };
    let review = state.review().cloned();
    let (pin, slots) = review.map_or_else(
        || (None, BTreeMap::new()),
        |review| (Some(review.pin), review.slots),
    );
    state.rounds.push(ClosedRound {
        number,
        pin,
        slots,
        result: result.clone(),
        untouched,
    });
    state.phase = Phase::Between;
}

fn promote_requested(state: &mut State) {
    let Some(Stage::Measured {
        review,
        result: Done::Ok(measured),
        ..
    }) = stage_of(state)
    else {
        return fault(state, "promotion was requested without a measurement");
    };
    let (review, measured) = (review.clone(), measured.clone());
    set_stage(state, Stage::Promoting { review, measured });
}

fn stage_of(state: &State) -> Option<&Stage> {
    match &state.phase {
        Phase::Round { stage, .. } => Some(stage),
        Phase::Unstarted
        | Phase::Between
        | Phase::Work { .. }
        | Phase::Closing { .. }
        | Phase::Ended { .. } => None,
    }
}

/// Moves the round under way on. While the run winds up, outcomes change no stage any more.
fn set_stage(state: &mut State, next: Stage) {
    if let Phase::Round { stage, .. } = &mut state.phase {
        **stage = next;
    }
}

/// Moves the round's review into another stage.
fn with_review(state: &mut State, next: impl FnOnce(Review) -> Stage) {
    if let Some(review) = state.review().cloned() {
        set_stage(state, next(review));
    }
}

/// Changes how one slot stands in the review under way.
fn with_slot(state: &mut State, slot: &SlotName, change: impl FnOnce(&mut SlotReview)) {
    if let Phase::Round { stage, .. } = &mut state.phase
        && let Stage::Reviewing { review } = &mut **stage
    {
        change(review.slots.entry(slot.clone()).or_default());
    }
}

pub(super) fn fault(state: &mut State, message: impl Into<String>) {
    state.fault = Some(Failure::new(Code::Internal, message));
}

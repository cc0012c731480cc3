//! Folding effects: their request, and their outcome.

use crate::domain::effect::{Done, Effect, MeasurePoint, Outcome, Timer};
use crate::domain::id::{EffectId, JobId};
use crate::domain::identity::Remeasured;
use crate::engine::fold::round::{
    gathered, job_ended, pinned, promote_requested, set_stage, with_review, with_slot,
};
use crate::engine::fold::{aside, delegation, fault, work};
use crate::engine::review::SlotProgress;
use crate::engine::state::{JobRecord, Phase, Stage, State};

pub(super) fn effect_requested(state: &mut State, id: EffectId, effect: &Effect) {
    state.requested = state.requested.max(id.0);
    state.open.insert(id, effect.clone());
    state.looks.requested(effect);
    if matches!(state.phase, Phase::Work { .. }) && effect.is_of_step() {
        return work::requested(state, effect);
    }
    match effect {
        Effect::Pin { .. } => set_stage(state, Stage::Pinning),
        Effect::MakeEvidence { pin, .. } => set_stage(state, Stage::Gathering { pin: pin.clone() }),
        Effect::OpenTree { slot, .. } => with_slot(state, slot, |review| {
            review.progress = SlotProgress::Opening;
        }),
        Effect::RunJob { job } => {
            if let Some(review) = state.review() {
                let content = review.pin.identity.content_tree.clone();
                state.contents.insert(job.id, content);
            }
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
        Effect::AwaitJobs { .. } | Effect::Timer { .. } | Effect::Release => {}
    }
}

pub(super) fn effect_done(state: &mut State, id: EffectId, outcome: &Outcome) {
    let Some(effect) = state.open.remove(&id) else {
        return fault(
            state,
            format!("an outcome for effect {} that is not open", id.0),
        );
    };
    if matches!(state.phase, Phase::Work { .. }) && effect.is_of_step() {
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
        (Effect::AwaitJobs { jobs, .. }, Outcome::JobsAwaited) => waited(state, jobs),
        (Effect::Timer { of, .. }, Outcome::TimerEnded { elapsed }) => match of {
            Timer::MaxWall => state.budget.time_is_spent |= *elapsed,
            // Whether the limit still holds is asked of the moment itself.
            Timer::Limit => {}
        },
        (Effect::Release, Outcome::Released { found, .. }) => released(state, found.as_deref()),
        (
            Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::RunJob { .. }
            | Effect::Delegate { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Timer { .. }
            | Effect::Measure { .. }
            | Effect::Promote { .. }
            | Effect::Release,
            Outcome::Pinned { .. }
            | Outcome::EvidenceMade { .. }
            | Outcome::TreeOpened { .. }
            | Outcome::JobEnded { .. }
            | Outcome::Delegated { .. }
            | Outcome::JobsAwaited
            | Outcome::TimerEnded { .. }
            | Outcome::Measured { .. }
            | Outcome::Promoted { .. }
            | Outcome::Released { .. },
        ) => fault(
            state,
            format!("effect {} came back as something else", id.0),
        ),
    }
}

/// A wait came to its bound: whoever is open now was waited for, also who was delegated meanwhile.
/// One that was cut short has not been paid, and neither has one for a job that did not work.
fn waited(state: &mut State, jobs: &[JobId]) {
    if state.is_being_put_aside() {
        return;
    }
    let paid = state.writers().filter(|record| !state.is_kept(record));
    let mut paid: Vec<JobId> = paid.map(|record| record.id).collect();
    // Such a wait is for the end of the run.
    if jobs.iter().any(|job| !state.is_waited_for(*job)) {
        paid.extend(state.lingering().map(|record| record.id));
    }
    state.awaited.extend(paid);
}

/// Everything that the run held was given back.
fn released(state: &mut State, found: Option<&Remeasured>) {
    match &mut state.phase {
        Phase::Closing { released, .. } => *released = true,
        Phase::Unstarted
        | Phase::Between
        | Phase::Work { .. }
        | Phase::Round { .. }
        | Phase::Ended { .. } => {
            state.given_back = true;
            aside::given_back(state, found);
        }
    }
    state.trees.clear();
}

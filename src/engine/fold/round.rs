//! Folding a round: its stages, and how its slots stand.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::domain::effect::Done;
use crate::domain::event::{RoundResult, Settlement};
use crate::domain::evidence::Evidence;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::job::{AttemptReason, Job, JobOutcome};
use crate::domain::oid::Oid;
use crate::domain::ruled::Ledger as _;
use crate::domain::slot::{Slot, SlotName};
use crate::domain::time::Timestamp;
use crate::engine::fold::fault;
use crate::engine::ledger::Bar;
use crate::engine::review::{Limit, SlotProgress, SlotReview};
use crate::engine::state::{ClosedRound, Phase, Review, Stage, State, Undo};

pub(super) fn pinned(state: &mut State, result: &Done<Pin>) {
    set_stage(
        state,
        Stage::Pinned {
            result: result.clone(),
        },
    );
}

pub(super) fn gathered(state: &mut State, pin: &Pin, result: &Done<Evidence>) {
    let result = match result {
        Done::Ok(evidence) => {
            follow(state, &pin.identity.tree, evidence);
            Done::Ok(Arc::new(evidence.clone()))
        }
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

/// Follows the lines that findings cite into the tree that is shown now. What is not found again
/// has no place any more.
fn follow(state: &mut State, tree: &Oid, evidence: &Evidence) {
    if state.shown.as_ref() == Some(tree) {
        return;
    }
    let shown = state.shown.replace(tree.clone());
    let since = evidence
        .since
        .iter()
        .find(|since| Some(&since.tree) == shown.as_ref());
    state.places = std::mem::take(&mut state.places)
        .into_iter()
        .filter_map(|(finding, place)| Some((finding, place.after(since?)?)))
        .collect();
}

pub(super) fn review_opened(state: &mut State) {
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
    // On the very identity of the last round its passes stand, and what `checks` found, which could only be
    // found again; the others are asked again, or pass by what became of their findings.
    let before = state.same_as_last(pin);
    let carried = |slot: &Slot| {
        let place = before.and_then(|round| round.slots.get(&slot.name));
        let stands = |place: &&SlotReview| match place.settlement() {
            Some(Settlement::Passed { .. }) => true,
            Some(Settlement::NotPassed { .. }) => {
                slot.agent.is_checks() && state.is_barred(pin, Some(&slot.name)).is_some()
            }
            Some(Settlement::NoVerdict { .. }) | None => false,
        };
        place.filter(stands).cloned()
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

pub(super) fn job_ended(state: &mut State, job: &Job, outcome: &JobOutcome) {
    if let Some(record) = state.jobs.get_mut(&job.id) {
        record.outcome = Some(outcome.clone());
    }
    let fail_on = state.run.as_ref().map(|run| run.review.fail_on);
    let content = state
        .review()
        .map(|review| &review.pin.identity.content_tree);
    if let (Some(fail_on), Some(content)) = (fail_on, content.cloned())
        && (outcome.reading.claims_not_pass(fail_on)
            || !state.kept_open(job, &outcome.reading, &content).is_empty())
    {
        state.bars.push(Bar {
            content_tree: content,
            slot: job.slot.clone(),
            job: job.id,
        });
    }
    let (id, outcome) = (job.id, Box::new(outcome.clone()));
    with_slot(state, &job.slot, |review| {
        review.progress = SlotProgress::Answered { job: id, outcome };
    });
}

pub(super) fn slot_retried(
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
        // It had its attempt now, limit or not.
        review.limits.remove(&review.rank);
        review.rank = rank;
        review.top = review.top.max(rank);
        review.reason = reason.clone();
        review.endings.push(ending.to_owned());
        review.progress = SlotProgress::Waiting;
    });
}

/// The slot's agent is at a limit: it keeps its attempt, and another may be asked before it.
pub(super) fn slot_limited(state: &mut State, slot: &SlotName, rank: usize, until: Timestamp) {
    with_slot(state, slot, |review| {
        let reason = review.reason.clone();
        review.limits.insert(review.rank, Limit { until, reason });
        review.limited += 1;
        review.rank = rank;
        review.top = review.top.max(rank);
        let limit = review.limits.get(&rank);
        review.reason = limit.map_or(AttemptReason::First, |limit| limit.reason.clone());
        review.progress = SlotProgress::Waiting;
    });
}

pub(super) fn slot_settled(state: &mut State, slot: &SlotName, settlement: &Settlement) {
    with_slot(state, slot, |review| {
        review.progress = SlotProgress::Settled {
            settlement: settlement.clone(),
        };
    });
}

pub(super) fn round_closed(state: &mut State, number: RoundNumber, result: &RoundResult) {
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
    let untouched = state.voided.take().is_none() && untouched;
    let review = state.review().cloned();
    let (pin, evidence, slots) = review.map_or_else(
        || (None, None, BTreeMap::new()),
        |review| (Some(review.pin), Some(review.evidence), review.slots),
    );
    let settled = std::mem::take(&mut state.settled);
    let mut closed = ClosedRound {
        number,
        pin,
        evidence,
        slots,
        plan: state.plan,
        result: result.clone(),
        stood: BTreeMap::new(),
        left: None,
        untouched,
    };
    if closed.is_void() {
        void(state, &settled);
    }
    closed.stood = state.standing();
    state.rounds.push(closed);
    state.phase = Phase::Between;
}

/// What passed in a void round is void, and so is what it settled.
fn void(state: &mut State, settled: &[Undo]) {
    for undo in settled.iter().rev() {
        let mut findings = state.findings.iter_mut();
        // What another slot said in the meantime is no approval, and stands.
        let settled = findings.find(|it| it.id == undo.finding && !it.disposition.holds());
        if let Some(finding) = settled {
            finding.disposition = undo.before;
        }
        if let Some(notes) = state.notes.get_mut(&undo.finding) {
            notes.retain(|word| word.job != undo.job);
        }
    }
}

pub(super) fn promote_requested(state: &mut State) {
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
pub(super) fn set_stage(state: &mut State, next: Stage) {
    if let Phase::Round { stage, .. } = &mut state.phase {
        **stage = next;
    }
}

/// Moves the round's review into another stage.
pub(super) fn with_review(state: &mut State, next: impl FnOnce(Review) -> Stage) {
    if let Some(review) = state.review().cloned() {
        set_stage(state, next(review));
    }
}

/// Changes how one slot stands in the review under way.
pub(super) fn with_slot(state: &mut State, slot: &SlotName, change: impl FnOnce(&mut SlotReview)) {
    if let Phase::Round { stage, .. } = &mut state.phase
        && let Stage::Reviewing { review } = &mut **stage
    {
        change(review.slots.entry(slot.clone()).or_default());
    }
}

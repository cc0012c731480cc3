//! Folding that a run lay aside: see [`crate::engine::aside`].

use crate::domain::effect::Effect;
use crate::domain::failure::Failure;
use crate::domain::identity::{Moved, Remeasured, Trip, Tripwire};
use crate::engine::aside::{Aside, Cost, Voided, counted};
use crate::engine::fold::watch;
use crate::engine::state::{Phase, Stage, State};

/// Everything was given back, and the source was looked at: nobody of the run runs from here on.
pub(super) fn given_back(state: &mut State, found: Option<&Remeasured>) {
    let Some(found) = found else { return };
    let role = state.role_under_way();
    let pin = state.watched_aside();
    let moved = pin.map_or_else(Vec::new, |pin| counted(role, pin, found));
    watch::seen(state, &found.pin);
    state.aside = Some(Box::new(Aside {
        moved,
        tripwire: found.pin.tripwire.clone(),
    }));
}

/// An engine takes the run up again, which found this, and that what the round under way is about is gone.
///
/// What moved since everything was given back, people moved, and what is measured from here on is compared
/// with how it is now. Where that look is missing, since the engine died or could not look, nobody knows who
/// moved it: no job is blamed for that, and nothing that passed before rests on it.
pub(super) fn taken_up(state: &mut State, found: Option<&Remeasured>, gone: Option<&Failure>) {
    let lay_aside = state.suspended.is_some();
    let mut voided = Voided {
        gone: gone.cloned(),
        ..Voided::default()
    };
    match (state.aside.take(), found) {
        (Some(aside), found) => {
            state.watched = found
                .map(|found| found.pin.clone())
                .or_else(|| state.under_way().cloned());
            voided.by_jobs = aside.moved;
            if let Some(found) = found {
                let by_people = |trip| {
                    voided
                        .by_jobs
                        .iter()
                        .all(|moved: &Moved| moved.trip != trip)
                };
                rebase(state, &found.pin.tripwire, by_people);
            }
        }
        (None, Some(found)) => {
            let pin = state.under_way();
            voided.unknown = pin.map_or_else(Vec::new, |pin| counted(None, pin, found));
            watch::found(state, &found.pin);
            if state.role_under_way().is_some() {
                // Where HEAD is says where the job's work lies, whoever switched it.
                rebase(state, &found.pin.tripwire, |trip| trip != Trip::HeadRef);
            }
        }
        // As an older engine put it aside, which did not look.
        (None, None) if lay_aside => state.watched = state.under_way().cloned(),
        (None, None) => {}
    }
    if !voided.is_nothing() {
        void(state, voided);
    }
}

/// What passed in the round under way is void, and the next round reviews again: whoever takes the run up is
/// told why, and what is there from here on is what that round begins with. Where nobody was asked in it yet,
/// it begins so itself. What was found after an earlier death of its engine is not forgotten.
fn void(state: &mut State, voided: Voided) {
    match state.cost_aside() {
        Cost::Nothing => return,
        Cost::Pin => return pin_anew(state),
        Cost::Passes => {}
    }
    if let Phase::Round { stage, .. } = &mut state.phase
        && let Stage::Measuring { review, .. } = &**stage
        && voided.is_gone()
    {
        // Nothing can be measured against what is gone.
        let review = review.clone();
        **stage = Stage::Reviewing { review };
        state
            .open
            .retain(|_, effect| !matches!(effect, Effect::Measure { .. }));
    }
    state.voided = Some(state.voided.take().unwrap_or_default().and(voided));
}

/// Nobody was asked in the round under way yet, and it begins with how things are now.
fn pin_anew(state: &mut State) {
    if let Phase::Round { stage, .. } = &mut state.phase {
        **stage = Stage::Opened;
    }
    state
        .open
        .retain(|_, effect| !matches!(effect, Effect::MakeEvidence { .. }));
}

/// What is under way is compared with this from here on, in such parts.
fn rebase(state: &mut State, tripwire: &Tripwire, parts: impl Fn(Trip) -> bool) {
    if let Some(pin) = state.under_way_mut() {
        let trips: Vec<Trip> = pin.tripwire.differs(tripwire).collect();
        for trip in trips.into_iter().filter(|trip| parts(*trip)) {
            pin.tripwire.take(tripwire, trip);
        }
    }
}

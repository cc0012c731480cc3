//! Watching the source: what moved from one look at it to the next, whoever looked and why.
//!
//! Each round and each step compares with its own pin. What a job left behind is in the next pin, too, so
//! it is kept here.

use crate::domain::effect::{Done, Outcome};
use crate::domain::identity::Pin;
use crate::engine::state::State;

/// An effect came back: it may have looked at the source.
pub(super) fn looked(state: &mut State, outcome: &Outcome) {
    match outcome {
        Outcome::Pinned {
            result: Done::Ok(pin),
        } => {
            if state.is_in_writing_step() {
                state.looks.pinned(pin);
            }
            seen(state, pin);
        }
        Outcome::Measured {
            result: Done::Ok(measured),
        } => {
            if state.is_in_writing_step() {
                state.looks.measured(measured);
            }
            seen(state, &measured.pin);
        }
        Outcome::Pinned {
            result: Done::Err(_),
        }
        | Outcome::Measured {
            result: Done::Err(_),
        }
        | Outcome::EvidenceMade { .. }
        | Outcome::TreeOpened { .. }
        | Outcome::JobEnded { .. }
        | Outcome::Delegated { .. }
        | Outcome::JobsAwaited
        | Outcome::TimerEnded { .. }
        | Outcome::Promoted { .. }
        | Outcome::Released { .. } => {}
    }
}

/// How it is while nobody knows what moved it: only what would take something out of the review counts.
pub(super) fn found(state: &mut State, now: &Pin) {
    if let Some(before) = state.watched.replace(now.clone()) {
        rebased(state, &before, now);
    }
}

pub(super) fn seen(state: &mut State, now: &Pin) {
    if state.branch.is_none() {
        state.branch = Some(now.tripwire.head_ref.clone());
    }
    let Some(before) = state.watched.replace(now.clone()) else {
        return;
    };
    for trip in before.tripwire.differs(&now.tripwire) {
        let is_known = state.tampered.iter().any(|moved| moved.trip == trip);
        if trip.outlasts_its_round() && !is_known {
            let moved = before.tripwire.moved(&now.tripwire, trip);
            state.tampered.push(moved);
        }
    }
    rebased(state, &before, now);
}

fn rebased(state: &mut State, before: &Pin, now: &Pin) {
    let (old, new) = (&before.identity.base, &now.identity.base);
    // Who brings HEAD onto the ref as it was has another base, and nothing new in it.
    if old != new && before.base_tip != now.base_tip && state.rebased.is_none() {
        state.rebased = Some((old.clone(), new.clone()));
    }
}

//! Watching the source: what moved from one look at it to the next, whoever looked and why.
//!
//! Each round and each step compares with its own pin. What a job left behind is in the next pin, too, so
//! it is kept here.

use crate::domain::effect::{Done, Outcome};
use crate::domain::identity::Pin;
use crate::engine::state::{Phase, Stage, State};

/// An effect came back: it may have looked at the source.
pub(super) fn looked(state: &mut State, outcome: &Outcome) {
    match outcome {
        Outcome::Pinned {
            result: Done::Ok(pin),
        } => seen(state, pin),
        Outcome::Measured {
            result: Done::Ok(measured),
        } => seen(state, &measured.pin),
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

fn seen(state: &mut State, now: &Pin) {
    if state.branch.is_none() {
        state.branch = Some(now.tripwire.head_ref.clone());
    }
    let Some(before) = state.watched.replace(now.clone()) else {
        return;
    };
    for trip in before.tripwire.differs(&now.tripwire) {
        if trip.outlasts_its_round() && !state.tampered.contains(&trip) {
            state.tampered.push(trip);
        }
    }
    let (old, new) = (&before.identity.base, &now.identity.base);
    // Who brings HEAD onto the ref as it was has another base, and nothing new in it.
    if old != new && before.base_tip != now.base_tip && state.rebased.is_none() {
        state.rebased = Some((old.clone(), new.clone()));
    }
}

/// The pin of what is under way: what is measured next is compared with it.
pub(super) fn under_way(state: &State) -> Option<&Pin> {
    let Phase::Round { stage, .. } = &state.phase else {
        return state.work().map(|(_, pin)| pin);
    };
    match &**stage {
        Stage::Pinned {
            result: Done::Ok(pin),
        }
        | Stage::Gathering { pin }
        | Stage::Gathered { pin, .. } => Some(pin),
        Stage::Reviewing { review }
        | Stage::Measuring { review, .. }
        | Stage::Measured { review, .. }
        | Stage::Promoting { review, .. }
        | Stage::Promoted { review, .. } => Some(&review.pin),
        Stage::Opened
        | Stage::Pinning
        | Stage::Pinned {
            result: Done::Err(_),
        } => None,
    }
}

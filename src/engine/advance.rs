//! Deciding: the one next event that follows from the state, or none.
//!
//! Every decision is made from folded facts alone, so it does not matter whether they were just
//! folded or read back from a journal.

mod agenda;
mod answer;
mod budget;
mod cancelled;
mod close;
mod delegation;
mod hold;
mod limit;
mod moved;
mod round;
mod slot;
mod verdict;
mod work;

pub(super) use close::fail;

use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::id::EffectId;
use crate::engine::state::{Phase, State};

/// The next event that is due, or `None` while the run waits for an input or is over.
#[must_use]
pub fn advance(state: &State) -> Option<Event> {
    if let Some(event) = delegation::judged(state) {
        return Some(event);
    }
    if let Some(event) = close::forced(state) {
        return Some(event);
    }
    if state.is_cancelled() {
        return cancelled::next(state);
    }
    if state.is_being_put_aside() {
        return close::put_aside(state);
    }
    if let Some(event) = budget::watch(state) {
        return Some(event);
    }
    if let Phase::Between | Phase::Work { .. } | Phase::Round { .. } = &state.phase
        && let Some(event) = delegation::next(state)
    {
        return Some(event);
    }
    let due = match &state.phase {
        // It waits for its start, or is over.
        Phase::Unstarted | Phase::Ended { .. } => None,
        Phase::Between => agenda::next(state),
        Phase::Work { work, stage } => work::stage(state, work, stage),
        Phase::Round { number, stage } => round::stage(state, *number, stage),
        Phase::Closing { end, released, .. } => close::closing(state, end, *released),
    };
    let Some(due) = due else {
        return budget::held(state);
    };
    match hold::hold(state, &due) {
        hold::Hold::Free => Some(due),
        hold::Hold::Waiting => budget::held(state),
        hold::Hold::First(event) => Some(event),
    }
}

/// The event that requests an effect, under the next number.
fn request(state: &State, effect: Effect) -> Event {
    Event::EffectRequested {
        id: EffectId(state.requested + 1),
        effect: Box::new(effect),
    }
}

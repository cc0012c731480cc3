//! An effect was performed.

use crate::domain::effect::Outcome;
use crate::domain::event::Event;
use crate::domain::id::EffectId;
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// First outcome wins: one for an effect that is not open is dropped.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    effect: EffectId,
    outcome: Box<Outcome>,
) -> Option<Event> {
    state
        .open
        .contains_key(&effect)
        .then_some(Event::EffectDone {
            stamp,
            effect,
            outcome,
        })
}

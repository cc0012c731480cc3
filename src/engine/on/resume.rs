//! An engine takes the run up again.

use crate::domain::event::Event;
use crate::domain::limits::Allowed;
use crate::domain::time::{Stamp, Timestamp};
use crate::engine::state::State;

/// A run that never started or is over cannot be resumed.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    allowed: Allowed,
    seen: Option<Timestamp>,
) -> Option<Event> {
    (state.run.is_some() && !state.is_over()).then_some(Event::RunResumed {
        stamp,
        allowed,
        seen,
    })
}

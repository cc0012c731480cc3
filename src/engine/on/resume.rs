//! An engine takes the run up again.

use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::identity::Remeasured;
use crate::domain::limits::Allowed;
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// A run that never started or is over cannot be resumed.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    allowed: Allowed,
    ran: Option<u64>,
    (found, gone): (Option<Box<Remeasured>>, Option<Failure>),
) -> Option<Event> {
    let gone = gone.or_else(|| state.unshown_aside(found.as_deref()?));
    (state.run.is_some() && !state.is_over()).then_some(Event::RunResumed {
        stamp,
        allowed,
        seen: None,
        ran,
        found,
        gone,
    })
}

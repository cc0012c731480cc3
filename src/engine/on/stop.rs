//! Somebody asks the run to stop.

use crate::domain::event::{Event, StopCause};
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// The first request counts; a repeated one says nothing new.
pub(super) fn record(state: &State, stamp: Stamp, cause: StopCause) -> Option<Event> {
    let runs = state.run.is_some() && !state.is_over();
    (runs && state.stop.is_none()).then_some(Event::StopRequested { stamp, cause })
}

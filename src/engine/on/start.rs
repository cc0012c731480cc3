//! The run is started.

use crate::domain::event::Event;
use crate::domain::run_spec::RunSpec;
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// Only a journal that holds nothing can be started.
pub(super) fn record(state: &State, stamp: Stamp, spec: Box<RunSpec>) -> Option<Event> {
    state
        .run
        .is_none()
        .then_some(Event::RunStarted { stamp, spec })
}

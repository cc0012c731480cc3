//! Somebody asks the run to stop.

use crate::domain::event::{Event, StopCause};
use crate::domain::id::MessageId;
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// The first request counts; a repeated one says nothing new. To cancel is more than to
/// interrupt: it counts also after that.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    cause: StopCause,
    message: Option<MessageId>,
) -> Option<Event> {
    let runs = state.run.is_some() && !state.is_over();
    let news = match (state.stop, cause) {
        (None, _) | (Some(StopCause::Interrupt | StopCause::Terminate), StopCause::Cancel) => true,
        (Some(StopCause::Cancel), _) | (Some(_), StopCause::Interrupt | StopCause::Terminate) => {
            false
        }
    };
    (runs && news).then_some(Event::StopRequested {
        stamp,
        cause,
        message,
    })
}

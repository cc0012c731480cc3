//! Somebody asks for something about delegated jobs.

use crate::domain::delegation::{Fence, JobRequest};
use crate::domain::event::Event;
use crate::domain::id::MessageId;
use crate::domain::time::Stamp;
use crate::engine::state::State;
use crate::engine::weigh::{Weight, weigh};

/// Only what says something new is recorded.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    message: MessageId,
    from: Option<Fence>,
    request: Box<JobRequest>,
) -> Option<Event> {
    match weigh(state, message, from.as_ref(), &request) {
        Weight::New => Some(Event::JobRequested {
            stamp,
            message,
            from,
            request,
        }),
        Weight::Repeat | Weight::Activity | Weight::Refused(_) => None,
    }
}

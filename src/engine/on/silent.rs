//! A dispatch printed nothing for long.

use crate::domain::event::Event;
use crate::domain::id::JobId;
use crate::domain::time::Stamp;
use crate::engine::state::State;

/// It is told once for each dispatch, while that is under way; it ends nothing.
pub(super) fn record(state: &State, stamp: Stamp, job: JobId, attempt: u32) -> Option<Event> {
    let current = state.fence_of(job).is_some_and(|it| it.attempt == attempt);
    let news = current && !state.is_winding_up() && !state.silent.contains(&(job, attempt));
    news.then_some(Event::JobSilent {
        stamp,
        job,
        attempt,
    })
}

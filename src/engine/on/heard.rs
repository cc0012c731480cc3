//! A dispatch printed something again.

use crate::domain::event::Event;
use crate::domain::id::JobId;
use crate::domain::time::Stamp;
use crate::engine::blocked::Blocked;
use crate::engine::state::State;

/// It is told where the dispatch was silent for long, or where it goes on after the question that it
/// waits on; whoever looked may have seen another one than that.
pub(super) fn record(
    state: &State,
    stamp: Stamp,
    job: JobId,
    attempt: u32,
    question: Option<u32>,
) -> Option<Event> {
    let current = state.fence_of(job).is_some_and(|it| it.attempt == attempt);
    let open = state.blocked_of(job).and_then(Blocked::number);
    let answered = open.is_some() && open == question;
    let was_told = answered || state.silent.contains(&(job, attempt));
    let news = current && !state.is_winding_up() && was_told;
    news.then_some(Event::JobHeard {
        stamp,
        job,
        attempt,
        answered,
    })
}

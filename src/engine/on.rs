//! Recording inputs: one file per kind. Each says when its input no longer means anything.

mod done;
mod heard;
mod job;
mod resume;
mod silent;
mod start;
mod stop;

use crate::domain::event::Event;
use crate::engine::input::{Input, InputKind};
use crate::engine::state::State;

/// The event that records an input, or `None` where it means nothing any more.
pub(super) fn record(state: &State, input: Input) -> Option<Event> {
    let Input { stamp, kind } = input;
    match kind {
        InputKind::Start(spec) => start::record(state, stamp, spec),
        InputKind::Resume {
            allowed,
            ran,
            found,
            gone,
        } => resume::record(state, stamp, allowed, ran, (found, gone)),
        InputKind::Stop { cause, message } => stop::record(state, stamp, cause, message),
        InputKind::Silent { job, attempt } => silent::record(state, stamp, job, attempt),
        InputKind::Heard {
            job,
            attempt,
            question,
        } => heard::record(state, stamp, job, attempt, question),
        InputKind::Job {
            message,
            from,
            request,
        } => job::record(state, stamp, message, from, request),
        InputKind::Done { effect, outcome } => done::record(state, stamp, effect, outcome),
    }
}

//! A run that is cancelled: what a job left that may write is measured before the end, since nobody
//! looks at it afterwards.

use crate::domain::code::Code;
use crate::domain::effect::Done;
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::engine::advance::close::fail;
use crate::engine::advance::work::{beside, measure, misplaced, unmeasured};
use crate::engine::state::{Phase, State};
use crate::engine::work::{Asked, WorkStage};

/// What follows in a cancelled run whose end is not decided; `None` while something is under way that
/// may still write, or measures.
pub(super) fn next(state: &State) -> Option<Event> {
    let run = state.run.as_ref()?;
    let message = format!("run {} was cancelled", run.loop_id);
    let cancelled = Failure::new(Code::Cancelled, message).next(run.again());
    let Phase::Work { work, stage } = &state.phase else {
        return Some(fail(cancelled));
    };
    if !work.role.writes() {
        return Some(fail(cancelled));
    }
    // What was delegated in the same tree writes there, too.
    let left = |asked: &Asked| {
        let nothing_runs = state.open.is_empty();
        nothing_runs.then(|| measure(state, work, &asked.pin))
    };
    match &**stage {
        WorkStage::Running { .. } | WorkStage::Measuring { .. } => None,
        WorkStage::Measured { asked, result, .. } => {
            let found = match &**result {
                Done::Ok(measured) => misplaced(state, work, &asked.pin, measured),
                Done::Err(failure) => Some(unmeasured(work, failure)),
            };
            Some(fail(match found {
                Some(found) => beside(cancelled, found),
                None => cancelled,
            }))
        }
        WorkStage::Answered { asked, .. } => left(asked),
        // An earlier attempt was asked, and a later one waits to be.
        WorkStage::Ready { asked } if asked.attempt > 1 => left(asked),
        WorkStage::Opened { .. }
        | WorkStage::Pinning { .. }
        | WorkStage::Unpinned { .. }
        | WorkStage::Ready { .. }
        | WorkStage::Opening { .. }
        | WorkStage::Open { .. } => Some(fail(cancelled)),
    }
}

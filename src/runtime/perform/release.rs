//! Giving back what outlives the rounds: review trees, job folders, the rounds' evidence. Where the run is put
//! aside, the source is looked at: nobody of the run runs from there on.

use std::sync::Arc;

use crate::domain::effect::{Done, Outcome};
use crate::domain::failure::Failure;
use crate::domain::work::before;
use crate::engine::State;
use crate::runtime::perform::{in_thread, measure, run_of};
use crate::runtime::remains;
use crate::runtime::rim::Rim;

/// What cannot be removed is named; the run's end does not depend on it.
pub(super) async fn perform(rim: Arc<Rim>, state: Arc<State>) -> Outcome {
    if let Err(failure) = nobody_left(&rim, &state).await {
        // The record of who they are lies there, and trees that they can reach are nobody else's.
        let (left, found) = (vec![failure.message], None);
        return Outcome::Released { left, found };
    }
    let released = in_thread(move || {
        // What cannot be measured is unknown to whoever takes the run up, as after a crash.
        let found = state
            .is_being_put_aside()
            .then(|| measure::aside(&rim, &state));
        let mut left = rim.trees.release();
        let step = compared_with(&state);
        left.extend(rim.remove_job_folders(run_of(&state)?.loop_id, step.as_deref()));
        Ok((left, found.flatten()))
    })
    .await;
    let (left, found) = match released {
        Done::Ok(released) => released,
        Done::Err(failure) => (vec![failure.message], None),
    };
    let found = found.map(Box::new);
    Outcome::Released { left, found }
}

/// Makes sure that nobody of the run lives, its guards included: one that was told to kill everything may
/// still be at it, or be stopped by its own job.
async fn nobody_left(rim: &Rim, state: &State) -> Result<(), Failure> {
    remains::given_up(&rim.cache, run_of(state)?.loop_id).await
}

/// How the names begin of what the step under way is compared with, where the run is only put aside: the
/// step is measured from before its first job when the run is taken up, and nothing can make that again.
fn compared_with(state: &State) -> Option<String> {
    let (work, _) = state.work().filter(|_| state.is_being_put_aside())?;
    work.role.writes().then(|| before(work.round(), work.role))
}

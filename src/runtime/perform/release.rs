//! Giving back what outlives the rounds: review trees, job folders, the rounds' evidence.

use std::sync::Arc;

use crate::domain::effect::{Done, Outcome};
use crate::engine::State;
use crate::runtime::perform::{in_thread, remains_ended, run_of};
use crate::runtime::rim::Rim;

/// What cannot be removed is named; the run's end does not depend on it.
pub(super) async fn perform(rim: Arc<Rim>, state: Arc<State>) -> Outcome {
    if let Err(failure) = remains_ended(&rim, &state).await {
        // The record of who they are lies there, and trees that they can reach are nobody else's.
        let left = vec![failure.message];
        return Outcome::Released { left };
    }
    let released = in_thread(move || {
        let mut left = rim.trees.release();
        left.extend(rim.remove_job_folders(run_of(&state)?.loop_id));
        Ok(left)
    })
    .await;
    Outcome::Released {
        left: match released {
            Done::Ok(left) => left,
            Done::Err(failure) => vec![failure.message],
        },
    }
}

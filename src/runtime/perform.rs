//! Performing effects: one file for each kind. Every effect can be performed again after a crash,
//! and each gives exactly one outcome; what goes wrong is an outcome too.

mod anew;
mod delegate;
mod evidence;
pub(super) mod job;
pub(super) mod measure;
mod own;
mod pin;
pub(super) mod plan;
mod promote;
mod release;
mod timer;
mod tree;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::code::Code;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::failure::Failure;
use crate::domain::run_spec::RunSpec;
use crate::engine::State;
use crate::runtime::clock;
use crate::runtime::remains;
use crate::runtime::rim::Rim;

/// Performs one effect. `state` is the one that requested it, or that it was read back in where
/// it is done `again` for a dead engine. `run_left` is what the run has left of its time, where that has
/// a bound. `stop` ends it politely, `kill` now.
pub(super) async fn perform(
    rim: Arc<Rim>,
    effect: Effect,
    state: Arc<State>,
    again: bool,
    run_left: Option<Duration>,
    stop: CancellationToken,
    kill: CancellationToken,
) -> Outcome {
    match effect {
        Effect::Pin { round, work } => {
            tree::look_over(&rim, &state, work);
            Outcome::Pinned {
                result: in_thread(move || pin::perform(&rim, run_of(&state)?, round, work)).await,
            }
        }
        Effect::MakeEvidence {
            round,
            pin,
            receipt_seed,
            since,
        } => Outcome::EvidenceMade {
            result: in_thread(move || {
                evidence::perform(&rim, run_of(&state)?, round, &pin, &receipt_seed, &since)
            })
            .await,
        },
        Effect::OpenTree {
            slot,
            snapshot,
            tree,
            base,
            ..
        } => Outcome::TreeOpened {
            // Not handed on while somebody of a dead job may write to it.
            result: match remains_ended(&rim, &state).await {
                Err(failure) => Done::Err(failure),
                Ok(()) => {
                    in_thread(move || {
                        tree::perform(&rim, run_of(&state)?, &slot, &snapshot, &tree, &base)
                    })
                    .await
                }
            },
        },
        Effect::RunJob { job } => {
            rim.trees.job_begins();
            anew::before_job(&rim, &state, &job, again).await;
            Outcome::JobEnded {
                outcome: job::perform(&rim, &state, &job, again, run_left, stop, kill).await,
            }
        }
        Effect::Delegate { dispatch } => {
            rim.trees.job_begins();
            let is_alone = anew::before_dispatch(&rim, &state, &dispatch, again).await;
            let mut outcome =
                delegate::perform(&rim, &state, &dispatch, again, run_left, stop, kill).await;
            if is_alone && outcome.ended.was_asked() {
                anew::lost_by(&rim, &state, &dispatch, &mut outcome).await;
            }
            Outcome::Delegated { outcome }
        }
        Effect::AwaitJobs { until, .. } => {
            tokio::select! {
                () = stop.cancelled() => {}
                () = kill.cancelled() => {}
                () = tokio::time::sleep(clock::left_until(until)) => {}
            }
            Outcome::JobsAwaited
        }
        Effect::Timer { of, until } => timer::perform(of, until, stop, kill).await,
        Effect::Measure {
            round,
            point,
            pinned,
        } => Outcome::Measured {
            result: in_thread(move || measure::at(&rim, &state, round, point, &pinned)).await,
        },
        Effect::Promote { round } => Outcome::Promoted {
            result: in_thread(move || promote::perform(&rim, &state, round)).await,
        },
        Effect::Release => release::perform(rim, state).await,
    }
}

/// What the run is bound to.
fn run_of(state: &State) -> Result<&RunSpec, Failure> {
    state
        .run
        .as_deref()
        .ok_or_else(|| Failure::new(Code::Internal, "an effect of a run that never started"))
}

/// Ends what dead attempts of the run left.
async fn remains_ended(rim: &Rim, state: &State) -> Result<(), Failure> {
    remains::ended(&rim.cache, run_of(state)?.loop_id).await
}

/// Git and files block: they get a thread. A panic there is a failure, not the end of the engine.
async fn in_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Done<T> {
    let joined = tokio::task::spawn_blocking(work).await;
    Done::from(joined.unwrap_or_else(|error| {
        Err(Failure::new(
            Code::Internal,
            format!("an effect could not be performed: {error}"),
        ))
    }))
}

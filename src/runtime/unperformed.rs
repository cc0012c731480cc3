//! What an effect comes to that nobody performs any more, or that was not performed to its end: every effect has
//! an outcome, or its run would wait for ever.

use tokio::task::JoinHandle;

use crate::domain::code::Code;
use crate::domain::confinement::Confinement;
use crate::domain::delegation::DispatchOutcome;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::failure::Failure;
use crate::domain::job::{Ended, JobOutcome, Reading};
use crate::domain::spent::Spent;
use crate::runtime::clock;

/// The outcome of an effect, by the task that performs it. One that panicked is a case that cannot be, and
/// a failure like any other: what its job had started is ended when its guard is dropped.
pub(super) async fn awaited(task: JoinHandle<Outcome>, effect: &Effect) -> Outcome {
    task.await.unwrap_or_else(|error| {
        let message = format!("an effect could not be performed: {error}");
        outcome(effect, Failure::new(Code::Internal, message))
    })
}

/// The outcome of an effect that failed so.
pub(super) fn outcome(effect: &Effect, failure: Failure) -> Outcome {
    let now = clock::now();
    match effect {
        Effect::Pin { .. } => Outcome::Pinned {
            result: Done::Err(failure),
        },
        Effect::MakeEvidence { .. } => Outcome::EvidenceMade {
            result: Done::Err(failure),
        },
        Effect::OpenTree { .. } => Outcome::TreeOpened {
            result: Done::Err(failure),
        },
        Effect::Measure { .. } => Outcome::Measured {
            result: Done::Err(failure),
        },
        Effect::Promote { .. } => Outcome::Promoted {
            result: Done::Err(failure),
        },
        Effect::AwaitJobs { .. } => Outcome::JobsAwaited,
        Effect::Timer { .. } => Outcome::TimerEnded { elapsed: false },
        Effect::Release => Outcome::Released {
            left: vec![failure.message],
            found: None,
        },
        // It may have been started, and may have written.
        Effect::RunJob { .. } => Outcome::JobEnded {
            outcome: JobOutcome {
                ended: Ended::unread(&failure),
                report: None,
                prompt: None,
                stderr: None,
                reading: Reading::Silent,
                spent: Spent::default(),
                confinement: Confinement::None,
                started_at: now,
                ended_at: now,
                outlived: Vec::new(),
            },
        },
        Effect::Delegate { .. } => Outcome::Delegated {
            outcome: DispatchOutcome {
                ended: Ended::unread(&failure),
                gone: false,
                report: None,
                spent: Spent::default(),
                unusable: None,
                misfit: None,
                lost: None,
                doubt: None,
                started_at: now,
                ended_at: now,
                outlived: Vec::new(),
            },
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::id::RoundNumber;
    use tokio_util::task::TaskTracker;

    /// A task that panics answers all the same: its run goes on to its end.
    #[tokio::test]
    async fn an_effect_whose_task_panics_is_answered() {
        let pin = Effect::Pin {
            round: RoundNumber(1),
            work: None,
        };
        let cannot_be = || TaskTracker::new().spawn(async { panic!("cannot be") });
        let pinned = awaited(cannot_be(), &pin).await;
        assert!(
            matches!(&pinned, Outcome::Pinned { result: Done::Err(failure) } if failure.code == Code::Internal),
            "{pinned:?}"
        );
        let released = awaited(cannot_be(), &Effect::Release).await;
        assert!(
            matches!(&released, Outcome::Released { left, .. } if left.len() == 1),
            "{released:?}"
        );
    }
}

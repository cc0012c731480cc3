//! Ending a run whose engine is dead, without git and without its working tree.

mod finished;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::event::StopCause;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId, MessageId};
use crate::domain::identity::{Kept, Pin};
use crate::domain::limits::Allowed;
use crate::engine::{InputKind, State};
use crate::git::review_tree::release_run;
use crate::git::store::ReviewStore;
use crate::runtime::drive::{Observer, take};
use crate::runtime::remains;
use crate::runtime::rim::remove_job_folders;
use crate::runtime::unperformed;
use crate::store::{Artifacts, Journal};

/// What ending a run needs of the world.
#[derive(Debug)]
pub struct Ending<'a> {
    /// Our folder for what can be made again.
    pub cache: &'a Path,
    /// The run's large outputs.
    pub artifacts: &'a Artifacts,
    /// The environment that its jobs got theirs from.
    pub environment: &'a BTreeMap<OsString, OsString>,
}

/// Records a dead engine's run as cancelled: waits until its guards have ended what ran, keeps what was
/// finished, gives back what it held, and ends it.
///
/// # Errors
/// When the journal cannot be written, or what an attempt left cannot be read.
pub async fn cancel(
    journal: &mut Journal,
    state: &mut State,
    ending: &Ending<'_>,
    message: Option<MessageId>,
    observer: &mut dyn Observer,
) -> Result<(), Failure> {
    // As its engine left it: what a job was asked is not told by a run that ends.
    let before = state.clone();
    let cause = StopCause::Cancel;
    let first = if state.stop == Some(cause) {
        InputKind::Resume {
            allowed: Allowed::default(),
            ran: None,
            found: None,
            gone: None,
        }
    } else {
        // It does not go on first: nobody is asked again, and nobody is told so.
        InputKind::Stop { cause, message }
    };
    take(journal, state, first, observer)?;
    let Some(run) = state.run.as_ref().map(|spec| spec.loop_id) else {
        return Ok(());
    };
    loop {
        let next = state.open_effects().next();
        let Some((id, effect)) = next.map(|(id, effect)| (id, effect.clone())) else {
            return Ok(());
        };
        let outcome = Box::new(if let Effect::Measure { pinned, .. } = &effect {
            let failure = unmeasured(state, pinned, ending.cache, observer);
            let result = Done::Err(failure.unwrap_or_else(not_done));
            Outcome::Measured { result }
        } else {
            outcome(effect, run, &before, ending).await?
        });
        let done = InputKind::Done {
            effect: id,
            outcome,
        };
        take(journal, state, done, observer)?;
    }
}

fn not_done() -> Failure {
    Failure::new(Code::Cancelled, "the run was cancelled")
}

/// What stands for the measurement after a job that wrote: nobody looks at a working tree that may be
/// gone, so it is said what is not known, with what prints the edits as they were before the job.
fn unmeasured(
    state: &State,
    pinned: &Pin,
    cache: &Path,
    observer: &mut dyn Observer,
) -> Option<Failure> {
    let ((work, _), run) = (state.work()?, state.run.as_ref()?);
    if !work.role.writes() {
        return None;
    }
    let role = work.role.as_str();
    let store = ReviewStore::lies_at(Path::new(&run.common_dir), cache).filter(|_| pinned.dirty);
    let failure = if let Some(store) = store {
        let message = format!(
            "its engine is dead, so it is not known what its {role} job did to your uncommitted edits; they are printed as they were before"
        );
        let kept = Kept {
            store: store.display().to_string(),
            snapshot: pinned.snapshot.clone(),
            staged: None,
            unmerged: None,
        };
        Failure::new(Code::Cancelled, message).next(kept.edits(&pinned.identity.head))
    } else {
        let message =
            format!("its engine is dead, so it is not known where its {role} job left work");
        Failure::new(Code::Cancelled, message).next(["git", "-C", &run.source_root, "status"])
    };
    observer.note(&format!("{}: {}", failure.message, failure.next));
    Some(failure)
}

/// What comes of an effect that is not performed any more.
async fn outcome(
    effect: Effect,
    run: LoopId,
    before: &State,
    ending: &Ending<'_>,
) -> Result<Outcome, Failure> {
    let cache = ending.cache;
    Ok(match effect {
        Effect::Pin { .. }
        | Effect::MakeEvidence { .. }
        | Effect::OpenTree { .. }
        | Effect::AwaitJobs { .. }
        | Effect::Timer { .. }
        | Effect::Measure { .. }
        | Effect::Promote { .. } => unperformed::outcome(&effect, not_done()),
        Effect::RunJob { job } => {
            is_over(job.id, run, cache).await?;
            Outcome::JobEnded {
                outcome: finished::job(before, &job, ending).await,
            }
        }
        Effect::Delegate { dispatch } => {
            is_over(dispatch.folder, run, cache).await?;
            Outcome::Delegated {
                outcome: finished::dispatch(before, run, &dispatch, ending).await,
            }
        }
        Effect::Release => {
            let left = match remains::ended(cache, run).await {
                Ok(()) => {
                    let mut left = release_run(cache, run);
                    left.extend(remove_job_folders(cache, run, None));
                    left
                }
                // The record of who they are lies there, for `cleanup`.
                Err(failure) => vec![failure.message],
            };
            let found = None;
            Outcome::Released { left, found }
        }
    })
}

/// Waits until nothing of the job runs: its guard ends it, since its engine is dead.
async fn is_over(job: JobId, run: LoopId, cache: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        let message = format!("what job {job} left cannot be read: {error}");
        Failure::new(Code::StateUnwritable, message)
    };
    remains::over(&remains::of_job(cache, run, job).map_err(failed)?).await
}

//! The source right before one job that may write, where what it is measured against is older or not there: a step
//! that was asked before, and a run of one job. People edit while a run lies aside.

use std::sync::Arc;

use crate::domain::delegation::Dispatch;
use crate::domain::effect::Done;
use crate::domain::failure::Failure;
use crate::domain::identity::{Kept, Lost, Pin};
use crate::domain::job::Job;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::ANEW;
use crate::engine::State;
use crate::git::{measure, snapshot};
use crate::runtime::perform::pin::{self, unwritable};
use crate::runtime::perform::{delegate, in_thread, run_of};
use crate::runtime::rim::Rim;
use crate::store::{Access, Folder};

/// Bytes of such a file.
const PIN_CAP: u64 = 16 << 20;

/// Before a job of a step that was asked before in a run that was taken up since: within one engine's life its own
/// earlier attempt is what edits the source. What that left need not be what a snapshot can hold, which is told
/// when it is measured.
pub(super) async fn before_job(rim: &Arc<Rim>, state: &Arc<State>, job: &Job, again: bool) {
    let was_aside = job.attempt > 1 && state.inherited > 0;
    if again || !was_aside || !job.role.writes() {
        return;
    }
    let (rim, state, round, role) = (Arc::clone(rim), Arc::clone(state), job.round, job.role);
    let kept = in_thread(move || {
        let run = run_of(&state)?;
        let (folder, name) = pin::before_file(&rim, run, round, role)?;
        keep(&rim, run, (&folder, &format!("{name}.{ANEW}")))
    });
    drop(kept.await);
}

/// Before a dispatch that is all that its run does, and whether it is. Somebody may delegate where nothing could
/// be reviewed.
pub(super) async fn before_dispatch(
    rim: &Arc<Rim>,
    state: &Arc<State>,
    dispatch: &Dispatch,
    again: bool,
) -> bool {
    let is_alone = delegate::works_alone(state, dispatch);
    if is_alone && !again {
        let (rim, state, name) = (Arc::clone(rim), Arc::clone(state), noted(dispatch));
        let kept = in_thread(move || {
            let run = run_of(&state)?;
            keep(&rim, run, (&pin::folder(&rim, run)?, &name))
        });
        drop(kept.await);
    }
    is_alone
}

/// What such a dispatch threw away, as far as that is known.
pub(super) async fn lost_by(
    rim: &Arc<Rim>,
    state: &Arc<State>,
    dispatch: &Dispatch,
) -> Option<Lost> {
    let (rim, state, name) = (Arc::clone(rim), Arc::clone(state), noted(dispatch));
    let found = in_thread(move || {
        let run = run_of(&state)?;
        lost(&rim, run, (&pin::folder(&rim, run)?, &name))
    });
    match found.await {
        Done::Ok(lost) => lost,
        Done::Err(_) => None,
    }
}

fn noted(dispatch: &Dispatch) -> String {
    format!("{}.{ANEW}", dispatch.folder)
}

/// Captures the source into the review store, and notes that in the folder for whoever measures.
fn keep(rim: &Rim, run: &RunSpec, (folder, name): (&Folder, &str)) -> Result<(), Failure> {
    let before = snapshot::before_job(&rim.git, &rim.repository, &rim.store, run, name)?;
    let bytes = serde_json::to_vec(&before).map_err(|error| unwritable(&error.into()))?;
    let written = folder.write(name, &bytes, Access::Private);
    written.map_err(|error| unwritable(&error))
}

/// What is lost of that; nothing where nothing was noted.
pub(super) fn lost(
    rim: &Rim,
    run: &RunSpec,
    (folder, name): (&Folder, &str),
) -> Result<Option<Lost>, Failure> {
    let bytes = match folder.read(name, PIN_CAP) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unwritable(&error)),
    };
    let before: Pin = serde_json::from_slice(&bytes).map_err(|error| unwritable(&error.into()))?;
    if !before.dirty {
        return Ok(None);
    }
    let measured = measure::measure(&rim.git, &rim.repository, &rim.store, run, &before)?;
    Ok((!measured.lost.is_empty()).then(|| Lost {
        edits: measured.lost,
        kept: Kept {
            store: rim.store.git_dir().display().to_string(),
            snapshot: before.snapshot,
            staged: None,
            unmerged: None,
        },
    }))
}

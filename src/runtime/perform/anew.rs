//! The source right before one job that may write, where what it is measured against is older or not there: a step
//! that was asked before, and a run of one job. People edit while a run lies aside.
//!
//! What cannot be kept or compared is a doubt, which is told: nothing lost is said of what is known alone.

use std::sync::Arc;

use crate::domain::delegation::{Dispatch, DispatchOutcome};
use crate::domain::effect::Done;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::identity::{About, Doubt, Kept, Lost, Pin};
use crate::domain::job::Job;
use crate::domain::look::{Look, Since};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::ANEW;
use crate::engine::State;
use crate::git::changes::between;
use crate::git::{measure, snapshot};
use crate::runtime::perform::pin::{self, unwritable};
use crate::runtime::perform::{delegate, in_thread, own, run_of};
use crate::runtime::rim::Rim;
use crate::store::{Access, Folder};

/// Bytes of such a file.
const PIN_CAP: u64 = 16 << 20;

/// What is lost of how things were then, or why that is not known.
#[derive(Default)]
pub(super) struct Found {
    pub(super) lost: Option<Lost>,
    pub(super) doubt: Option<Doubt>,
}

impl Found {
    fn doubt(why: impl Into<String>) -> Self {
        let (about, why) = (About::Edits, why.into());
        Self {
            lost: None,
            doubt: Some(Doubt { about, why }),
        }
    }
}

/// Before the first job of a step since the run was taken up, where the step was asked before: what its own
/// attempts of one engine's life edit is nobody's but theirs, and what is kept is kept once.
pub(super) async fn before_job(rim: &Arc<Rim>, state: &Arc<State>, job: &Job, again: bool) {
    if again || !job.role.writes() || !state.asks_anew(job) {
        return;
    }
    let (rim, state, round, role) = (Arc::clone(rim), Arc::clone(state), job.round, job.role);
    let kept = in_thread(move || {
        let run = run_of(&state)?;
        let (folder, name) = pin::before_file(&rim, run, round, role)?;
        keep(&rim, run, (&folder, &format!("{name}.{ANEW}")))
    });
    // What is not there when it is asked for is told then.
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

/// Tells in its outcome what such a dispatch threw away.
pub(super) async fn lost_by(
    rim: &Arc<Rim>,
    state: &Arc<State>,
    dispatch: &Dispatch,
    outcome: &mut DispatchOutcome,
) {
    let (rim, state, name) = (Arc::clone(rim), Arc::clone(state), noted(dispatch));
    let found = in_thread(move || {
        let run = run_of(&state)?;
        // It is the run's only job: nobody of the run wrote before.
        Ok(lost(&rim, (run, &[]), (&pin::folder(&rim, run)?, &name)))
    });
    let found = match found.await {
        Done::Ok(found) => found,
        Done::Err(failure) => Found::doubt(failure.message),
    };
    outcome.lost = found.lost.map(Box::new);
    outcome.doubt = found.doubt.map(Box::new);
}

fn noted(dispatch: &Dispatch) -> String {
    format!("{}.{ANEW}", dispatch.folder)
}

/// Captures the source into the review store, and notes that in the folder for whoever measures, beside what is
/// noted there of earlier moments; where it cannot be captured, why.
fn keep(rim: &Rim, run: &RunSpec, (folder, name): (&Folder, &str)) -> Result<(), Failure> {
    let run = &in_progress(run);
    let mut all = match noted_in(folder, name) {
        Ok(all) => all.unwrap_or_default(),
        // It is not known what was lost of that.
        Err(failure) => vec![Done::Err(failure)],
    };
    let held = match all.len() {
        0 => name.to_owned(),
        earlier => format!("{name}-{}", earlier + 1),
    };
    let before = snapshot::before_job(&rim.git, &rim.repository, &rim.store, run, &held);
    all.push(Done::from(before));
    let bytes = serde_json::to_vec(&all).map_err(|error| unwritable(&error.into()))?;
    let written = folder.write(name, &bytes, Access::Private);
    written.map_err(|error| unwritable(&error))
}

/// What was noted there, in order; `None` where nothing is.
fn noted_in(folder: &Folder, name: &str) -> Result<Option<Vec<Done<Pin>>>, Failure> {
    let bytes = match folder.read(name, PIN_CAP) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unwritable(&error)),
    };
    // An older engine noted one alone.
    let all = serde_json::from_slice(&bytes)
        .or_else(|_| serde_json::from_slice(&bytes).map(|one: Done<Pin>| vec![one]));
    all.map(Some).map_err(|error| unwritable(&error.into()))
}

/// Nothing is judged by what is kept: an operation that is open refuses nothing.
fn in_progress(run: &RunSpec) -> RunSpec {
    RunSpec {
        allow_in_progress: true,
        ..run.clone()
    }
}

/// What is lost of what was to be kept there; by these looks it is told what of it jobs of the run wrote.
pub(super) fn lost(
    rim: &Rim,
    (run, looks): (&RunSpec, &[Look]),
    (folder, name): (&Folder, &str),
) -> Found {
    let all = match noted_in(folder, name) {
        Ok(Some(all)) => all,
        Ok(None) => {
            return Found {
                lost: None,
                doubt: Some(Doubt::not_kept(About::Edits)),
            };
        }
        Err(failure) => return Found::doubt(failure.message),
    };
    let mut found = Found::default();
    let mut later: Vec<(Oid, Vec<RepoPath>)> = Vec::new();
    for before in all.into_iter().rev() {
        let of = match before {
            Done::Ok(before) => {
                let tree = before.identity.tree.clone();
                let mut of = lost_of(rim, (run, looks), &before);
                if let Some(lost) = &mut of.lost {
                    untold(rim, &tree, &mut lost.edits, &later);
                    later.push((tree, lost.edits.clone()));
                }
                of
            }
            Done::Err(failure) => Found::doubt(failure.message),
        };
        found.doubt = found.doubt.or(of.doubt);
        match (&mut found.lost, of.lost) {
            (Some(newest), Some(lost)) => newest.before.push(lost),
            (none, lost) => *none = none.take().or(lost),
        }
    }
    found
}

/// Leaves what is not told of a later moment already, where it was the same.
fn untold(rim: &Rim, tree: &Oid, edits: &mut Vec<RepoPath>, later: &[(Oid, Vec<RepoPath>)]) {
    for (then, told) in later {
        // What cannot be compared is told twice.
        if let Ok(since) = between(&rim.git, &rim.store, tree, then) {
            edits.retain(|path| !told.contains(path) || since.contains_key(path));
        }
    }
}

/// The same of one moment.
fn lost_of(rim: &Rim, (run, looks): (&RunSpec, &[Look]), before: &Pin) -> Found {
    if !before.dirty {
        return Found::default();
    }
    let kept = Kept {
        store: rim.store.git_dir().display().to_string(),
        snapshot: before.snapshot.clone(),
        staged: None,
        unmerged: None,
    };
    let run = &in_progress(run);
    match measure::measure(&rim.git, &rim.repository, &rim.store, run, before) {
        Ok(measured) if measured.lost.is_empty() => Found::default(),
        Ok(mut measured) => {
            let looks = [looks, &[Look::of(before, Since::Anybody)]].concat();
            own::apart(rim, &looks, &mut measured);
            Found {
                lost: Some(Lost {
                    edits: measured.lost,
                    own: measured.own,
                    kept,
                    before: Vec::new(),
                }),
                doubt: None,
            }
        }
        Err(failure) => {
            let prints = NextCommand(kept.edits(&before.identity.head));
            Found::doubt(format!(
                "the source cannot be measured after it: {} (all that was uncommitted before it is printed by: {prints})",
                failure.message
            ))
        }
    }
}

//! Runs whose journals are damaged and that their user had put away (`cleanup --damaged`): nothing names them
//! any more, and nothing of them is removed.
//!
//! Their verdicts stay in doubt as they were: what such a run may have said against a content is forgotten by
//! no gate because its record lies elsewhere. What was known of it then is noted beside it; without the note
//! nothing is.

use std::io;

use serde::{Deserialize, Serialize};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::sealed::{seal, unseal};
use crate::domain::time::Timestamp;
use crate::store::attestation::DamagedRun;
use crate::store::index::Index;
use crate::store::journal::Journal;
use crate::store::state_folder::{StateFolder, unwritable};

const CAP: u64 = 16 * 1024 * 1024;

/// What is still known of a damaged run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    content_trees: Option<Vec<Oid>>,
    ended_at: Option<Timestamp>,
    written_at: Option<Timestamp>,
}

fn note_of(run: LoopId) -> String {
    format!("{run}.json")
}

/// What is known of a run whose journal cannot be read.
pub(super) fn damaged(state: &StateFolder, run: LoopId, failure: Failure) -> DamagedRun {
    DamagedRun {
        run,
        failure,
        is_away: false,
        content_trees: Index::remembered_trees(state, run),
        ended_at: Index::remembered_end(state, run),
        written_at: Journal::last_written(state, run),
    }
}

/// Puts a run away. Whoever calls has kept its engine off it, and knows that its journal is damaged.
///
/// # Errors
/// When something cannot be written or moved; then the run is where it was.
pub fn put_away(state: &StateFolder, run: LoopId, failure: Failure) -> Result<(), Failure> {
    let known = damaged(state, run, failure);
    let note = seal(&Remembered {
        content_trees: known.content_trees,
        ended_at: known.ended_at,
        written_at: known.written_at,
    });
    note.map_err(io::Error::from)
        .and_then(|bytes| state.put_away(run, &note_of(run), &bytes))
        .map_err(|error| unwritable(&state.damaged_path(run), &error))
}

/// The runs that were put away and did not come back, oldest first.
///
/// # Errors
/// When what was put away cannot be listed.
pub fn all(state: &StateFolder) -> Result<Vec<LoopId>, Failure> {
    let listed = || -> io::Result<Vec<LoopId>> {
        let Some(folder) = state.damaged()? else {
            return Ok(Vec::new());
        };
        let names = folder.names()?.into_iter();
        Ok(names
            .filter_map(|name| LoopId::parse(name.to_str()?))
            .collect())
    };
    let away = listed().map_err(|error| unwritable(&state.path().join("damaged"), &error))?;
    let there = state.run_ids()?;
    Ok(away
        .into_iter()
        .filter(|run| !there.contains(run))
        .collect())
}

/// A run that was put away, with what was known of it then.
pub(super) fn remembered(state: &StateFolder, run: LoopId) -> DamagedRun {
    let read = || -> Option<Remembered> {
        let bytes = state.damaged().ok()??.read(note_of(run), CAP).ok()?;
        unseal(&bytes).ok()
    };
    let known = read().unwrap_or_default();
    let place = state.damaged_path(run);
    let message = format!(
        "the journal of run {run} was put away ({})",
        place.display()
    );
    DamagedRun {
        run,
        failure: Failure::new(Code::JournalFailed, message),
        is_away: true,
        content_trees: known.content_trees,
        ended_at: known.ended_at,
        written_at: known.written_at,
    }
}

//! Where a run is at home: a copy of its repository holds its journal too, and drives it no more than a
//! photograph does. And where its engine kept what can be made again, whatever a later shell would choose.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::run_spec::RunSpec;
use crate::domain::sealed::{seal, unseal};
use crate::domain::summary::Summary;
use crate::store::folder::{Access, FileId};
use crate::store::journal::Journal;
use crate::store::state_folder::{StateFolder, unwritable};

/// The file in a run's folder that names its cache folder.
const FILE: &str = "cache.json";
/// No path is longer, escapes included.
const CAP: u64 = 64 * 1024;

/// Whose a journal is that lies in a repository's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// This repository's.
    Here,
    /// Another's, which is there and has the run.
    Elsewhere(PathBuf),
    /// Another's, which is not there any more, or does not have the run.
    Gone,
    /// It never began, or cannot be read.
    Unknown,
}

impl Home {
    /// Of a run in this state.
    #[must_use]
    pub fn of(state: &StateFolder, run: LoopId) -> Self {
        let Ok(entries) = Journal::load(state, run) else {
            return Self::Unknown;
        };
        let events = entries.iter().map(|entry| (entry.at, &entry.event));
        match Summary::of(events).spec {
            Some(spec) => Self::by(state, &spec),
            None => Self::Unknown,
        }
    }
    /// Of a run in this state that began so.
    #[must_use]
    pub fn by(state: &StateFolder, spec: &RunSpec) -> Self {
        let theirs = Path::new(&spec.common_dir);
        let here = state.path().parent().unwrap_or_else(|| state.path());
        if theirs == here {
            return Self::Here;
        }
        if let (Ok(theirs), Ok(here)) = (FileId::at(theirs), FileId::at(here))
            && theirs == here
        {
            return Self::Here;
        }
        let own = theirs.join("run-loop/runs").join(spec.loop_id.to_string());
        // What cannot be looked at is not known to be gone.
        let gone = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
        match fs_err::metadata(&own) {
            Err(error) if gone.contains(&error.kind()) => Self::Gone,
            Ok(_) | Err(_) => Self::Elsewhere(theirs.to_owned()),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cache {
    folder: PathBuf,
}

/// Writes down where a run keeps what can be made again, before its first event.
///
/// # Errors
/// When it cannot be written.
pub fn note_cache(state: &StateFolder, run: LoopId, cache: &Path) -> Result<(), Failure> {
    // A path that JSON cannot say is looked for where the next shell keeps such things.
    let Some(_) = cache.to_str() else {
        return Ok(());
    };
    let folder = cache.to_owned();
    let written = seal(&Cache { folder })
        .map_err(io::Error::from)
        .and_then(|bytes| state.run(run)?.write(FILE, &bytes, Access::Private));
    written.map_err(|error| unwritable(&state.run_path(run), &error))
}

/// Where a run keeps what can be made again; `None` where it did not say so.
///
/// # Errors
/// When what it said cannot be read: its jobs may lie anywhere.
pub fn cache(state: &StateFolder, run: LoopId) -> Result<Option<PathBuf>, Failure> {
    let folder = state.run(run);
    match folder.and_then(|folder| folder.read(FILE, CAP)) {
        Ok(bytes) => match unseal::<Cache>(&bytes) {
            Ok(cache) => Ok(Some(cache.folder)),
            Err(why) => {
                let path = state.run_path(run).join(FILE);
                let path = path.display().to_string();
                let message = format!(
                    "where run {run} keeps its jobs cannot be told: {path} is damaged: {why}"
                );
                Err(Failure::new(Code::StateUnwritable, message).next(["ls", "-la", &path]))
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(&state.run_path(run).join(FILE), &error)),
    }
}

//! Which snapshots a run may still go on with: the store holds the only copy of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::key;
use crate::domain::event::Event;
use crate::domain::id::LoopId;
use crate::domain::summary::Summary;
use crate::git::error::path_of;
use crate::store::{Entry, Journal, StateFolder, put_away};

/// The runs of a repository, asked one by one and only when something of theirs is to go.
#[derive(Debug)]
pub(super) struct Runs {
    /// `None`: the repository has never had any.
    state: Option<StateFolder>,
    asked: BTreeMap<LoopId, bool>,
}

impl Runs {
    /// Those of the repository with this common directory.
    pub(super) fn of(common_dir: &Path) -> io::Result<Self> {
        let state = StateFolder::find(common_dir).map_err(|failure| {
            // Without it nobody knows which runs there are, and nothing may go.
            io::Error::other(failure.message)
        })?;
        Ok(Self {
            state,
            asked: BTreeMap::new(),
        })
    }

    /// Whether a run needs its snapshots: it has not come to its end, it told of what only they hold, or what
    /// it says cannot be read.
    pub(super) fn may_go_on(&mut self, run: LoopId) -> bool {
        let Some(state) = &self.state else {
            return false;
        };
        *self
            .asked
            .entry(run)
            .or_insert_with(|| may_go_on(state, run))
    }

    /// Whether any run of the repository may go on.
    pub(super) fn any_may_go_on(&mut self) -> io::Result<bool> {
        let Some(state) = &self.state else {
            return Ok(false);
        };
        let runs = state
            .run_ids()
            .map_err(|failure| io::Error::other(failure.message))?;
        let away = put_away::all(state).map_err(|failure| io::Error::other(failure.message))?;
        Ok(runs.into_iter().chain(away).any(|run| self.may_go_on(run)))
    }
}

fn may_go_on(state: &StateFolder, run: LoopId) -> bool {
    if matches!(fs_err::symlink_metadata(state.run_path(run)), Err(error) if error.kind() == io::ErrorKind::NotFound)
    {
        // One that was put away is damaged, and nobody knows what it had.
        return put_away::all(state).map_or(true, |away| away.contains(&run));
    }
    let is_end = |entry: &Entry| matches!(entry.event, Event::RunEnded { .. });
    match Journal::load(state, run) {
        Ok(entries) => !entries.iter().any(is_end) || summary(&entries).kept_in_store().is_some(),
        Err(_) => !Journal::never_began(state, run),
    }
}

fn summary(entries: &[Entry]) -> Summary {
    Summary::of(entries.iter().map(|entry| (entry.at, &entry.event)))
}

/// Whose a store is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// That of the repository with this common directory.
    Repository(PathBuf),
    /// Nobody's any more: where its repository was lies another one. A repository that was moved opens
    /// another store, and no run of it comes back to this one.
    Nobody,
    /// Its repository is not there, as one on a disk that is not mounted.
    NotThere,
    /// The store does not say where its repository is.
    Unknown,
}

impl Owner {
    /// Asks the first folder that a store borrows from; the store is the one with this key.
    pub(super) fn of(store: &Path, its_key: &str) -> io::Result<Self> {
        let Some(text) = there(fs_err::read(store.join("objects/info/alternates")))? else {
            return Ok(Self::Unknown);
        };
        let objects = path_of(text.split(|byte| *byte == b'\n').next().unwrap_or_default());
        let Some(common_dir) = objects.parent().filter(|path| path.is_absolute()) else {
            return Ok(Self::Unknown);
        };
        Ok(match there(key(common_dir))? {
            None => Self::NotThere,
            Some(key) if key == its_key => Self::Repository(common_dir.to_owned()),
            Some(_) => Self::Nobody,
        })
    }
}

/// What was found; `None` where nothing is.
fn there<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

//! The index over all runs, `index.db`: a projection that can be dropped at any time.
//!
//! It saves reading the journals of runs that ended long ago, and remembers which contents a run
//! judged after its journal was damaged. Whatever is wrong with it, it is made anew, and nobody
//! waits for it: without it everything is read from the journals. The gate reads the journals
//! anyway. Written under a lock and in one transaction.

mod database;
mod row;

use std::io;

use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::summary::Summary;
use crate::domain::time::Timestamp;
use crate::engine::State;
use crate::store::file_lock::FileLock;
use crate::store::folder::FileId;
use crate::store::index::database::Database;
pub use crate::store::index::row::RunRow;
use crate::store::journal::{self, Journal};
use crate::store::state_folder::StateFolder;

const FILE: &str = "index.db";
const LOCK: &str = "index.lock";

/// One line of the list of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A run.
    Run(Box<RunRow>),
    /// A run whose journal cannot be read.
    Damaged {
        /// The run.
        run: LoopId,
        /// What is wrong.
        failure: Failure,
    },
}

impl Listed {
    /// The run's id.
    #[must_use]
    pub fn run(&self) -> LoopId {
        match self {
            Self::Run(row) => row.run,
            Self::Damaged { run, .. } => *run,
        }
    }
}

/// The index over all runs.
#[derive(Debug)]
pub struct Index {
    /// `None` when it cannot be used; then everything is read from the journals.
    database: Option<Database>,
    /// Held while we may write.
    lock: Option<FileLock>,
}

impl Index {
    /// Opens the index, made anew if it is missing or damaged.
    ///
    /// Never fails: a lost projection ends nothing.
    #[must_use]
    pub fn open(state: &StateFolder) -> Self {
        // Whoever comes second reads only.
        let lock = FileLock::acquire(state.locks(), LOCK).ok().flatten();
        let database = if lock.is_some() {
            Database::open_or_rebuild(state.root(), FILE).ok()
        } else {
            Database::open(&state.path().join(FILE)).ok()
        };
        Self { database, lock }
    }
    /// Every run, oldest first; what ended before is not read again while its file is the same.
    ///
    /// # Errors
    /// When the state folder cannot be listed.
    pub fn list(&mut self, state: &StateFolder) -> Result<Vec<Listed>, Failure> {
        let runs = state.run_ids()?;
        let mut listed = Vec::with_capacity(runs.len());
        let mut news = Vec::new();
        for run in &runs {
            let stamp = stamp(state, *run);
            let known = self.known(*run, stamp.as_deref());
            listed.push(match known {
                Some(row) => Listed::Run(Box::new(row)),
                None => Self::read(state, *run, stamp, &mut news),
            });
        }
        self.write(&news, Some(&runs));
        Ok(listed)
    }
    /// Takes a run into the index, as its journal now tells it.
    pub fn record(&mut self, state: &StateFolder, run: LoopId) {
        let mut news = Vec::new();
        let stamp = stamp(state, run);
        // A damaged run stays remembered as it was.
        drop(Self::read(state, run, stamp, &mut news));
        self.write(&news, None);
    }
    /// The content trees that the index remembers of a run; `None` when it knows nothing of it.
    #[must_use]
    pub fn remembered_trees(state: &StateFolder, run: LoopId) -> Option<Vec<Oid>> {
        let database = Database::open(&state.path().join(FILE)).ok()?;
        database.content_trees(run).ok().flatten()
    }

    /// When a run ended, as the index remembers it; `None` when it does not know of an end.
    #[must_use]
    pub fn remembered_end(state: &StateFolder, run: LoopId) -> Option<Timestamp> {
        let row = Self::remembered(state, run)?;
        row.at.filter(|_| row.exit.is_some())
    }
    /// What the index remembers of a run, as it was read last: a hint for one that cannot be read now.
    #[must_use]
    pub fn remembered(state: &StateFolder, run: LoopId) -> Option<RunRow> {
        let database = Database::open(&state.path().join(FILE)).ok()?;
        database.remembered(run).ok().flatten()
    }

    /// Of these runs those that the index does not know to have ended well, by their journals as they are now.
    ///
    /// To ask it saves reading the journals of those that did.
    #[must_use]
    pub fn not_known_as_approved(state: &StateFolder, mut runs: Vec<LoopId>) -> Vec<LoopId> {
        if let Ok(database) = Database::open(&state.path().join(FILE)) {
            runs.retain(|run| {
                let row = stamp(state, *run).and_then(|stamp| database.row(*run, &stamp).ok()?);
                row.is_none_or(|row| row.exit != Some(Exit::Approved))
            });
        }
        runs
    }

    fn known(&mut self, run: LoopId, stamp: Option<&str>) -> Option<RunRow> {
        let database = self.database.as_ref()?;
        let row = database.row(run, stamp?);
        if row.is_err() {
            // Damaged: nothing of it is believed, and the next one to open it makes it anew.
            self.database = None;
        }
        row.ok().flatten()
    }
    fn read(
        state: &StateFolder,
        run: LoopId,
        stamp: Option<String>,
        news: &mut Vec<News>,
    ) -> Listed {
        let read = Journal::load(state, run).and_then(|entries| {
            let driven = Journal::is_driven(state, run)?;
            Ok((entries, driven))
        });
        match read {
            Ok((entries, driven)) => {
                let events = entries.iter().map(|entry| (entry.at, &entry.event));
                let summary = Summary::of(events);
                let state = State::replay(entries.iter().map(|entry| &entry.event));
                let row = RunRow::of(run, &summary, &state, driven);
                news.push(News {
                    stamp: stamp.filter(|_| summary.end.is_some()),
                    row: row.clone(),
                    summary,
                });
                Listed::Run(Box::new(row))
            }
            Err(failure) => Listed::Damaged { run, failure },
        }
    }
    fn write(&mut self, news: &[News], all: Option<&[LoopId]>) {
        let Some(database) = self.database.as_mut().filter(|_| self.lock.is_some()) else {
            return;
        };
        if database.write(news, all).is_err() {
            self.database = None;
        }
    }
}

/// What the index learns of a run.
#[derive(Debug)]
struct News {
    /// Which state of the journal's file it was read from; `None` when it will change.
    stamp: Option<String>,
    row: RunRow,
    summary: Summary,
}

/// Tells one state of a journal's file from another; `None` while its log is not empty.
fn stamp(state: &StateFolder, run: LoopId) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let path = state.run_path(run).join(journal::FILE);
    let log = path.with_extension("db-wal");
    match fs_err::symlink_metadata(&log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(metadata) if metadata.len() == 0 => {}
        Ok(_) | Err(_) => return None,
    }
    let id = FileId::at(&path).ok()?;
    let metadata = fs_err::symlink_metadata(&path).ok()?;
    Some(format!(
        "{id:?} {} {}.{:09} {}.{:09}",
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec()
    ))
}

//! How a run begins: its folder is made under a temporary name, with its journal and a word on who drives
//! it, and gets the run's name when all of it is whole and durable.
//!
//! So a run is there with its journal, or it is not there: a run's folder without one has lost it. What an
//! engine leaves that is killed before that is no run's; no event was ever in it.

use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::file_lock::FileLock;
use crate::store::folder::{FileId, Folder};
use crate::store::journal::error::Error;
use crate::store::journal::{ENGINE, ENGINE_CAP, FILE, WRITER, note_engine, schema};
use crate::store::owner::Engine;
use crate::store::state_folder::{StateFolder, unwritable};

/// How often a folder is made again that clean-up took for one that was left.
const TRIES: u32 = 100;

/// Makes the folder of a new run; it is locked for its writer.
pub(super) fn begin(state: &StateFolder, run: LoopId) -> Result<(Folder, FileLock), Failure> {
    let path = state.run_path(run);
    let (draft, mut writer) = draft(state).map_err(|error| unwritable(&path, &error))?;
    let begun = fill(&draft, run)
        .and_then(|()| state.begin_run(&draft, run).map_err(Error::Open))
        .inspect_err(|_| undo(state, run, &draft));
    let folder = begun.map_err(|error| error.into_failure(run, &path.join(FILE)))?;
    writer.moved_with(&folder);
    Ok((folder, writer))
}

/// A run that could not begin leaves nothing, whatever its folder is called; the first failure is the one
/// that is told.
pub(super) fn undo(state: &StateFolder, run: LoopId, made: &Folder) {
    for path in [made.path(), &state.run_path(run)] {
        if let (Ok(there), Ok(ours)) = (FileId::at(path), made.id())
            && there == ours
        {
            drop(fs_err::remove_dir_all(path));
        }
    }
}

fn draft(state: &StateFolder) -> io::Result<(Folder, FileLock)> {
    for _ in 0..TRIES {
        let folder = state.draft()?;
        match FileLock::acquire(&folder, WRITER) {
            Ok(Some(writer)) => return Ok((folder, writer)),
            // Clean-up came between the two, and takes it for one that was left.
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                drop(fs_err::remove_dir_all(folder.path()));
                return Err(error);
            }
        }
    }
    Err(io::Error::other("the folder of a new run was taken away"))
}

fn fill(draft: &Folder, run: LoopId) -> Result<(), Error> {
    note_engine(draft)?;
    // Its log takes its mode from it.
    draft.make_new_file(FILE).map_err(Error::Open)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(draft.path().join(FILE), flags)?;
    schema::create(&connection, run)?;
    connection.close().map_err(|(_, error)| error)?;
    let file = draft.open_file(FILE).map_err(Error::Open)?;
    file.sync_all().map_err(Error::Open)
}

/// What an engine had made of a run that has no name yet.
#[derive(Debug)]
pub(crate) struct Draft(Folder);

impl Draft {
    /// All there are of a repository.
    pub(crate) fn all(state: &StateFolder) -> io::Result<Vec<Self>> {
        let drafts = state.drafts()?.into_iter();
        Ok(drafts.map(Self).collect())
    }
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
    /// Whether an engine is making it now.
    pub(crate) fn is_being_made(&self) -> io::Result<bool> {
        FileLock::is_held(&self.0, WRITER)
    }
    /// Keeps the engine that makes it off it; `None` while one makes it.
    pub(crate) fn hold_off(&self) -> io::Result<Option<FileLock>> {
        FileLock::acquire(&self.0, WRITER)
    }
    /// Who made it; `None` where it was killed before it had said so.
    pub(crate) fn engine(&self) -> io::Result<Option<Engine>> {
        match self.0.read(ENGINE, ENGINE_CAP) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

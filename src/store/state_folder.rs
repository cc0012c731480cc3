//! The state folder, `<git common dir>/run-loop/`: ours alone, and never a link.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::folder::{Access, Folder, is_temporary};

const NAME: &str = "run-loop";
const DAMAGED: &str = "damaged";

/// The open state folder of a repository.
///
/// # Invariants
/// It and its `runs` and `locks` are folders of this user, reached without a link below the
/// common directory, and closed to everybody else. `path` has no link in it.
#[derive(Debug)]
pub struct StateFolder {
    root: Folder,
    runs: Folder,
    locks: Folder,
}

impl StateFolder {
    /// Opens the state folder of a repository, made if it is not there.
    pub fn open(common_dir: &Path) -> Result<Self, Failure> {
        Self::prepare(common_dir).map_err(|error| unwritable(&common_dir.join(NAME), &error))
    }
    /// Opens the state folder of a repository if it is there; makes nothing.
    pub fn find(common_dir: &Path) -> Result<Option<Self>, Failure> {
        match fs_err::symlink_metadata(common_dir.join(NAME)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unwritable(&common_dir.join(NAME), &error)),
            // A first run may be making the rest of it right now.
            Ok(_) => Self::open(common_dir).map(Some),
        }
    }
    fn prepare(common_dir: &Path) -> io::Result<Self> {
        // SQLite refuses a path with a link in it, and we compare paths later.
        let common = Folder::open(&fs_err::canonicalize(common_dir)?)?;
        let root = ours(common.make_child(NAME, Access::Private)?)?;
        let runs = ours(root.make_child("runs", Access::Private)?)?;
        let locks = ours(root.make_child("locks", Access::Private)?)?;
        Ok(Self { root, runs, locks })
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.root.path()
    }
    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Folder {
        &self.root
    }
    /// The folder of the locks.
    #[must_use]
    pub fn locks(&self) -> &Folder {
        &self.locks
    }
    /// Where a run's folder lies, whether it is there or not.
    #[must_use]
    pub fn run_path(&self, run: LoopId) -> PathBuf {
        self.runs.path().join(run.to_string())
    }
    /// Makes a folder for what a new run begins with. It is no run's before [`Self::begin_run`].
    pub(crate) fn draft(&self) -> io::Result<Folder> {
        self.runs.make_temporary_child(Access::Private)
    }
    /// Gives a draft the name of its run: from then on there is this run, with all that it begins with.
    pub(crate) fn begin_run(&self, draft: &Folder, run: LoopId) -> io::Result<Folder> {
        let name = run.to_string();
        let from = draft.path().file_name().unwrap_or_default();
        draft.sync()?;
        self.runs.rename_new(from, &name)?;
        self.runs.sync()?;
        self.run(run)
    }
    /// The folders of runs that were being made, also of those that never will be: no event is in them.
    pub(crate) fn drafts(&self) -> io::Result<Vec<Folder>> {
        let names = self.runs.names()?.into_iter();
        let drafts = names.filter(|name| name.to_str().is_some_and(is_temporary));
        drafts
            .map(|name| ours(self.runs.child(name)?))
            // One that was begun or given up meanwhile is none.
            .filter(|draft| !matches!(draft, Err(error) if error.kind() == io::ErrorKind::NotFound))
            .collect()
    }
    /// Where a run's folder lies that was put away (see `put_away`), whether it is there or not.
    #[must_use]
    pub fn damaged_path(&self, run: LoopId) -> PathBuf {
        self.path().join(DAMAGED).join(run.to_string())
    }
    /// The folder of what was put away; `None` where nothing ever was.
    pub(crate) fn damaged(&self) -> io::Result<Option<Folder>> {
        match self.root.child(DAMAGED) {
            Ok(folder) => ours(folder).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
    /// Moves a run's folder to what was put away, with a note beside it: from then on there is no such run.
    pub(crate) fn put_away(&self, run: LoopId, note: &str, bytes: &[u8]) -> io::Result<()> {
        let damaged = ours(self.root.make_child(DAMAGED, Access::Private)?)?;
        // The note of one that was put away before, and came back, is that one's.
        damaged.has_no(run.to_string())?;
        damaged.write(note, bytes, Access::Private)?;
        self.runs.move_new(run.to_string(), &damaged)?;
        damaged.sync()?;
        self.runs.sync()
    }
    /// Opens a run's folder.
    pub fn run(&self, run: LoopId) -> io::Result<Folder> {
        ours(self.runs.child(run.to_string())?)
    }
    /// Every run there is, oldest first: their ids say when they began. No file time is read.
    pub fn run_ids(&self) -> Result<Vec<LoopId>, Failure> {
        let names = self
            .runs
            .names()
            .map_err(|error| unwritable(self.runs.path(), &error))?;
        let ids = names
            .iter()
            .filter_map(|name| LoopId::parse(name.to_str()?));
        Ok(ids.collect())
    }
}

/// A folder of this user, closed to others; somebody else's folder is an error.
fn ours(folder: Folder) -> io::Result<Folder> {
    let (owner, mode) = folder.owner_and_mode()?;
    let me = rustix::process::geteuid().as_raw();
    if owner != me {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{}: belongs to user {owner}, not to user {me}",
                folder.path().display()
            ),
        ));
    }
    if mode & 0o077 != 0 {
        folder.make_private()?;
    }
    Ok(folder)
}

/// Whether there is no room for what was to be written.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    let full = [
        io::ErrorKind::StorageFull,
        io::ErrorKind::QuotaExceeded,
        io::ErrorKind::FileTooLarge,
    ];
    full.contains(&error.kind())
}

/// The failure of a state that cannot be used, with the command that shows why.
#[must_use]
pub fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display().to_string();
    let failure = Failure::new(
        Code::StateUnwritable,
        format!("the state folder {shown} cannot be used: {error}"),
    );
    shown_by(failure, path.parent().unwrap_or(path), error)
}

/// The failure with the command that shows why nothing can be written to a folder.
#[must_use]
pub fn shown_by(failure: Failure, folder: &Path, error: &io::Error) -> Failure {
    let folder = folder.display().to_string();
    if is_full(error) {
        failure.next(["df", "-h", &folder])
    } else if error.kind() == io::ErrorKind::ReadOnlyFilesystem {
        failure.next(["findmnt", "--target", &folder])
    } else {
        failure.next(["ls", "-la", &folder])
    }
}

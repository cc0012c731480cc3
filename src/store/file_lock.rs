//! An advisory lock on a file: freed by the kernel when its holder dies, whatever the cause.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::lock::{Locked, Sharing};
use crate::store::folder::{FileId, Folder};

/// How often a lock is tried whose file is replaced between opening and locking it.
const TRIES: u32 = 100;

/// A held lock. Its file is never removed: a second file at the path would be a second lock.
#[derive(Debug)]
#[must_use = "the lock is held as long as this lives"]
pub struct FileLock {
    locked: Locked<File>,
    path: PathBuf,
}

impl FileLock {
    /// Takes the lock; `None` when another process (or another handle of ours) holds it.
    ///
    /// Holders lock exclusively and probes share, so that a probe is never taken for a holder.
    pub fn acquire(folder: &Folder, name: impl AsRef<OsStr>) -> io::Result<Option<Self>> {
        let path = folder.path().join(name.as_ref());
        for _ in 0..TRIES {
            let file = folder.open_or_make_file(name.as_ref())?;
            let Some(locked) = Locked::attempt_past_probes(file)? else {
                return Ok(None);
            };
            let path = path.clone();
            let lock = Self { locked, path };
            if lock.is_still_there() {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }
    /// Whether somebody holds the lock now.
    pub fn is_held(folder: &Folder, name: impl AsRef<OsStr>) -> io::Result<bool> {
        match folder.open_file(name) {
            Ok(file) => Ok(Locked::attempt(file, Sharing::Shared)?.is_none()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// Whether the locked file is still the one at its path; else somebody could lock another.
    #[must_use]
    pub fn is_still_there(&self) -> bool {
        match (FileId::of(self.locked.file()), FileId::at(&self.path)) {
            (Ok(held), Ok(there)) => held == there,
            (Err(_), _) | (_, Err(_)) => false,
        }
    }
    /// Says where its file lies now that its folder has another name.
    pub(crate) fn moved_with(&mut self, folder: &Folder) {
        if let Some(name) = self.path.file_name() {
            self.path = folder.path().join(name);
        }
    }
    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

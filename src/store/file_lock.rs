//! An advisory lock on a file: freed by the kernel when its holder dies, whatever the cause.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::store::folder::{FileId, Folder};

/// How often an attempt is repeated while only probes are in the way; each lasts microseconds.
const TRIES: u32 = 10_000;

/// A held lock. Its file is never removed: a second file at the path would be a second lock.
#[derive(Debug)]
#[must_use = "the lock is held as long as this lives"]
pub struct FileLock {
    file: File,
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
            if attempt(&file, FlockOperation::NonBlockingLockExclusive)? {
                let lock = Self {
                    file,
                    path: path.clone(),
                };
                if lock.is_still_there() {
                    return Ok(Some(lock));
                }
                // The file was replaced between opening and locking.
            } else if !attempt(&file, FlockOperation::NonBlockingLockShared)? {
                return Ok(None);
            }
            drop_and_yield();
        }
        Ok(None)
    }
    /// Whether somebody holds the lock now.
    pub fn is_held(folder: &Folder, name: impl AsRef<OsStr>) -> io::Result<bool> {
        match folder.open_file(name) {
            Ok(file) => Ok(!attempt(&file, FlockOperation::NonBlockingLockShared)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    /// Whether the locked file is still the one at its path; else somebody could lock another.
    #[must_use]
    pub fn is_still_there(&self) -> bool {
        match (FileId::of(&self.file), FileId::at(&self.path)) {
            (Ok(held), Ok(there)) => held == there,
            (Err(_), _) | (_, Err(_)) => false,
        }
    }
    /// The lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn attempt(file: &File, operation: FlockOperation) -> io::Result<bool> {
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn drop_and_yield() {
    std::thread::yield_now();
}

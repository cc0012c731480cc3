//! Advisory locks on open files (`flock`): the kernel frees them when their holder dies.
//!
//! A process that another thread forks shares every open file of ours until it starts its
//! program. A lock that is given back by closing its file alone therefore outlives its holder
//! for that moment, and whoever tries it then is refused for nothing. [`Locked`] unlocks first,
//! which frees the file for all who share it.

use std::io;
use std::os::fd::AsFd;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// How often an attempt is repeated while only probes are in the way; each lasts microseconds.
const TRIES: u32 = 10_000;

/// What others may hold beside a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nothing.
    Exclusive,
    /// Shared locks.
    Shared,
}

/// An open file with a lock on it, held until this is dropped or the process dies.
#[derive(Debug)]
#[must_use = "the lock is held as long as this lives"]
pub struct Locked<F: AsFd> {
    file: F,
}

impl<F: AsFd> Locked<F> {
    /// Locks a file if nobody is in the way now; `None` when somebody is.
    ///
    /// # Errors
    /// When the file cannot be locked at all.
    pub fn attempt(file: F, sharing: Sharing) -> io::Result<Option<Self>> {
        let operation = match sharing {
            Sharing::Exclusive => FlockOperation::NonBlockingLockExclusive,
            Sharing::Shared => FlockOperation::NonBlockingLockShared,
        };
        match apply(&file, operation) {
            Ok(()) => Ok(Some(Self { file })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
    /// Locks a file exclusively where holders do so and probes share; `None` when it is held.
    ///
    /// A probe in the way is waited for: it is gone in microseconds.
    ///
    /// # Errors
    /// When the file cannot be locked at all.
    pub fn attempt_past_probes(mut file: F) -> io::Result<Option<Self>> {
        for _ in 0..TRIES {
            let Some(probed) = Locked::attempt(file.as_fd(), Sharing::Shared)? else {
                return Ok(None);
            };
            drop(probed);
            file = match apply(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self { file })),
                Err(Errno::WOULDBLOCK) => file,
                Err(error) => return Err(error.into()),
            };
            std::thread::yield_now();
        }
        Ok(None)
    }
    /// Locks a file, however long somebody is in the way.
    ///
    /// # Errors
    /// When the file cannot be locked at all.
    pub fn wait(file: F, sharing: Sharing) -> io::Result<Self> {
        let operation = match sharing {
            Sharing::Exclusive => FlockOperation::LockExclusive,
            Sharing::Shared => FlockOperation::LockShared,
        };
        apply(&file, operation)?;
        Ok(Self { file })
    }
    /// The file.
    pub fn file(&self) -> &F {
        &self.file
    }
}

impl<F: AsFd> Drop for Locked<F> {
    fn drop(&mut self) {
        // Closing frees it too, unless somebody shares the open file; then this is what does.
        apply(&self.file, FlockOperation::Unlock).ok();
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one home of locks, where each is given back by hand"
)]
fn apply(file: &impl AsFd, operation: FlockOperation) -> Result<(), Errno> {
    loop {
        match flock(file, operation) {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests;

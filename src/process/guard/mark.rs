//! A mark that a job cannot help passing on: an open file with an exclusive lock on it, inherited
//! by everything the job starts.
//!
//! The lock belongs to the open file and not to a process, so it is held as long as anybody has
//! that very open file; who opens the file by its name has another one. Double forks, `setsid` and
//! `env -i` do not take it away, and it needs nobody who looks. Only who closes descriptors that it
//! was not told of loses it; for those there is the `record`.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::fs::{Stat, fstat};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};

use crate::lock::{Locked, Sharing};
use crate::process::guard::files::{CaptureFolder, LOCK, MARK};
use crate::process::guard::lineage::Seen;

/// Above the numbers that scripts use by hand, below the one of bash's own script.
const NUMBER: i32 = 230;

/// The mark as its guard holds it.
#[derive(Debug)]
pub(crate) struct Held {
    /// Never unlocked by hand: that would take it from everybody who shares the open file.
    _lock: ManuallyDrop<Locked<OwnedFd>>,
    /// The same open file, which a program that is started now inherits.
    _passed_on: OwnedFd,
}

impl Held {
    /// Makes the mark of a new attempt, to be inherited from now on.
    pub(crate) fn make(folder: &CaptureFolder) -> io::Result<Self> {
        let file = folder.create_empty(MARK)?;
        let lock = Locked::attempt_past_probes(file)?.ok_or(io::ErrorKind::WouldBlock)?;
        let lock = ManuallyDrop::new(lock);
        let passed_on = match fcntl_dupfd_cloexec(lock.file(), NUMBER) {
            Ok(high) => high,
            // Fewer descriptors are allowed than that.
            Err(_) => lock.file().try_clone()?,
        };
        fcntl_setfd(&passed_on, FdFlags::empty())?;
        Ok(Self {
            _lock: lock,
            _passed_on: passed_on,
        })
    }
}

/// The mark of an attempt whose guard is gone.
#[derive(Debug)]
pub(crate) struct Mark {
    file: fs_err::File,
    stat: Stat,
}

impl Mark {
    /// Finds it; `None` where none was made, and so nothing was started.
    pub(crate) fn find(folder: &CaptureFolder) -> io::Result<Option<Self>> {
        Self::at(folder, MARK)
    }
    /// The lock of an attempt's guard, which is told by the same means.
    pub(crate) fn of_guard(folder: &CaptureFolder) -> io::Result<Option<Self>> {
        Self::at(folder, LOCK)
    }
    fn at(folder: &CaptureFolder, name: &str) -> io::Result<Option<Self>> {
        let Some(file) = folder.read(name)? else {
            return Ok(None);
        };
        let stat = fstat(&file)?;
        Ok(Some(Self { file, stat }))
    }
    /// Whether anybody has it, also one that cannot be seen from here.
    pub(crate) fn is_held(&self) -> io::Result<bool> {
        Ok(Locked::attempt(self.file.as_fd(), Sharing::Shared)?.is_none())
    }
    /// Whether this process surely has it.
    pub(crate) fn is_held_by(&self, seen: &Seen) -> bool {
        let pid = seen.id.pid;
        let Ok(numbers) = fs_err::read_dir(format!("/proc/{pid}/fdinfo")) else {
            return false;
        };
        let held = numbers.flatten().any(|number| {
            // The lock first: few have one, and a file that hangs is then not asked.
            let locked = fs_err::read_to_string(number.path())
                .is_ok_and(|text| text.lines().any(is_exclusive));
            locked && {
                let path = format!("/proc/{pid}/fd/{}", number.file_name().display());
                rustix::fs::stat(path).is_ok_and(|stat| {
                    (stat.st_dev, stat.st_ino) == (self.stat.st_dev, self.stat.st_ino)
                })
            }
        });
        // The number may have been given to another process meanwhile.
        held && matches!(Seen::look(pid), Ok(Some(now)) if now.id == seen.id)
    }
}

/// A line `lock: 1: FLOCK  ADVISORY  WRITE …` of an open file that has the lock itself.
fn is_exclusive(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    words.first() == Some(&"lock:") && words.contains(&"FLOCK") && words.contains(&"WRITE")
}

//! The files of a capture folder: the folder opened once, its files never through a link.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, fstat, fsync, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;

use crate::lock::{Locked, Sharing};
use rustix::process::geteuid;

/// Standard output of the program.
pub(crate) const STDOUT: &str = "stdout";
/// Standard error of the program.
pub(crate) const STDERR: &str = "stderr";
/// How the attempt ended.
pub(crate) const OUTCOME: &str = "outcome.json";
/// Held by the guard as long as it lives; names guard and program, for information.
pub(crate) const LOCK: &str = "guard.lock";

/// Locked by an open file that the job alone inherits; see `mark`.
pub(crate) const MARK: &str = "mark";
/// Who was seen to descend from the guard; see `record`.
pub(crate) const RECORD: &str = "lineage";

const TEMPORARY: &str = "outcome.json.new";

/// Makes the capture folder if nothing is there; its parent must be.
pub(crate) fn make(path: &Path) -> io::Result<()> {
    match mkdirat(CWD, path, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(errno) => Err(at("made", path, errno)),
    }
}

/// An open capture folder.
#[derive(Debug)]
pub(crate) struct CaptureFolder {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl CaptureFolder {
    /// Opens a folder that is ours and no link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(CWD, path, flags, Mode::empty())
            .map_err(|errno| at("opened as a folder", path, errno))?;
        if fstat(&descriptor)?.st_uid != geteuid().as_raw() {
            let message = format!("{} belongs to another user", path.display());
            return Err(io::Error::other(message));
        }
        Ok(Self {
            descriptor,
            path: path.to_owned(),
        })
    }

    /// Makes a file to be written and read, which must not exist.
    pub(crate) fn create(&self, name: &str) -> io::Result<fs_err::File> {
        let file = self.create_empty(name)?;
        Ok(fs_err::File::from_parts(file.into(), self.path.join(name)))
    }
    /// Makes an empty file to be locked, which must not exist. Some file systems lock only what is
    /// open both ways.
    pub(crate) fn create_empty(&self, name: &str) -> io::Result<OwnedFd> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.descriptor, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|errno| at("made", self.path.join(name), errno))
    }
    /// Opens a regular file for reading; `None` where there is nothing.
    pub(crate) fn read(&self, name: &str) -> io::Result<Option<fs_err::File>> {
        let path = self.path.join(name);
        // Without waiting for the other end of a FIFO.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.descriptor, name, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(at("opened", &path, errno)),
        };
        let stat = fstat(&file)?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() || stat.st_uid != geteuid().as_raw() {
            let message = format!("{} is no file of ours", path.display());
            return Err(io::Error::other(message));
        }
        Ok(Some(fs_err::File::from_parts(file.into(), path)))
    }
    /// The whole of a small file; `None` where there is nothing.
    pub(crate) fn read_whole(&self, name: &str, cap: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.read(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(cap + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > cap {
            let path = self.path.join(name);
            let message = format!("{} has more than {cap} bytes", path.display());
            return Err(io::Error::other(message));
        }
        Ok(Some(bytes))
    }
    /// Writes the outcome so that it is there whole and durable, or not at all.
    pub(crate) fn write_outcome(&self, bytes: &[u8]) -> io::Result<()> {
        let written = self.create(TEMPORARY).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()?;
            renameat(&self.descriptor, TEMPORARY, &self.descriptor, OUTCOME)
                .map_err(|errno| at("renamed", self.path.join(TEMPORARY), errno))?;
            fsync(&self.descriptor).map_err(io::Error::from)
        });
        if written.is_err() {
            // The first error is the one to tell.
            unlinkat(&self.descriptor, TEMPORARY, AtFlags::empty()).ok();
        }
        written
    }

    /// Takes the guard's lock; its file must not exist, since an attempt has one guard.
    pub(crate) fn lock(&self) -> io::Result<Locked<fs_err::File>> {
        let path = self.path.join(LOCK);
        let failed = |error: io::Error| {
            let message = format!("{} could not be locked: {error}", path.display());
            io::Error::new(error.kind(), message)
        };
        Locked::attempt_past_probes(self.create(LOCK)?)
            .map_err(failed)?
            .ok_or_else(|| failed(io::ErrorKind::WouldBlock.into()))
    }
    /// Whether a guard holds the lock.
    pub(crate) fn is_locked(&self) -> io::Result<bool> {
        let Some(file) = self.read(LOCK)? else {
            return Ok(false);
        };
        Ok(Locked::attempt(file, Sharing::Shared)?.is_none())
    }
}

fn at(done: &str, path: impl AsRef<OsStr>, errno: Errno) -> io::Error {
    let error = io::Error::from(errno);
    let path = Path::new(path.as_ref()).display();
    io::Error::new(error.kind(), format!("{path} could not be {done}: {error}"))
}

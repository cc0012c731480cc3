//! Folders of ours that agents can reach: opened one component at a time, never through a link.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// An open folder of ours. It stays the same folder when its path is given to another one.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that is ours and no link; the folders above it are the user's to arrange.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Self::checked(rustix::fs::CWD, path.as_os_str(), path.to_owned())
    }
    /// Opens a folder in this one.
    pub(crate) fn child(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        Self::checked(&self.descriptor, name, self.path.join(name))
    }
    /// Makes a folder in this one, which must not exist, and opens it.
    pub(crate) fn make(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        mkdirat(&self.descriptor, name, Mode::RWXU)
            .map_err(|errno| at("made", &self.path.join(name), errno))?;
        self.child(name)
    }
    /// Opens a folder in this one, made if it is not there.
    pub(crate) fn enter(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        match mkdirat(&self.descriptor, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => self.child(name),
            Err(errno) => Err(at("made", &self.path.join(name), errno)),
        }
    }
    /// Where it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a new file that only we may read.
    pub(crate) fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) -> io::Result<()> {
        let path = self.path.join(name.as_ref());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = openat(&self.descriptor, name.as_ref(), flags, mode)
            .map_err(|errno| at("made", &path, errno))?;
        fs_err::File::from_parts(file.into(), path).write_all(content)
    }
    /// Opens a file for reading, whatever it is: not through a link, and without waiting for
    /// the other end of a FIFO.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(&self.descriptor, name.as_ref(), flags, Mode::empty())
    }
    /// What a name in this folder is, links not followed; `None` where there is nothing.
    pub(crate) fn stat(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Stat>> {
        match statat(&self.descriptor, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(at("looked at", &self.path.join(name.as_ref()), errno)),
        }
    }
    /// Removes a file of this folder.
    pub(crate) fn unlink(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        rustix::fs::unlinkat(&self.descriptor, name.as_ref(), AtFlags::empty())
            .map_err(|errno| at("removed", &self.path.join(name.as_ref()), errno))
    }

    /// Copies all files and folders into another folder. Anything else among them is an error.
    ///
    /// A copy and never a link: whoever gets the copy may write to it.
    pub(crate) fn copy_into(&self, target: &Self) -> io::Result<()> {
        for entry in Dir::read_from(&self.descriptor)? {
            let name = entry?.file_name().to_owned();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name.to_bytes());
            let path = self.path.join(name);
            let source = self
                .read(name)
                .map_err(|errno| at("opened", &path, errno))?;
            let kind = FileType::from_raw_mode(fstat(&source)?.st_mode);
            if kind.is_dir() {
                self.child(name)?.copy_into(&target.make(name)?)?;
            } else if kind.is_file() {
                let mut content = Vec::new();
                fs_err::File::from_parts(source.into(), path).read_to_end(&mut content)?;
                target.write(name, &content)?;
            } else {
                let message = format!("{} is a {kind:?}, not a file", path.display());
                return Err(io::Error::other(message));
            }
        }
        Ok(())
    }

    fn checked(above: impl std::os::fd::AsFd, name: &OsStr, path: PathBuf) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = match openat(above, name, flags, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(errno) => return Err(at("opened as a folder", &path, errno)),
        };
        if fstat(&descriptor)?.st_uid != geteuid().as_raw() {
            let message = format!("{} belongs to another user", path.display());
            return Err(io::Error::other(message));
        }
        Ok(Self { descriptor, path })
    }
}

fn at(done: &str, path: &Path, errno: Errno) -> io::Error {
    let error = io::Error::from(errno);
    io::Error::new(
        error.kind(),
        format!("{} could not be {done}: {error}", path.display()),
    )
}

//! An open folder: everything in it is reached through the folder's handle, never through a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

/// Who may read what is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Folders 0700, files 0600: state, prompts, evidence.
    Private,
    /// As the user's umask says, never executable: promoted reports.
    Shared,
}

impl Access {
    fn folder(self) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Private => 0o700,
            Self::Shared => 0o777,
        })
    }
    fn file(self) -> Mode {
        Mode::from_raw_mode(match self {
            Self::Private => 0o600,
            Self::Shared => 0o666,
        })
    }
}

/// Device and inode: which file it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of an open file.
    pub fn of(file: &File) -> io::Result<Self> {
        Ok(Self::from_metadata(&file.metadata()?))
    }
    /// Of what lies at a path, without following a last link.
    pub fn at(path: &Path) -> io::Result<Self> {
        Ok(Self::from_metadata(&fs_err::symlink_metadata(path)?))
    }
    fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// How the name of a file begins that is being written; one that stays was left by a crash.
pub const TEMPORARY: &str = ".tmp-";

/// A name for a file that is being written, of this process alone.
fn temporary_name() -> OsString {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    OsString::from(format!("{TEMPORARY}{}-{number}", std::process::id()))
}

/// Whether a name is of a file that was being written by [`Folder::write`].
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let numbers = name
        .strip_prefix(TEMPORARY)
        .and_then(|it| it.split_once('-'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    file: File,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder that is trusted as named: links on the way to it are followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::openat(CWD, path, folder_flags(), Mode::empty());
        Ok(Self {
            file: fd.map_err(|e| named(path, e))?.into(),
            path: path.to_owned(),
        })
    }
    /// Where it lay when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// The user it belongs to, and its mode bits.
    pub fn owner_and_mode(&self) -> io::Result<(u32, u32)> {
        let metadata = self.file.metadata()?;
        Ok((metadata.uid(), metadata.mode() & 0o7777))
    }
    /// Takes every right from everybody but the owner.
    pub fn make_private(&self) -> io::Result<()> {
        rustix::fs::fchmod(&self.file, Access::Private.folder()).map_err(|e| named(&self.path, e))
    }
    /// Whether its file system takes no writes from anybody.
    pub fn is_read_only(&self) -> io::Result<bool> {
        let system = rustix::fs::fstatvfs(&self.file).map_err(|e| named(&self.path, e))?;
        Ok(system.f_flag.contains(StatVfsMountFlags::RDONLY))
    }
    /// Which folder it is.
    pub fn id(&self) -> io::Result<FileId> {
        FileId::of(&self.file)
    }

    /// Opens a folder in it; a link there is an error.
    pub fn child(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let (name, path) = self.place(name.as_ref())?;
        let flags = folder_flags() | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.file, name, flags, Mode::empty());
        Ok(Self {
            file: fd.map_err(|e| named(&path, e))?.into(),
            path,
        })
    }
    /// Makes a folder in it, durably; one that is there already is an error.
    pub fn make_new_child(&self, name: impl AsRef<OsStr>, access: Access) -> io::Result<Self> {
        let (name, path) = self.place(name.as_ref())?;
        rustix::fs::mkdirat(&self.file, name, access.folder()).map_err(|e| named(&path, e))?;
        self.sync()?;
        self.child(name)
    }
    /// Makes a folder in it under a temporary name; one that stays was left by a crash.
    pub fn make_temporary_child(&self, access: Access) -> io::Result<Self> {
        loop {
            let name = temporary_name();
            match rustix::fs::mkdirat(&self.file, &name, access.folder()) {
                Ok(()) => return self.child(&name),
                // A dead process of the same number left one behind.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(named(&self.path.join(name), error)),
            }
        }
    }
    /// Opens a folder in it, made durably if nothing is there; a link there is an error.
    pub fn make_child(&self, name: impl AsRef<OsStr>, access: Access) -> io::Result<Self> {
        match self.child(name.as_ref()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        match self.make_new_child(name.as_ref(), access) {
            // Somebody else was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.child(name),
            made => made,
        }
    }
    /// Opens the folder at a relative path below it, component by component.
    pub fn descend(&self, relative: &Path) -> io::Result<Self> {
        self.walk(relative, |folder, name| folder.child(name))
    }
    /// Opens the folder at a relative path below it, making what is missing.
    pub fn make_descend(&self, relative: &Path, access: Access) -> io::Result<Self> {
        self.walk(relative, |folder, name| folder.make_child(name, access))
    }
    fn walk(
        &self,
        relative: &Path,
        step: impl Fn(&Self, &OsStr) -> io::Result<Self>,
    ) -> io::Result<Self> {
        let mut folder = Self {
            file: self.file.try_clone()?,
            path: self.path.clone(),
        };
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => folder = step(&folder, name)?,
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(named(relative, Errno::INVAL));
                }
            }
        }
        Ok(folder)
    }

    /// Opens a regular file for reading; links, FIFOs and devices are errors.
    pub fn open_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let (name, path) = self.place(name.as_ref())?;
        // NONBLOCK: a FIFO must not hold us before we can see that it is one.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.file, name, flags, Mode::empty());
        regular(fd.map_err(|e| named(&path, e))?.into(), &path)
    }
    /// Opens a regular file for reading and writing, made empty and private if nothing is there.
    pub fn open_or_make_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let (name, path) = self.place(name.as_ref())?;
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.file, name, flags, Access::Private.file());
        regular(fd.map_err(|e| named(&path, e))?.into(), &path)
    }
    /// Makes an empty private file; anything there already is an error.
    pub fn make_new_file(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let (name, path) = self.place(name.as_ref())?;
        self.exclusive(name, &path, Access::Private)
    }
    /// Reads a whole regular file of at most `cap` bytes.
    pub fn read(&self, name: impl AsRef<OsStr>, cap: u64) -> io::Result<Vec<u8>> {
        let file = self.open_file(name.as_ref())?;
        let mut bytes = Vec::new();
        file.take(cap.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
            return Err(named(&self.path.join(name.as_ref()), Errno::FBIG));
        }
        Ok(bytes)
    }
    /// Writes a file so that it is there whole and durable, or as it was before.
    ///
    /// Where the file system has files without a name, a crash leaves nothing behind.
    pub fn write(&self, name: impl AsRef<OsStr>, bytes: &[u8], access: Access) -> io::Result<()> {
        let (name, path) = self.place(name.as_ref())?;
        let written = match self.unnamed(access) {
            Some(file) => self.write_unnamed(file, name, bytes),
            None => self.write_beside(name, bytes, access),
        };
        written.map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        self.sync()
    }
    /// Writes a new file so that it is there whole and durable, or not at all; anything there
    /// already is an error.
    pub fn write_new(
        &self,
        name: impl AsRef<OsStr>,
        bytes: &[u8],
        access: Access,
    ) -> io::Result<()> {
        let (name, path) = self.place(name.as_ref())?;
        if let Some(mut file) = self.unnamed(access) {
            file.write_all(bytes)?;
            file.sync_all()?;
            let open = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, &*open, &self.file, name, AtFlags::SYMLINK_FOLLOW)
                .map_err(|error| named(&path, error))?;
        } else {
            let mut file = self.exclusive(name, &path, access)?;
            if let Err(error) = file.write_all(bytes).and_then(|()| file.sync_all()) {
                // Nothing half written stays; the first error is the one that is told.
                drop(self.remove_file(name));
                return Err(error);
            }
        }
        self.sync()
    }
    /// A file without a name; `None` where it cannot be had, whose reason a named one tells.
    fn unnamed(&self, access: Access) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.file, ".", flags, access.file());
        file.ok().map(File::from)
    }
    /// Names a file when it is whole. What lies in a folder of the user's is content: a half
    /// written file that a crash left there would be reviewed.
    fn write_unnamed(&self, mut file: File, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)?;
        file.sync_all()?;
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        let link = |name: &OsStr| {
            rustix::fs::linkat(CWD, &*open, &self.file, name, AtFlags::SYMLINK_FOLLOW)
        };
        match link(name) {
            Err(Errno::EXIST) => {}
            linked => return Ok(linked?),
        }
        // A link replaces nothing; a rename does.
        loop {
            let temporary = temporary_name();
            match link(&temporary) {
                // A dead process of the same number left one behind.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
                Ok(()) => return self.replace(&temporary, name),
            }
        }
    }
    fn write_beside(&self, name: &OsStr, bytes: &[u8], access: Access) -> io::Result<()> {
        let (temporary, mut file) = self.temporary(access)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        match written {
            Ok(()) => self.replace(&temporary, name),
            Err(error) => {
                // Nothing half written stays; the first error is the one that is told.
                drop(self.remove_file(&temporary));
                Err(error)
            }
        }
    }
    fn replace(&self, temporary: &OsStr, name: &OsStr) -> io::Result<()> {
        rustix::fs::renameat(&self.file, temporary, &self.file, name).map_err(|error| {
            drop(self.remove_file(temporary));
            error.into()
        })
    }
    fn temporary(&self, access: Access) -> io::Result<(OsString, File)> {
        loop {
            let name = temporary_name();
            let path = self.path.join(&name);
            match self.exclusive(&name, &path, access) {
                // A dead process of the same number left one behind.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((name, made?)),
            }
        }
    }
    fn exclusive(&self, name: &OsStr, path: &Path, access: Access) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.file, name, flags, access.file());
        Ok(fd.map_err(|e| named(path, e))?.into())
    }

    /// The names in it, sorted.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.file).map_err(|e| named(&self.path, e))? {
            let entry = entry.map_err(|e| named(&self.path, e))?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(OsString::from_vec(name.as_bytes().to_vec()));
            }
        }
        names.sort();
        Ok(names)
    }
    /// Removes a file or link in it.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let (name, path) = self.place(name.as_ref())?;
        rustix::fs::unlinkat(&self.file, name, AtFlags::empty()).map_err(|e| named(&path, e))
    }
    /// Gives a file in it another name; what had that name is gone.
    pub fn rename(&self, name: impl AsRef<OsStr>, new: impl AsRef<OsStr>) -> io::Result<()> {
        let (name, path) = self.place(name.as_ref())?;
        let (new, _) = self.place(new.as_ref())?;
        rustix::fs::renameat(&self.file, name, &self.file, new).map_err(|e| named(&path, e))
    }
    /// Gives a folder in it another name, which nothing has yet.
    pub fn rename_new(&self, name: impl AsRef<OsStr>, new: impl AsRef<OsStr>) -> io::Result<()> {
        self.has_no(new.as_ref())?;
        self.rename(name, new)
    }
    /// Makes sure that nothing in it has this name.
    pub fn has_no(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        let (name, path) = self.place(name.as_ref())?;
        match rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(named(&path, error)),
            Ok(_) => Err(named(&path, Errno::EXIST)),
        }
    }
    /// Moves what lies in it into another folder, under the name that it has; nothing has it there yet.
    pub fn move_new(&self, name: impl AsRef<OsStr>, into: &Self) -> io::Result<()> {
        into.has_no(name.as_ref())?;
        let (name, path) = self.place(name.as_ref())?;
        rustix::fs::renameat(&self.file, name, &into.file, name).map_err(|e| named(&path, e))
    }
    /// Makes its names durable.
    pub fn sync(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.file).map_err(|e| named(&self.path, e))
    }

    /// A name that cannot leave the folder, and its path for messages.
    fn place<'n>(&self, name: &'n OsStr) -> io::Result<(&'n OsStr, PathBuf)> {
        let bytes = name.as_bytes();
        let plain = !bytes.is_empty() && bytes != b"." && bytes != b".." && !bytes.contains(&b'/');
        if plain {
            Ok((name, self.path.join(name)))
        } else {
            Err(named(&self.path.join(name), Errno::INVAL))
        }
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

fn regular(file: File, path: &Path) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: not a regular file", path.display()),
        ))
    }
}

/// The system's error, with the path it is about.
fn named(path: &Path, error: Errno) -> io::Error {
    let error = io::Error::from(error);
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

//! Folders that are opened, searched and emptied without following links.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dev, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::git::listing::{self, Listing};

/// Which folder it is, whatever its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    device: Dev,
    inode: u64,
    /// When it was made, where the file system knows: the inode of a removed folder is soon
    /// another one's.
    born: Option<(i64, u32)>,
}

impl Place {
    /// The lower half of its file system's number: all that an index has room for.
    pub(crate) fn device(&self) -> [u8; 4] {
        let device = self.device.to_be_bytes();
        device.last_chunk().copied().unwrap_or_default()
    }
    /// A name that no other folder has.
    pub(crate) fn name(&self) -> String {
        let (seconds, nanos) = self.born.unwrap_or_default();
        format!("{:x}.{:x}.{seconds}.{nanos}", self.device, self.inode)
    }
}

#[cfg(target_os = "linux")]
fn born(fd: &OwnedFd) -> Option<(i64, u32)> {
    use rustix::fs::StatxFlags;
    let stat = rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, StatxFlags::BTIME).ok()?;
    let known = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
    known.then_some((stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn born(_: &OwnedFd) -> Option<(i64, u32)> {
    None
}

/// An open folder; what happens to its name does not change which one it is.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    device: Dev,
    inode: u64,
}

/// How many folders that lie in each other are gone through at once: an agent makes as many as it likes,
/// and each takes its part of the stack and an open file. What lies deeper is lifted up first.
const DEEPEST: u32 = 500;
/// How often something is lifted: an agent that still runs may make more of it all the time.
const LIFTS: u32 = 1_000;

/// One turn of a removal.
#[derive(Debug, Default)]
struct Removal {
    /// The folder that is removed with all that lies in it.
    top: Option<Folder>,
    /// Whether something was lifted to it.
    lifted: bool,
    /// What stays, with reasons.
    left: Vec<String>,
}

const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC);

impl Folder {
    /// Opens the folder at a path whose last component is no link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::open(path, OPEN, Mode::empty())?;
        Self::new(fd)
    }
    /// Opens a folder in this one, and gives its owner the rights to work in it.
    pub(crate) fn open_in(&self, name: &CStr) -> io::Result<Self> {
        let opened = rustix::fs::openat(&self.fd, name, OPEN, Mode::empty());
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::ACCESS) => {
                self.unlock(name)?;
                rustix::fs::openat(&self.fd, name, OPEN, Mode::empty())?
            }
            Err(error) => return Err(error.into()),
        };
        let stat = rustix::fs::fstat(&fd)?;
        Self::usable(fd, &stat)
    }
    /// As [`Self::open_in`], but nothing is done to a folder on another file system: `None`.
    pub(crate) fn open_near(&self, name: &CStr) -> io::Result<Option<Self>> {
        match rustix::fs::openat(&self.fd, name, OPEN, Mode::empty()) {
            Ok(fd) => {
                let stat = rustix::fs::fstat(&fd)?;
                let is_near = self.shares_device(&stat);
                is_near.then(|| Self::usable(fd, &stat)).transpose()
            }
            Err(Errno::ACCESS) => match self.stat(name)? {
                Some(stat) if !self.shares_device(&stat) => Ok(None),
                Some(_) | None => self.open_in(name).map(Some),
            },
            Err(error) => Err(error.into()),
        }
    }
    /// A folder whose owner has the rights to work in it.
    fn usable(fd: OwnedFd, stat: &Stat) -> io::Result<Self> {
        let mode = Mode::from_raw_mode(stat.st_mode);
        if !mode.contains(Mode::RWXU) {
            rustix::fs::fchmod(&fd, mode | Mode::RWXU)?;
        }
        Ok(Self::of(fd, stat))
    }
    /// Gives the owner rights to a folder that cannot even be opened; by its descriptor, since a
    /// change by name would follow a link.
    fn unlock(&self, name: &CStr) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty())?;
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
        Ok(rustix::fs::chmod(path, Mode::RWXU)?)
    }
    fn new(fd: OwnedFd) -> io::Result<Self> {
        let stat = rustix::fs::fstat(&fd)?;
        Ok(Self::of(fd, &stat))
    }
    fn of(fd: OwnedFd, stat: &Stat) -> Self {
        let (device, inode) = (stat.st_dev, stat.st_ino);
        Self { fd, device, inode }
    }
    /// Which folder this is.
    pub(crate) fn place(&self) -> Place {
        Place {
            device: self.device,
            inode: self.inode,
            born: born(&self.fd),
        }
    }
    /// Whether something in it lies on the same file system.
    pub(crate) fn shares_device(&self, stat: &Stat) -> bool {
        self.device == stat.st_dev
    }
    /// The place of the folder at a name; `None` when there is none, a link to one included.
    pub(crate) fn place_of(&self, name: &CStr) -> io::Result<Option<Place>> {
        match self.stat(name)? {
            Some(stat) if is_folder(&stat) => Ok(Some(self.open_in(name)?.place())),
            Some(_) | None => Ok(None),
        }
    }
    /// Its owner, and the rights of others.
    pub(crate) fn owner_and_mode(&self) -> io::Result<(u32, Mode)> {
        let stat = rustix::fs::fstat(&self.fd)?;
        Ok((stat.st_uid, Mode::from_raw_mode(stat.st_mode)))
    }
    /// When it was written to last, by the file system's time, in seconds.
    pub(crate) fn modified(&self) -> io::Result<i64> {
        Ok(rustix::fs::fstat(&self.fd)?.st_mtime)
    }
    /// Makes a folder in this one, for us alone.
    pub(crate) fn create(&self, name: &CStr) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.fd, name, Mode::RWXU)?;
        self.open_in(name)
    }
    /// Makes a folder in this one with the rights that the user's mask leaves.
    pub(crate) fn create_shared(&self, name: &CStr) -> io::Result<()> {
        let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
        Ok(rustix::fs::mkdirat(&self.fd, name, mode)?)
    }
    /// Makes a file where nothing lies, with the rights that the user's mask leaves.
    pub(crate) fn create_file(&self, name: &CStr, mode: Mode) -> io::Result<OwnedFd> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | FILE;
        Ok(rustix::fs::openat(&self.fd, name, flags, mode)?)
    }
    /// Opens a file that is no link.
    pub(crate) fn open_file(&self, name: &CStr, flags: OFlags) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(
            &self.fd,
            name,
            flags | FILE,
            Mode::empty(),
        )?)
    }
    /// Makes a link where nothing lies.
    pub(crate) fn link(&self, target: &CStr, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.fd, name)?)
    }
    /// Where a link leads.
    pub(crate) fn read_link(&self, name: &CStr) -> io::Result<Vec<u8>> {
        let target = rustix::fs::readlinkat(&self.fd, name, Vec::new())?;
        Ok(target.into_bytes())
    }
    /// What lies at a name, a link itself included; `None` when nothing does.
    pub(crate) fn stat(&self, name: &CStr) -> io::Result<Option<Stat>> {
        listing::stat(&self.fd, name)
    }
    /// The names in it.
    pub(crate) fn names(&self) -> io::Result<Vec<CString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }
    /// Reads the names in it, each with what lay there when the folder was read, where the file
    /// system tells.
    pub(crate) fn list(&self, listing: &mut Listing) -> io::Result<()> {
        listing.read(&self.fd)
    }
    /// Moves what lies at a name, a link itself included, to a name where nothing lies.
    pub(crate) fn rename(&self, name: &CStr, to: &Self, new: &CStr) -> io::Result<()> {
        if to.stat(new)?.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(rustix::fs::renameat(&self.fd, name, &to.fd, new)?)
    }
    /// Removes what lies at a name and everything below it; returns what is left, with reasons.
    /// Links are removed and not followed; another file system is not entered.
    pub(crate) fn remove(&self, name: &CStr) -> Vec<String> {
        let path = shown(name);
        for _ in 0..LIFTS {
            let mut removal = Removal::default();
            if let Ok(Some(stat)) = self.stat(name)
                && is_folder(&stat)
                && self.shares_device(&stat)
            {
                match self.open_in(name) {
                    Ok(top) => removal.top = Some(top),
                    Err(error) => return vec![format!("{path}: {error}")],
                }
            }
            self.remove_below(name, &path, DEEPEST, &mut removal);
            if !removal.lifted || !removal.left.is_empty() {
                return removal.left;
            }
        }
        vec![format!("{path}: lies too deep")]
    }
    fn remove_below(&self, name: &CStr, path: &str, deep: u32, removal: &mut Removal) {
        let before = removal.left.len();
        let result = match self.stat(name) {
            Ok(None) => Ok(()),
            Ok(Some(stat)) if !is_folder(&stat) => self.unlink(name, AtFlags::empty()),
            Ok(Some(stat)) if !self.shares_device(&stat) => {
                Err(io::Error::other("lies on another file system"))
            }
            Ok(Some(_)) if deep == 0 => self.lift(name, removal),
            Ok(Some(_)) => self.empty(name, path, deep - 1, removal).and_then(|()| {
                let is_top = deep == DEEPEST;
                if removal.left.len() > before || (is_top && removal.lifted) {
                    Ok(())
                } else {
                    self.unlink(name, AtFlags::REMOVEDIR)
                }
            }),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            removal.left.push(format!("{path}: {error}"));
        }
    }
    /// Moves a folder that lies too deep to the top of what is removed, where the next turn finds it.
    fn lift(&self, name: &CStr, removal: &mut Removal) -> io::Result<()> {
        let top = removal.top.as_ref();
        let top = top.ok_or_else(|| io::Error::other("lies too deep"))?;
        // A folder is moved only by who may write to it.
        drop(self.open_in(name)?);
        let mut number = 0_u64;
        loop {
            let new = CString::new(format!("lifted-{number}"))?;
            match self.rename(name, top, &new) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
                Ok(()) => {
                    removal.lifted = true;
                    return Ok(());
                }
            }
        }
    }
    /// How many bytes what lies at a name takes on disk; what cannot be read, or lies too deep, takes
    /// none.
    pub(crate) fn size(&self, name: &CStr) -> u64 {
        self.size_below(name, DEEPEST)
    }
    fn size_below(&self, name: &CStr, deep: u32) -> u64 {
        let Ok(Some(stat)) = self.stat(name) else {
            return 0;
        };
        let own = u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        if !is_folder(&stat) || !self.shares_device(&stat) || deep == 0 {
            return own;
        }
        // Only to be read: the rights of a folder that is not removed stay as they are.
        let below = rustix::fs::openat(&self.fd, name, OPEN, Mode::empty())
            .map_err(io::Error::from)
            .and_then(Self::new)
            .and_then(|folder| Ok((folder.names()?, folder)));
        below.map_or(own, |(names, folder)| {
            let below = names.iter().map(|name| folder.size_below(name, deep - 1));
            below.fold(own, u64::saturating_add)
        })
    }
    fn empty(&self, name: &CStr, path: &str, deep: u32, removal: &mut Removal) -> io::Result<()> {
        let folder = self.open_in(name)?;
        for name in folder.names()? {
            folder.remove_below(&name, &format!("{path}/{}", shown(&name)), deep, removal);
        }
        Ok(())
    }
    fn unlink(&self, name: &CStr, flags: AtFlags) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, flags)?)
    }
    /// Removes an empty folder.
    pub(crate) fn remove_empty(&self, name: &CStr) -> io::Result<()> {
        self.unlink(name, AtFlags::REMOVEDIR)
    }
}

/// Whether a stat describes a folder.
pub(crate) fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// A name for a message.
pub(crate) fn shown(name: &CStr) -> String {
    crate::domain::path::RepoPath::new(name.to_bytes()).to_string()
}

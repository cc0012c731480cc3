//! Review trees that wait for a later run of the same repository.
//!
//! Layout, under `<cache root>/pool/<store's key>/`: folders of files without any git directory,
//! each named by which folder it is (device, inode, birth) and how many bytes it held.
//!
//! # What is trusted between runs
//! Nothing. No index, digest or time is kept here, since whoever can write to a tree could write
//! to a record of it as well. A tree that is taken is cheap to bring to a snapshot, and no more:
//! a new index without stat data is filled from the snapshot, every file is hashed again, what
//! differs is written again, and then the proof is that of every other slot.
//!
//! A tree is taken and given by one rename, so that two runs never have the same one. A folder
//! whose name is not its own place was put here by somebody else, and is left alone.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::folder::{Folder, Place, is_folder};
use super::root::check_ours;
use super::{Error, c_name};

/// Trees of one repository that are kept: as many as reviewers run at once by default.
const TREES: usize = 4;
/// Bytes of the trees of all repositories that are kept.
const BYTES: u64 = 4 << 30;
/// How long a tree is kept that nobody takes.
const IDLE: i64 = 7 * 24 * 3600;
/// What a tree is called while it is removed; nobody takes it then.
const GONE: &[u8] = b".gone-";

/// The waiting trees of one repository.
#[derive(Debug)]
pub(super) struct Pool {
    all: Folder,
    own: Folder,
}

/// The waiting trees of one repository, for clean-up.
#[derive(Debug)]
pub struct Waiting {
    path: PathBuf,
    folder: Folder,
    bytes: u64,
}

impl Waiting {
    /// Those of all repositories. Nothing is made or changed.
    ///
    /// # Errors
    /// When the folder is not ours, or cannot be read.
    pub fn all(cache_root: &Path) -> io::Result<Vec<Self>> {
        let pool = cache_root.join("pool");
        let folder = match Folder::open(&pool) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        check_ours(&folder, &pool).map_err(|error| io::Error::other(error.to_string()))?;
        let mut all = Vec::new();
        for key in folder.names()? {
            if !folder.stat(&key)?.as_ref().is_some_and(is_folder) {
                continue;
            }
            let own = folder.open_in(&key)?;
            let members = members(&own)?;
            if !members.is_empty() {
                all.push(Self {
                    path: pool.join(std::ffi::OsStr::from_bytes(key.to_bytes())),
                    folder: own,
                    bytes: members.iter().map(|member| member.bytes).sum(),
                });
            }
        }
        Ok(all)
    }
    /// Where they lie.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// How many bytes they take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Removes them; one that a run takes meanwhile is that run's. Returns what is left, each with
    /// its reason.
    #[must_use]
    pub fn remove(&self) -> Vec<String> {
        let removed = members(&self.folder).and_then(|members| {
            let names = members
                .iter()
                .map(|member| remove(&self.folder, &member.name));
            names.collect::<io::Result<Vec<_>>>()
        });
        match removed {
            Ok(left) => left.into_iter().flatten().collect(),
            Err(error) => vec![format!("{}: {error}", self.path.display())],
        }
    }
}

/// A waiting tree.
struct Member {
    name: CString,
    /// When it was given.
    since: (i64, i64),
    bytes: u64,
}

impl Pool {
    /// Opens the pool of the repository with this key; makes it where needed.
    pub(super) fn open(cache_root: &Path, key: &str) -> Result<Self, Error> {
        let path = fs_err::canonicalize(cache_root)?.join("pool");
        let mut builder = std::fs::DirBuilder::new();
        builder.mode(0o700);
        let open = |path: &Path| -> Result<Folder, Error> {
            match builder.create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
                Ok(()) | Err(_) => {
                    let folder = Folder::open(path)?;
                    check_ours(&folder, path)?;
                    Ok(folder)
                }
            }
        };
        Ok(Self {
            all: open(&path)?,
            own: open(&path.join(key))?,
        })
    }

    /// The trees that wait, by which folder they are; the last one that was given comes first.
    pub(super) fn waiting(&self) -> io::Result<Vec<(CString, Place)>> {
        let mut waiting = Vec::new();
        for member in members(&self.own)? {
            // None: somebody was quicker.
            if let Some(place) = self.own.place_of(&member.name)? {
                waiting.push((member.name, place));
            }
        }
        Ok(waiting)
    }

    /// Moves a waiting tree to `tree` in a slot's folder; `false` when somebody was quicker.
    pub(super) fn take(&self, name: &CStr, slot: &Folder) -> io::Result<bool> {
        match self.own.rename(name, slot, c"tree") {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets a slot's tree, which holds nothing but files of a snapshot, wait here.
    pub(super) fn give(&self, slot: &Folder, tree: Place) -> io::Result<()> {
        let name = format!("{}.{}", tree.name(), slot.size(c"tree"));
        slot.rename(c"tree", &self.own, &c_name(&name)?)
    }

    /// Removes what is beyond the budget, here and of other repositories, and what a crash left.
    pub(super) fn tidy(&self) -> io::Result<()> {
        // The file system's time: the last tree was given just now.
        let now = self.own.modified()?;
        let mut all = Vec::new();
        for key in self.all.names()? {
            if self.all.stat(&key)?.as_ref().is_some_and(is_folder) {
                let folder = self.all.open_in(&key)?;
                finish_removals(&folder)?;
                let members = members(&folder)?.into_iter().enumerate();
                all.extend(members.map(|(number, member)| (member, number, key.clone())));
            }
        }
        all.sort_by_key(|(member, ..)| std::cmp::Reverse(member.since));
        let mut bytes = 0_u64;
        for (member, number, key) in all {
            let sum = bytes.saturating_add(member.bytes);
            if number < TREES && sum <= BYTES && now.saturating_sub(member.since.0) <= IDLE {
                bytes = sum;
            } else {
                untidy(&remove(&self.all.open_in(&key)?, &member.name)?);
            }
        }
        Ok(())
    }
}

/// The waiting trees in a folder, the last one that was given first.
fn members(folder: &Folder) -> io::Result<Vec<Member>> {
    let mut members = Vec::new();
    for name in folder.names()? {
        let Some(bytes) = bytes_of(folder, &name, b"")? else {
            continue;
        };
        let Some(stat) = folder.stat(&name)? else {
            continue;
        };
        // Its name changed then.
        let since = (
            stat.st_ctime,
            i64::try_from(stat.st_ctime_nsec).unwrap_or(0),
        );
        members.push(Member { name, since, bytes });
    }
    members.sort_by_key(|member| std::cmp::Reverse(member.since));
    Ok(members)
}

/// What the name of a folder says of its size; `None` when it is not the folder that it says.
fn bytes_of(folder: &Folder, name: &CStr, prefix: &[u8]) -> io::Result<Option<u64>> {
    let said = || {
        let name = std::str::from_utf8(name.to_bytes().strip_prefix(prefix)?).ok()?;
        let (place, bytes) = name.rsplit_once('.')?;
        Some((place, bytes.parse::<u64>().ok()?))
    };
    let Some((place, bytes)) = said() else {
        return Ok(None);
    };
    let found = folder.place_of(name)?;
    Ok(found.filter(|found| found.name() == place).map(|_| bytes))
}

/// Removes a waiting tree, under a name that nobody takes it by.
fn remove(folder: &Folder, name: &CStr) -> io::Result<Vec<String>> {
    let gone = CString::new([GONE, name.to_bytes()].concat()).map_err(io::Error::other)?;
    match folder.rename(name, folder, &gone) {
        Ok(()) => {}
        // Somebody took it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    Ok(folder.remove(&gone))
}

/// Goes on with removals that broke off.
fn finish_removals(folder: &Folder) -> io::Result<()> {
    for name in folder.names()? {
        if bytes_of(folder, &name, GONE)?.is_some() {
            untidy(&folder.remove(&name));
        }
    }
    Ok(())
}

fn untidy(left: &[String]) {
    // Two processes may be at it: what is left is gone next time.
    for left in left {
        tracing::debug!(left, "a waiting review tree is not removed yet");
    }
}

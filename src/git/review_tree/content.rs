//! What must lie in a review tree, and taking away everything else.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;

use rustix::fs::{FileType, Stat};

use super::Error;
use super::folder::{Folder, is_folder};
use crate::domain::path::RepoPath;

/// What git checks out for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Executable,
    Link,
    /// An empty folder.
    Submodule,
}

/// The entries of an index, and the folders that they lie in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    entries: HashMap<Vec<u8>, Kind>,
    folders: HashSet<Vec<u8>>,
}

/// What is done about something that must not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Odd {
    /// It is removed; git puts the right thing there.
    Removed,
    /// It is a doubt about the whole tree.
    Refused,
}

impl Content {
    /// Reads what `git ls-files -s -v -z` prints; anything but plain entries is `None`, as is an
    /// entry with a flag that would let git look away (`H` stands for none).
    pub(super) fn parse(listing: &[u8]) -> Option<Self> {
        let mut content = Self {
            entries: HashMap::new(),
            folders: HashSet::new(),
        };
        for line in listing.split(|byte| *byte == 0).filter(|l| !l.is_empty()) {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let (meta, path) = (&line[..tab], &line[tab + 1..]);
            let meta = meta.strip_prefix(b"H ")?;
            let kind = match meta.get(..7)? {
                b"100644 " => Kind::File,
                b"100755 " => Kind::Executable,
                b"120000 " => Kind::Link,
                b"160000 " => Kind::Submodule,
                _ => return None,
            };
            // Stage 0: nothing unmerged.
            if !meta.ends_with(b" 0") {
                return None;
            }
            for (at, _) in path.iter().enumerate().filter(|(_, b)| **b == b'/') {
                if !content.folders.contains(&path[..at]) {
                    content.folders.insert(path[..at].to_vec());
                }
            }
            content.entries.insert(path.to_vec(), kind);
        }
        Some(content)
    }

    /// Goes through a tree and deals with everything that no entry explains: files, links,
    /// pipes, folders, other names of files elsewhere, odd rights.
    ///
    /// That every entry is there with the right bytes is git's part of the proof.
    pub(super) fn compare(&self, tree: &Folder, odd: Odd) -> Result<(), Error> {
        self.folder(tree, &mut Vec::new(), odd)
    }

    fn folder(&self, folder: &Folder, path: &mut Vec<u8>, odd: Odd) -> Result<(), Error> {
        let before = path.len();
        for name in folder.names()? {
            if before > 0 {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            self.entry(folder, &name, path, odd)?;
            path.truncate(before);
        }
        Ok(())
    }

    fn entry(
        &self,
        folder: &Folder,
        name: &CStr,
        path: &mut Vec<u8>,
        odd: Odd,
    ) -> Result<(), Error> {
        let Some(stat) = folder.stat(name)? else {
            return Err(Error::doubt(path, "vanished"));
        };
        let is_folder = is_folder(&stat);
        if is_folder && !folder.shares_device(&stat) {
            return Err(Error::doubt(path, "lies on another file system"));
        }
        if is_folder && self.folders.contains(path.as_slice()) {
            return self.folder(&folder.open_in(name)?, path, odd);
        }
        let fits = match self.entries.get(path.as_slice()) {
            Some(Kind::Submodule) => is_folder && folder.open_in(name)?.names()?.is_empty(),
            Some(kind) => is_as_checked_out(&stat, *kind),
            None => false,
        };
        match odd {
            _ if fits => Ok(()),
            Odd::Refused => Err(Error::doubt(path, "must not be there as it is")),
            Odd::Removed => match folder.remove(name).pop() {
                None => Ok(()),
                Some(left) => Err(Error::Doubt(format!("cannot be removed: {left}"))),
            },
        }
    }
}

/// Whether a file is as git makes it. One with a second name could be a file of the user, which
/// the next agent would write to.
fn is_as_checked_out(stat: &Stat, kind: Kind) -> bool {
    let kind_now = FileType::from_raw_mode(stat.st_mode);
    let (special, executable) = (stat.st_mode & 0o7000, stat.st_mode & 0o100 != 0);
    let usable = stat.st_mode & 0o600 == 0o600;
    stat.st_nlink == 1
        && match kind {
            Kind::Link => kind_now == FileType::Symlink,
            Kind::File | Kind::Executable => {
                kind_now == FileType::RegularFile
                    && special == 0
                    && usable
                    && executable == (kind == Kind::Executable)
            }
            Kind::Submodule => false,
        }
}

impl Error {
    fn doubt(path: &[u8], what: &str) -> Self {
        Self::Doubt(format!("{} {what}", RepoPath::new(path)))
    }
}

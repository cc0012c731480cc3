//! Going through a review tree with all processors, and taking away what must not be there.

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, OFlags, Stat};

use super::Error;
use super::content::{Content, Id, Kind, Node, ROOT};
use super::folder::{Folder, is_folder};
use super::stamp::{Known, Stamp, is_as_checked_out};
use super::sum::SumKey;
use crate::git::crew;
use crate::git::listing::Listing;
use crate::git::object_id::ObjectId;
use crate::git::repository::ObjectFormat;

/// What is done about something that must not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Odd {
    /// It is removed.
    Removed,
    /// It is a doubt about the whole tree.
    Refused,
}

/// Something that lies where an entry belongs.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// The entry's number.
    pub(super) entry: usize,
    /// What must lie there.
    pub(super) kind: Kind,
    /// The folder that it lies in, and its name there.
    pub(super) folder: &'a Folder,
    pub(super) name: &'a CStr,
    /// What the file system says of it.
    pub(super) stat: &'a Stat,
    /// A file that could be opened, at its beginning.
    file: Option<&'a OwnedFd>,
    /// Room for a piece of it.
    buffer: &'a mut Vec<u8>,
}

impl Found<'_> {
    /// Whether it is of the right kind, with the rights that git gives; its bytes are not read.
    pub(super) fn is_plain(&self) -> Result<bool, Error> {
        if self.kind == Kind::Submodule {
            return Ok(is_folder(self.stat) && self.folder.open_in(self.name)?.names()?.is_empty());
        }
        Ok(is_as_checked_out(self.stat, self.kind))
    }
    /// Whether it is what is known, by its stamp and its bytes.
    pub(super) fn holds(&mut self, known: &Known, key: SumKey) -> Result<bool, Error> {
        match known.sum {
            // Of an empty folder there is nothing to know.
            None => Ok(self.kind == Kind::Submodule),
            Some(_) if known.stamp != Stamp::from(self.stat) => Ok(false),
            Some(sum) => {
                let mut summing = key.begin();
                self.read(|bytes| summing.update(bytes))?;
                Ok(summing.finish() == sum)
            }
        }
    }
    /// Takes it down, if its bytes are those that an object id stands for.
    pub(super) fn take(
        &mut self,
        format: ObjectFormat,
        id: &Id,
        key: SumKey,
    ) -> Result<Option<Known>, Error> {
        let stamp = Stamp::from(self.stat);
        if self.kind == Kind::Submodule {
            return Ok(Some(Known { stamp, sum: None }));
        }
        let length = u64::try_from(stamp.size).unwrap_or(u64::MAX);
        let (mut blob, mut summing) = (ObjectId::new(format, "blob", length), key.begin());
        self.read(|bytes| {
            blob.update(bytes);
            summing.update(bytes);
        })?;
        let sum = Some(summing.finish());
        Ok((blob.finish() == *id).then_some(Known { stamp, sum }))
    }
    /// Shows all its bytes, those of where a link leads.
    fn read(&mut self, mut show: impl FnMut(&[u8])) -> Result<(), Error> {
        let (folder, name) = (self.folder, self.name);
        if self.kind == Kind::Link {
            show(&folder.read_link(name)?);
            return Ok(());
        }
        let opened;
        let file = if let Some(file) = self.file {
            file
        } else {
            opened = folder.open_file(name, TO_READ)?;
            &opened
        };
        let mut left = usize::try_from(self.stat.st_size).unwrap_or(usize::MAX);
        loop {
            self.buffer.clear();
            let spare = rustix::buffer::spare_capacity(self.buffer);
            let length = rustix::io::read(file, spare).map_err(io::Error::from)?;
            show(self.buffer);
            left = left.saturating_sub(length);
            // A file that gives less than it is asked for has come to its end, where its length says
            // so too.
            if length == 0 || (left == 0 && length < PIECE) {
                return Ok(());
            }
        }
    }
}

/// What is said of a folder in which another file system begins.
const ELSEWHERE: &str = "lies on another file system";

/// Should it be a pipe by now, opening it must not wait.
const TO_READ: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK);

/// Bytes of a file that are read at once: most files whole.
const PIECE: usize = 1 << 16;

/// What a look at a tree found.
#[derive(Debug)]
pub(super) struct Seen<T> {
    /// What was said of each entry; `None` for those that are not there.
    pub(super) said: Vec<Option<T>>,
    /// Whether something was taken away.
    removed: bool,
    /// Whether something was not there.
    lacking: bool,
}

impl<T> Seen<T> {
    /// Whether all that must lie where it was looked was there, and nothing else.
    pub(super) fn is_whole(&self) -> bool {
        !self.removed && !self.lacking
    }
}

/// Goes through a tree and deals with everything that no entry explains: files, links, pipes,
/// folders, other names of files elsewhere. What lies in an entry's place is shown to `fits`, which
/// says what it knows of it, or `None` when it must not be there as it is.
///
/// With `only`, folders of other numbers are not looked into.
///
/// No link is followed, and no other file system entered.
pub(super) fn walk<T: Send>(
    content: &Content,
    tree: Folder,
    odd: Odd,
    only: Option<&HashSet<usize>>,
    fits: impl Fn(&mut Found<'_>) -> Result<Option<T>, Error> + Sync,
) -> Result<Seen<T>, Error> {
    let walk = Walk {
        content,
        odd,
        only,
        fits,
        removed: AtomicBool::new(false),
        lacking: AtomicBool::new(false),
    };
    let mut said: Vec<Option<T>> = Vec::new();
    said.resize_with(content.entries().len(), || None);
    let done = crew::each(
        Task::Root(tree),
        Work::default,
        |task, work, more| walk.folder(task, work, more),
        || Error::Doubt("the look into its files broke off".to_owned()),
    )?;
    for (entry, what) in done.into_iter().flat_map(|work| work.found) {
        said[entry] = Some(what);
    }
    Ok(Seen {
        said,
        removed: walk.removed.into_inner(),
        lacking: walk.lacking.into_inner(),
    })
}

/// A folder that is still to be looked into.
enum Task {
    Root(Folder),
    Below {
        parent: Arc<Folder>,
        name: CString,
        number: usize,
    },
}

impl Task {
    fn below(parent: &Arc<Folder>, name: &CStr, number: usize) -> Self {
        Self::Below {
            parent: Arc::clone(parent),
            name: name.to_owned(),
            number,
        }
    }
}

/// What one thread found, and what it uses again for each folder.
struct Work<T> {
    found: Vec<(usize, T)>,
    listing: Listing,
    buffer: Vec<u8>,
}

impl<T> Default for Work<T> {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            listing: Listing::default(),
            buffer: Vec::with_capacity(PIECE),
        }
    }
}

struct Walk<'a, F> {
    content: &'a Content,
    odd: Odd,
    only: Option<&'a HashSet<usize>>,
    fits: F,
    removed: AtomicBool,
    lacking: AtomicBool,
}

impl<F> Walk<'_, F> {
    fn enter(&self, task: Task) -> Result<(Arc<Folder>, usize), Error> {
        let (folder, number) = match task {
            Task::Root(folder) => (folder, ROOT),
            Task::Below {
                parent,
                name,
                number,
            } => {
                let folder = parent.open_near(&name)?;
                let elsewhere = || Error::doubt(&self.content.folder(number), ELSEWHERE);
                (folder.ok_or_else(elsewhere)?, number)
            }
        };
        Ok((Arc::new(folder), number))
    }

    /// Whether a folder is looked into.
    fn is_wanted(&self, folder: usize) -> bool {
        self.only.is_none_or(|only| only.contains(&folder))
    }

    fn folder<T>(&self, task: Task, work: &mut Work<T>, more: &mut Vec<Task>) -> Result<(), Error>
    where
        F: Fn(&mut Found<'_>) -> Result<Option<T>, Error>,
    {
        let (folder, number) = self.enter(task)?;
        // The names are read before anything is taken away.
        let mut listing = std::mem::take(&mut work.listing);
        folder.list(&mut listing)?;
        let (mut expected, mut at) = (0, 0);
        for (name, kind) in listing.iter() {
            let doubt = |what| Error::doubt(&self.content.shown(number, name.to_bytes()), what);
            let node = self.content.find_beside(number, name.to_bytes(), &mut at);
            // What is opened next need not be asked by its name before.
            if let Some(Node::Folder(below)) = node
                && kind == FileType::Directory
                && self.is_wanted(below)
            {
                expected += 1;
                more.push(Task::below(&folder, name, below));
                continue;
            }
            // To ask an open file costs a tenth of asking by name. One that cannot be opened is shown
            // as it lies there.
            let is_wanted = matches!(node, Some(Node::Entry(_)));
            let file = if is_wanted && kind == FileType::RegularFile {
                folder.open_file(name, TO_READ).ok()
            } else {
                None
            };
            let stat = match &file {
                Some(file) => Some(rustix::fs::fstat(file).map_err(io::Error::from)?),
                None => folder.stat(name)?,
            };
            let stat = stat.ok_or_else(|| doubt("vanished"))?;
            if !folder.shares_device(&stat) {
                return Err(doubt(ELSEWHERE));
            }
            let what = match node {
                Some(Node::Folder(number)) if is_folder(&stat) => {
                    expected += 1;
                    if self.is_wanted(number) {
                        more.push(Task::below(&folder, name, number));
                    }
                    continue;
                }
                Some(Node::Entry(entry)) => {
                    let kind = self.content.entries()[entry].kind;
                    let what = (self.fits)(&mut Found {
                        entry,
                        kind,
                        folder: &folder,
                        name,
                        stat: &stat,
                        file: file.as_ref(),
                        buffer: &mut work.buffer,
                    })?;
                    what.map(|what| (entry, what))
                }
                Some(Node::Folder(_)) | None => None,
            };
            match (what, self.odd) {
                (Some(what), _) => {
                    expected += 1;
                    work.found.push(what);
                }
                (None, Odd::Refused) => return Err(doubt("must not be there as it is")),
                (None, Odd::Removed) => {
                    super::nothing_left(&folder.remove(name))?;
                    self.removed.store(true, Ordering::Relaxed);
                }
            }
        }
        work.listing = listing;
        if expected < self.content.in_folder(number) {
            self.lacking.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

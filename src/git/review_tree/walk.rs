//! Going through a review tree with all processors, and taking away what must not be there.

use std::ffi::{CStr, CString};
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use rustix::fs::{FileType, OFlags, Stat};

use super::content::{Content, Id, Kind, Node, ROOT};
use super::folder::{Folder, is_folder};
use super::stamp::{Known, Stamp, is_as_checked_out};
use super::sum::SumKey;
use super::{Error, locked};
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
#[derive(Debug, Clone, Copy)]
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
    pub(super) fn holds(&self, known: &Known, key: SumKey) -> Result<bool, Error> {
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
        &self,
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
    fn read(&self, mut show: impl FnMut(&[u8])) -> Result<(), Error> {
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
        let mut buffer = Vec::with_capacity(PIECE);
        loop {
            let spare = rustix::buffer::spare_capacity(&mut buffer);
            let length = rustix::io::read(file, spare).map_err(io::Error::from)?;
            show(&buffer);
            left = left.saturating_sub(length);
            // A file that gives less than it is asked for has come to its end, where its length says
            // so too.
            if length == 0 || (left == 0 && length < PIECE) {
                return Ok(());
            }
            buffer.clear();
        }
    }
}

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
    pub(super) removed: bool,
}

/// Threads at most: more only wait for the file system.
const THREADS: usize = 8;

/// Goes through a tree and deals with everything that no entry explains: files, links, pipes,
/// folders, other names of files elsewhere. What lies in an entry's place is shown to `fits`, which
/// says what it knows of it, or `None` when it must not be there as it is.
///
/// No link is followed, and no other file system entered.
pub(super) fn walk<T: Send>(
    content: &Content,
    tree: Folder,
    odd: Odd,
    fits: impl Fn(&Found<'_>) -> Result<Option<T>, Error> + Sync,
) -> Result<Seen<T>, Error> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let walk = Walk {
        content,
        odd,
        fits,
        open: Mutex::new(Open {
            folders: vec![Task::Root(tree)],
            at_work: 0,
            is_over: false,
        }),
        more: Condvar::new(),
        removed: AtomicBool::new(false),
    };
    let mut said: Vec<Option<T>> = Vec::new();
    said.resize_with(content.entries().len(), || None);
    let found = std::thread::scope(|scope| {
        let workers: Vec<_> = (1..threads.min(THREADS))
            .map(|_| scope.spawn(|| walk.work()))
            .collect();
        let mut found = vec![walk.work()];
        for worker in workers {
            let broken = |_| Err(Error::Doubt("the look into its files broke off".to_owned()));
            found.push(worker.join().unwrap_or_else(broken));
        }
        found
    });
    for found in found {
        for (entry, what) in found? {
            said[entry] = Some(what);
        }
    }
    Ok(Seen {
        said,
        removed: walk.removed.into_inner(),
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

/// What is still to be done.
struct Open {
    folders: Vec<Task>,
    /// Threads that may find more.
    at_work: usize,
    /// One of them failed: the others need not go on.
    is_over: bool,
}

struct Walk<'a, F> {
    content: &'a Content,
    odd: Odd,
    fits: F,
    open: Mutex<Open>,
    more: Condvar,
    removed: AtomicBool,
}

impl<F> Walk<'_, F> {
    /// The next folder; `None` when nobody can find another one.
    fn next(&self) -> Option<Task> {
        let mut open = locked(&self.open);
        loop {
            if open.is_over {
                return None;
            }
            // The last one that was found: so few folders are open at once.
            if let Some(task) = open.folders.pop() {
                open.at_work += 1;
                return Some(task);
            }
            if open.at_work == 0 {
                return None;
            }
            open = self
                .more
                .wait(open)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn done(&self, found: Option<Vec<Task>>) {
        let mut open = locked(&self.open);
        open.at_work -= 1;
        match found {
            Some(found) => open.folders.extend(found),
            None => open.is_over = true,
        }
        drop(open);
        self.more.notify_all();
    }
}

/// Says that a thread gave up, should it panic: the others would wait for it for ever.
struct AtWork<'a, 'b, F>(Option<&'a Walk<'b, F>>);

impl<F> Drop for AtWork<'_, '_, F> {
    fn drop(&mut self) {
        if let Some(walk) = self.0 {
            walk.done(None);
        }
    }
}

impl<F> Walk<'_, F> {
    fn work<T>(&self) -> Result<Vec<(usize, T)>, Error>
    where
        F: Fn(&Found<'_>) -> Result<Option<T>, Error>,
    {
        let mut found = Vec::new();
        while let Some(task) = self.next() {
            let mut at_work = AtWork(Some(self));
            let (folder, number) = match task {
                Task::Root(folder) => (Arc::new(folder), ROOT),
                Task::Below {
                    parent,
                    name,
                    number,
                } => (Arc::new(parent.open_in(&name)?), number),
            };
            let more = self.folder(&folder, number, &mut found)?;
            at_work.0 = None;
            self.done(Some(more));
        }
        Ok(found)
    }

    fn folder<T>(
        &self,
        folder: &Arc<Folder>,
        number: usize,
        found: &mut Vec<(usize, T)>,
    ) -> Result<Vec<Task>, Error>
    where
        F: Fn(&Found<'_>) -> Result<Option<T>, Error>,
    {
        let mut more = Vec::new();
        for (name, kind) in folder.entries()? {
            let doubt = |what| Error::doubt(&self.content.shown(number, name.to_bytes()), what);
            let node = self.content.find(number, name.to_bytes());
            // To ask an open file costs a tenth of asking by name. One that cannot be opened is shown
            // as it lies there.
            let is_wanted = matches!(node, Some(Node::Entry(_)));
            let file = if is_wanted && kind == FileType::RegularFile {
                folder.open_file(&name, TO_READ).ok()
            } else {
                None
            };
            let stat = match &file {
                Some(file) => Some(rustix::fs::fstat(file).map_err(io::Error::from)?),
                None => folder.stat(&name)?,
            };
            let stat = stat.ok_or_else(|| doubt("vanished"))?;
            if !folder.shares_device(&stat) {
                return Err(doubt("lies on another file system"));
            }
            let what = match node {
                Some(Node::Folder(number)) if is_folder(&stat) => {
                    let parent = Arc::clone(folder);
                    more.push(Task::Below {
                        parent,
                        name,
                        number,
                    });
                    continue;
                }
                Some(Node::Entry(entry)) => {
                    let kind = self.content.entries()[entry].kind;
                    let what = (self.fits)(&Found {
                        entry,
                        kind,
                        folder,
                        name: &name,
                        stat: &stat,
                        file: file.as_ref(),
                    })?;
                    what.map(|what| (entry, what))
                }
                Some(Node::Folder(_)) | None => None,
            };
            match (what, self.odd) {
                (Some(what), _) => found.push(what),
                (None, Odd::Refused) => return Err(doubt("must not be there as it is")),
                (None, Odd::Removed) => {
                    super::nothing_left(&folder.remove(&name))?;
                    self.removed.store(true, Ordering::Relaxed);
                }
            }
        }
        Ok(more)
    }
}

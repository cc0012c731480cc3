//! One look at a working tree, with all processors, beside what its index says.
//!
//! No file is read: what is not surely unchanged, by git's own rule (`index::recorded`), and whatever no
//! entry explains is git's to look at. No link is followed; a folder in which another repository lies
//! ends the look.

use std::ffi::{CStr, CString};
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{FileType, Mode, OFlags};

use crate::git::crew;
use crate::git::index::file::{IndexFile, Line};
use crate::git::index::recorded::Written;
use crate::git::listing::{Listing, find_beside, stat};
use crate::git::object_id::{ObjectId, RawId};
use crate::git::repository::ObjectFormat;

/// What is git's to look at.
#[derive(Debug, Default)]
pub(super) struct Look {
    /// Entries by their numbers, in order: changed, gone, or not surely neither.
    pub(super) changed: Vec<usize>,
    /// Files, links and folders that no entry explains, in order; what lies in such a folder is not told.
    pub(super) others: Vec<Vec<u8>>,
}

/// Looks at the working tree; `None` where another repository lies in a folder of it.
pub(super) fn look(
    root: &Path,
    index: &IndexFile<'_>,
    format: ObjectFormat,
    written: Written,
) -> io::Result<Option<Look>> {
    let eyes = Eyes {
        index,
        written,
        empty: ObjectId::of(format, "blob", b""),
    };
    let all = Task {
        fd: rustix::fs::open(root, FOLDER, Mode::empty())?,
        lines: 0..index.lines().len(),
        before: 0,
    };
    let seen = crew::each(
        Way::Root(all),
        Seen::default,
        |way, seen, found| eyes.folder(way, seen, found),
        || io::Error::other("a look at the working tree broke off"),
    )?;
    let mut look = Look::default();
    for seen in seen {
        if seen.is_foreign {
            return Ok(None);
        }
        look.changed.extend(seen.look.changed);
        look.others.extend(seen.look.others);
    }
    look.changed.sort_unstable();
    look.others.sort_unstable();
    Ok(Some(look))
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

struct Task {
    fd: OwnedFd,
    /// The entries below it.
    lines: Range<usize>,
    /// How many bytes of their paths name it, with the separator.
    before: usize,
}

/// The way to a folder that is still to be looked into.
enum Way {
    Root(Task),
    Below {
        parent: Arc<OwnedFd>,
        name: CString,
        lines: Range<usize>,
        before: usize,
    },
}

/// What one thread saw, and what it uses again for each folder.
#[derive(Default)]
struct Seen {
    look: Look,
    is_foreign: bool,
    listing: Listing,
    children: Vec<Child>,
}

/// What entries say of a name in a folder.
struct Child {
    name: Range<usize>,
    /// The entry, whose path gives the name, or all those below it.
    lines: Range<usize>,
    is_folder: bool,
    is_there: bool,
}

struct Eyes<'a> {
    index: &'a IndexFile<'a>,
    written: Written,
    empty: RawId,
}

impl Eyes<'_> {
    fn folder(&self, way: Way, seen: &mut Seen, found: &mut Vec<Way>) -> io::Result<()> {
        let Task { fd, lines, before } = match way {
            Way::Root(task) => task,
            Way::Below {
                parent,
                name,
                lines,
                before,
            } => Task {
                fd: rustix::fs::openat(&parent, &name, FOLDER, Mode::empty())?,
                lines,
                before,
            },
        };
        let fd = Arc::new(fd);
        let mut listing = std::mem::take(&mut seen.listing);
        listing.read(&fd)?;
        self.children(lines.clone(), before, &mut seen.children);
        let mut last = 0;
        for (name, kind) in listing.iter() {
            let bytes = name.to_bytes();
            let child = find_beside(&seen.children, bytes, &mut last, |child| self.name(child));
            let Some(at) = child else {
                self.unknown(&fd, name, kind, (&lines, before), seen)?;
                continue;
            };
            let child = &mut seen.children[at];
            child.is_there = true;
            let (lines, is_folder) = (child.lines.clone(), child.is_folder);
            if is_folder && kind_of(&fd, name, kind)? == FileType::Directory {
                found.push(Way::Below {
                    parent: Arc::clone(&fd),
                    name: name.to_owned(),
                    lines,
                    before: before + bytes.len() + 1,
                });
            } else if is_folder {
                // Something else lies in a folder's place.
                seen.look.changed.extend(lines.clone());
                self.unknown(&fd, name, kind, (&lines, before), seen)?;
            } else {
                self.entry(&fd, name, lines.start, seen)?;
            }
        }
        let gone = seen.children.iter().filter(|child| !child.is_there);
        seen.look
            .changed
            .extend(gone.flat_map(|child| child.lines.clone()));
        seen.listing = listing;
        Ok(())
    }

    fn entry(&self, fd: &OwnedFd, name: &CStr, number: usize, seen: &mut Seen) -> io::Result<()> {
        let line = &self.index.lines()[number];
        let stat = stat(fd, name)?;
        let is_empty = line.id == self.empty;
        let is_surely = stat.as_ref().is_some_and(|stat| {
            let recorded = self.index.recorded(line);
            recorded.is_some_and(|it| it.is_surely(stat, self.written, is_empty))
        });
        if !is_surely {
            seen.look.changed.push(number);
        }
        let kind = stat.map(|stat| FileType::from_raw_mode(stat.st_mode));
        if kind == Some(FileType::Directory) {
            seen.look.others.push(self.index.path(line).to_vec());
        }
        Ok(())
    }

    /// What no entry explains. Git enters nothing but files, links and what lies in folders.
    fn unknown(
        &self,
        fd: &OwnedFd,
        name: &CStr,
        kind: FileType,
        (lines, before): (&Range<usize>, usize),
        seen: &mut Seen,
    ) -> io::Result<()> {
        let bytes = name.to_bytes();
        if bytes == b".git" && before == 0 {
            return Ok(());
        }
        if bytes.eq_ignore_ascii_case(b".git") {
            seen.is_foreign = true;
        }
        let wanted = [
            FileType::RegularFile,
            FileType::Symlink,
            FileType::Directory,
        ];
        if wanted.contains(&kind_of(fd, name, kind)?) {
            let any = self.index.lines().get(lines.start);
            let folder = any.map_or(&[][..], |line| &self.index.path(line)[..before]);
            seen.look.others.push([folder, bytes].concat());
        }
        Ok(())
    }

    /// What the entries say of the names in a folder, by name.
    fn children(&self, lines: Range<usize>, before: usize, children: &mut Vec<Child>) {
        children.clear();
        let all = self.index.lines();
        let mut at = lines.start;
        while at < lines.end {
            let path = self.index.path(&all[at]);
            let name = &path[before..];
            let end = name.iter().position(|byte| *byte == b'/');
            let until = match end {
                None => at + 1,
                Some(end) => {
                    let folder = &path[..=before + end];
                    let is_below = |line: &Line| self.index.path(line).starts_with(folder);
                    at + all[at..lines.end].partition_point(is_below)
                }
            };
            children.push(Child {
                name: before..before + end.unwrap_or(name.len()),
                lines: at..until,
                is_folder: end.is_some(),
                is_there: false,
            });
            at = until;
        }
        children.sort_unstable_by(|one, other| self.name(one).cmp(self.name(other)));
    }

    fn name(&self, child: &Child) -> &[u8] {
        let path = self.index.path(&self.index.lines()[child.lines.start]);
        &path[child.name.clone()]
    }
}

/// What lies at a name, where the listing did not say it; what is gone by now is of no kind.
fn kind_of(fd: &OwnedFd, name: &CStr, listed: FileType) -> io::Result<FileType> {
    if listed != FileType::Unknown {
        return Ok(listed);
    }
    let stat = stat(fd, name)?;
    Ok(stat.map_or(listed, |stat| FileType::from_raw_mode(stat.st_mode)))
}

//! Writing what a tree lacks, byte by byte as the snapshot has it, and taking away what it has no
//! more.
//!
//! No filter, end of line or encoding comes between: the files are the blobs. Nothing that lies in
//! a file's place is written to: it goes first. No link on the way is followed.

use std::ffi::{CStr, CString};
use std::io;

use rustix::fs::{Mode, Stat};

use super::blobs::{Blobs, Bytes};
use super::content::{Content, Entry, Kind, Node, ROOT};
use super::folder::{Folder, is_folder};
use super::stamp::{Known, Stamp, is_as_checked_out};
use super::sum::SumKey;
use super::{Error, c_bytes, nothing_left};
use crate::domain::path::RepoPath;
use crate::git::object_id::ObjectId;
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::is_below;

/// Writes entries into a tree, in their order.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    pub(super) content: &'a Content,
    pub(super) blobs: &'a Blobs,
    format: ObjectFormat,
    key: SumKey,
    tree: &'a Folder,
    /// The folders around the last entry, each with its path.
    around: Vec<(Vec<u8>, Folder)>,
}

impl<'a> Writer<'a> {
    /// A writer into a tree.
    pub(super) fn new(
        content: &'a Content,
        blobs: &'a Blobs,
        format: ObjectFormat,
        key: SumKey,
        tree: &'a Folder,
    ) -> Self {
        Self {
            content,
            blobs,
            format,
            key,
            tree,
            around: Vec::new(),
        }
    }

    /// Writes one entry, whose blob was fetched; returns what is known of it then.
    pub(super) fn write(&mut self, entry: &Entry) -> Result<Known, Error> {
        let path = self.content.path(entry);
        let (content, blobs, format) = (self.content, self.blobs, self.format);
        let mut summing = self.key.begin();
        let doubt = |what| Error::doubt(&RepoPath::new(content.path(entry)), what);
        let (folder, name) = self.folder(path)?;
        cleared(folder, &name)?;
        if entry.kind == Kind::Submodule {
            folder.create_shared(&name)?;
            let stat = folder.stat(&name)?.ok_or_else(|| doubt("vanished"))?;
            return Ok(Known {
                stamp: Stamp::from(&stat),
                sum: None,
            });
        }
        let bytes = blobs.find(&entry.id)?;
        let mut blob = ObjectId::new(format, "blob", bytes.length);
        let mut went_by = |piece: &[u8]| {
            blob.update(piece);
            summing.update(piece);
        };
        let stat = if entry.kind == Kind::Link {
            let target = whole(blobs, bytes)?;
            went_by(&target);
            folder.link(&c_bytes(&target)?, &name)?;
            folder.stat(&name)?.ok_or_else(|| doubt("vanished"))?
        } else {
            let mode = if entry.kind == Kind::Executable {
                0o777
            } else {
                0o666
            };
            let file = folder.create_file(&name, Mode::from_raw_mode(mode))?;
            let mut file = std::fs::File::from(file);
            blobs.each(bytes, |piece| {
                went_by(piece);
                io::Write::write_all(&mut file, piece)
            })?;
            rustix::fs::fstat(&file).map_err(io::Error::from)?
        };
        if blob.finish() != entry.id {
            return Err(doubt("has other bytes in the store than its id says"));
        }
        if !is_as_checked_out(&stat, entry.kind) {
            return Err(doubt("was not made as asked"));
        }
        Ok(Known {
            stamp: Stamp::from(&stat),
            sum: Some(summing.finish()),
        })
    }

    /// The folder that a path lies in, made where it is not there, and the path's last part.
    fn folder(&mut self, path: &[u8]) -> Result<(&Folder, CString), Error> {
        while let Some((folder, _)) = self.around.last()
            && !is_below(path, folder)
        {
            self.around.pop();
        }
        let mut start = self.around.last().map_or(0, |(path, _)| path.len() + 1);
        while let Some(length) = path[start..].iter().position(|byte| *byte == b'/') {
            let name = c_bytes(&path[start..start + length])?;
            let parent = self.around.last().map_or(self.tree, |(_, folder)| folder);
            let is_there = match parent.stat(&name)? {
                Some(stat) if is_folder(&stat) && !parent.shares_device(&stat) => {
                    let path = RepoPath::new(&path[..start + length]);
                    return Err(Error::doubt(&path, "lies on another file system"));
                }
                Some(stat) => is_folder(&stat),
                None => false,
            };
            if !is_there {
                cleared(parent, &name)?;
                parent.create_shared(&name)?;
            }
            let folder = parent.open_in(&name)?;
            self.around.push((path[..start + length].to_vec(), folder));
            start += length + 1;
        }
        let folder = self.around.last().map_or(self.tree, |(_, folder)| folder);
        Ok((folder, c_bytes(&path[start..])?))
    }
}

/// Takes away what lies in a place.
fn cleared(folder: &Folder, name: &CStr) -> Result<(), Error> {
    match folder.stat(name)? {
        Some(_) => nothing_left(&folder.remove(name)),
        None => Ok(()),
    }
}

/// Takes away the files of entries that another tree does not have so, and the folders that it does
/// not have. What somebody changed on the way to them is left for the look at the whole tree.
pub(super) fn remove_gone(
    tree: &Folder,
    content: &Content,
    before: &Content,
    gone: &[usize],
) -> Result<(), Error> {
    for number in gone {
        let path = before.path(&before.entries()[*number]);
        remove_one(tree, content, path)?;
    }
    Ok(())
}

fn remove_one(tree: &Folder, content: &Content, path: &[u8]) -> Result<(), Error> {
    let mut parts = path.split(|byte| *byte == b'/').peekable();
    let mut below: Option<Folder> = None;
    let mut number = ROOT;
    while let Some(part) = parts.next() {
        let folder = below.as_ref().unwrap_or(tree);
        let name = c_bytes(part)?;
        match content.find(number, part) {
            Some(Node::Folder(next)) if parts.peek().is_some() => {
                let stat = folder.stat(&name)?;
                let is_ours = |stat: &Stat| is_folder(stat) && folder.shares_device(stat);
                if !stat.as_ref().is_some_and(is_ours) {
                    return Ok(());
                }
                below = Some(folder.open_in(&name)?);
                number = next;
            }
            Some(_) | None => return cleared(folder, &name),
        }
    }
    Ok(())
}

/// All bytes of a blob that names where a link leads.
fn whole(blobs: &Blobs, bytes: Bytes) -> io::Result<Vec<u8>> {
    // The kernel takes no longer one.
    if bytes.length > 4096 {
        return Err(io::Error::other("a link leads to a path that is too long"));
    }
    let mut target = Vec::new();
    blobs.each(bytes, |piece| {
        target.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(target)
}

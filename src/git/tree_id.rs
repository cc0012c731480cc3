//! The ids of folders, computed from the files in them.

use crate::git::object_id::{ObjectId, RawId};
use crate::git::repository::ObjectFormat;

/// Computes what git names the trees of files that are given in the order of their paths, without
/// asking git.
///
/// What it cannot name is a tree that git does not write itself: one with an empty folder in it, say.
/// Such a one gets another id, so that a comparison fails.
pub(crate) struct TreeIds<F> {
    format: ObjectFormat,
    /// The folders around the last file, from the root on.
    open: Vec<Folder>,
    /// Is told of each folder.
    each: F,
}

/// A folder, all of whose files were given.
pub(crate) struct Closed<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) id: &'a RawId,
    /// How many files are below it.
    pub(crate) files: usize,
    /// The bytes of its tree.
    pub(crate) bytes: &'a [u8],
}

#[derive(Default)]
struct Folder {
    path: Vec<u8>,
    /// The tree's bytes so far.
    bytes: Vec<u8>,
    files: usize,
}

impl<F: FnMut(Closed<'_>)> TreeIds<F> {
    /// No file yet.
    pub(crate) fn new(format: ObjectFormat, each: F) -> Self {
        Self {
            format,
            open: vec![Folder::default()],
            each,
        }
    }

    /// The next file: its mode as git prints it, its path, its object.
    pub(crate) fn add(&mut self, mode: &[u8], path: &[u8], id: &RawId) {
        while self.open.len() > 1 && !self.open.last().is_some_and(|f| is_below(path, &f.path)) {
            self.close();
        }
        let mut name = match self.open.last() {
            Some(folder) if !folder.path.is_empty() => folder.path.len() + 1,
            Some(_) | None => 0,
        };
        while let Some(length) = path[name..].iter().position(|byte| *byte == b'/') {
            name += length + 1;
            self.open.push(Folder {
                path: path[..name - 1].to_vec(),
                ..Folder::default()
            });
        }
        let width = self.format.width();
        if let Some(folder) = self.open.last_mut() {
            folder.enter(mode, &path[name..], &id[..width]);
            folder.files += 1;
        }
    }

    /// The id of the root, when all files were given.
    pub(crate) fn finish(mut self) -> RawId {
        loop {
            let id = self.close();
            if self.open.is_empty() {
                return id;
            }
        }
    }

    fn close(&mut self) -> RawId {
        let folder = self.open.pop().unwrap_or_default();
        let id = ObjectId::of(self.format, "tree", &folder.bytes);
        (self.each)(Closed {
            path: &folder.path,
            id: &id,
            files: folder.files,
            bytes: &folder.bytes,
        });
        let width = self.format.width();
        if let Some(parent) = self.open.last_mut() {
            let name = folder.path.rsplit(|byte| *byte == b'/').next();
            parent.enter(b"40000", name.unwrap_or_default(), &id[..width]);
            parent.files += folder.files;
        }
        id
    }
}

impl Folder {
    fn enter(&mut self, mode: &[u8], name: &[u8], id: &[u8]) {
        self.bytes.extend_from_slice(mode);
        self.bytes.push(b' ');
        self.bytes.extend_from_slice(name);
        self.bytes.push(0);
        self.bytes.extend_from_slice(id);
    }
}

/// Whether a path lies below a folder that is not the root.
pub(crate) fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.first() == Some(&b'/'))
}

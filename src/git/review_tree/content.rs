//! What must lie in a review tree: the entries of a snapshot's tree, folder by folder.

mod builder;

use std::collections::HashSet;
use std::ops::Range;

use self::builder::Builder;
use super::Error;
use crate::domain::path::RepoPath;
use crate::git::changes::Changes;
use crate::git::listing::find_beside;
use crate::git::object_id::{self, RawId};
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::{TreeIds, is_below};

/// What git checks out for an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Executable,
    Link,
    /// An empty folder.
    Submodule,
}

impl Kind {
    /// What a mode stands for, as git prints it; `None` for one that git does not write today.
    fn of(mode: &[u8]) -> Option<Self> {
        let all = [Self::File, Self::Executable, Self::Link, Self::Submodule];
        all.into_iter().find(|kind| kind.mode() == mode)
    }
    fn mode(self) -> &'static [u8] {
        match self {
            Self::File => b"100644",
            Self::Executable => b"100755",
            Self::Link => b"120000",
            Self::Submodule => b"160000",
        }
    }
}

/// The bytes of an object id.
pub(super) type Id = RawId;

/// One entry.
#[derive(Debug)]
pub(super) struct Entry {
    path: Range<usize>,
    pub(super) kind: Kind,
    pub(super) id: Id,
}

/// What a name in a folder stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    /// A folder, by its number.
    Folder(usize),
    /// An entry, by its number.
    Entry(usize),
}

/// A folder that entries lie in.
#[derive(Debug, Default)]
struct Folder {
    path: Range<usize>,
    /// By name.
    children: Vec<(Range<usize>, Node)>,
}

/// The root of the tree.
pub(super) const ROOT: usize = 0;

/// The entries of a tree in the order of an index, and the folders that they lie in.
///
/// # Invariants
/// - Paths ascend strictly, and each is one that git would check out.
/// - No name in a folder stands for two things.
#[derive(Debug)]
pub(super) struct Content {
    /// The paths of all entries, one after the other.
    paths: Vec<u8>,
    entries: Vec<Entry>,
    folders: Vec<Folder>,
}

impl Content {
    /// Reads what `git ls-tree -r -z --full-tree` prints; `None` when anything in it is not as
    /// git itself would let it into a working tree.
    pub(super) fn parse(listing: &[u8]) -> Option<Self> {
        let mut content = Builder::default();
        for line in listing.split(|byte| *byte == 0).filter(|l| !l.is_empty()) {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let (about, path) = (&line[..tab], &line[tab + 1..]);
            let mut words = about.split(|byte| *byte == b' ');
            let (kind, _, digits) = (Kind::of(words.next()?)?, words.next()?, words.next()?);
            content.admit(path, kind, object_id::parse(digits)?)?;
        }
        content.finish()
    }

    /// This content but for what changed from it; `None` where that does not fit, or is not as git
    /// itself would let it into a working tree.
    pub(super) fn changed(&self, changes: &Changes) -> Option<Self> {
        let mut content = Builder::like(self);
        content.changed(self, changes)?;
        content.finish()
    }

    /// The id of the tree that holds just these entries.
    pub(super) fn id(&self, format: ObjectFormat) -> Id {
        let mut ids = TreeIds::new(format, |_| {});
        for entry in &self.entries {
            ids.add(entry.kind.mode(), self.path(entry), &entry.id);
        }
        ids.finish()
    }
    /// The entries, in order.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }
    /// The path of an entry.
    pub(super) fn path(&self, entry: &Entry) -> &[u8] {
        &self.paths[entry.path.clone()]
    }
    /// What a name in a folder stands for.
    pub(super) fn find(&self, folder: usize, name: &[u8]) -> Option<Node> {
        self.find_beside(folder, name, &mut 0)
    }
    /// As [`Self::find`], with the place of the last name that was found (`listing`).
    pub(super) fn find_beside(&self, folder: usize, name: &[u8], at: &mut usize) -> Option<Node> {
        let children = &self.folders[folder].children;
        let found = find_beside(children, name, at, |(known, _)| &self.paths[known.clone()])?;
        Some(children[found].1)
    }
    /// How many names a folder has.
    pub(super) fn in_folder(&self, folder: usize) -> usize {
        self.folders[folder].children.len()
    }
    /// Enters the folders that are here of those on the way to a path, by their numbers, the root first.
    pub(super) fn folders_to(&self, path: &[u8], into: &mut HashSet<usize>) {
        let mut number = ROOT;
        for part in path.split(|byte| *byte == b'/') {
            into.insert(number);
            match self.find(number, part) {
                Some(Node::Folder(next)) => number = next,
                Some(Node::Entry(_)) | None => return,
            }
        }
        into.insert(number);
    }
    /// The path of a folder, for messages.
    pub(super) fn folder(&self, folder: usize) -> RepoPath {
        RepoPath::new(&self.paths[self.folders[folder].path.clone()])
    }
    /// The path of a name in a folder, for messages.
    pub(super) fn shown(&self, folder: usize, name: &[u8]) -> RepoPath {
        let folder = &self.paths[self.folders[folder].path.clone()];
        let separator: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        RepoPath::new([folder, separator, name].concat())
    }
    /// Takes over what is known of the entries that another tree has just so (of the rest it is `None`), and
    /// says which entries of the other are not there so.
    pub(super) fn carried<T>(
        &self,
        other: &Self,
        known: impl Iterator<Item = Option<T>>,
    ) -> (Vec<Option<T>>, Vec<usize>) {
        let mut carried: Vec<Option<T>> = Vec::with_capacity(self.entries.len());
        let mut gone = Vec::new();
        for (number, (their, known)) in other.entries.iter().zip(known).enumerate() {
            let path = other.path(their);
            let mut here = self.entries.get(carried.len());
            while let Some(entry) = here
                && self.path(entry) < path
            {
                carried.push(None);
                here = self.entries.get(carried.len());
            }
            let is_same = here.is_some_and(|entry| {
                self.path(entry) == path && their.kind == entry.kind && their.id == entry.id
            });
            if is_same {
                carried.push(known);
            } else {
                gone.push(number);
            }
        }
        carried.resize_with(self.entries.len(), || None);
        (carried, gone)
    }
}

/// The folders of paths that ascend: all of one folder lie beside each other.
fn folders(paths: &[u8], entries: &[Entry]) -> Option<Vec<Folder>> {
    let mut folders = vec![Folder::default()];
    // The folders around the last entry, from the root on.
    let mut around = vec![ROOT];
    for (number, entry) in entries.iter().enumerate() {
        let path = &paths[entry.path.clone()];
        let is_around = |folder: &Folder| {
            let folder = &paths[folder.path.clone()];
            folder.is_empty() || is_below(path, folder)
        };
        while around.last().is_some_and(|at| !is_around(&folders[*at])) {
            around.pop();
        }
        let mut at = *around.last()?;
        let mut name = match folders[at].path.len() {
            0 => entry.path.start,
            length => entry.path.start + length + 1,
        };
        while let Some(length) = paths[name..entry.path.end].iter().position(|b| *b == b'/') {
            let new = folders.len();
            folders.push(Folder {
                path: entry.path.start..name + length,
                children: Vec::new(),
            });
            folders[at]
                .children
                .push((name..name + length, Node::Folder(new)));
            around.push(new);
            at = new;
            name += length + 1;
        }
        folders[at]
            .children
            .push((name..entry.path.end, Node::Entry(number)));
    }
    for folder in &mut folders {
        let name = |child: &(Range<usize>, Node)| &paths[child.0.clone()];
        folder.children.sort_by(|a, b| name(a).cmp(name(b)));
        if folder
            .children
            .windows(2)
            .any(|w| name(&w[0]) == name(&w[1]))
        {
            return None;
        }
    }
    Some(folders)
}

impl Error {
    /// A doubt about what lies at a path.
    pub(super) fn doubt(path: &RepoPath, what: &str) -> Self {
        Self::Doubt(format!("{path} {what}"))
    }
}

/// The objects that entries stand for, each once.
pub(super) fn objects<'a>(entries: impl Iterator<Item = &'a Entry>) -> Vec<Id> {
    let mut seen = HashSet::new();
    let blobs = entries.filter(|entry| entry.kind != Kind::Submodule);
    let ids = blobs.map(|entry| entry.id);
    ids.filter(|id| seen.insert(*id)).collect()
}

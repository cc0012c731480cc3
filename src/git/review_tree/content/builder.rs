//! Making a tree's content, entry after entry.

use super::{Content, Entry, Id, Kind, folders};
use crate::git::changes::Changes;
use crate::git::object_id;
use crate::git::review_tree::checkout_names;

/// The entries so far, in the order of their paths.
#[derive(Debug, Default)]
pub(super) struct Builder {
    paths: Vec<u8>,
    entries: Vec<Entry>,
}

impl Builder {
    /// With room for the paths of another content.
    pub(super) fn like(other: &Content) -> Self {
        Self {
            paths: Vec::with_capacity(other.paths.len() + other.paths.len() / 8),
            entries: Vec::with_capacity(other.entries.len() + other.entries.len() / 8),
        }
    }

    /// The next entry; `None` where git would not let it into a working tree.
    pub(super) fn admit(&mut self, path: &[u8], kind: Kind, id: Id) -> Option<()> {
        checkout_names::admit(path, kind).then_some(())?;
        self.push(path, kind, id)
    }

    /// The next entry, whose path is known to be one that git lets into a working tree.
    fn push(&mut self, path: &[u8], kind: Kind, id: Id) -> Option<()> {
        let last = self
            .entries
            .last()
            .map(|last| &self.paths[last.path.clone()]);
        if last.is_some_and(|last| last >= path) {
            return None;
        }
        let start = self.paths.len();
        self.paths.extend_from_slice(path);
        self.entries.push(Entry {
            path: start..self.paths.len(),
            kind,
            id,
        });
        Some(())
    }

    /// The entries of another content but for what changed from it; `None` where that does not fit.
    pub(super) fn changed(&mut self, other: &Content, changes: &Changes) -> Option<()> {
        let mut changes = changes.iter().peekable();
        for entry in &other.entries {
            let path = other.path(entry);
            while let Some((new, change)) = changes.next_if(|(it, _)| it.as_bytes() < path) {
                change.old.is_nothing().then_some(())?;
                self.new_side(new.as_bytes(), change)?;
            }
            match changes.next_if(|(it, _)| it.as_bytes() == path) {
                Some((_, change)) => self.new_side(path, change)?,
                None => self.push(path, entry.kind, entry.id)?,
            }
        }
        changes.try_for_each(|(new, change)| self.new_side(new.as_bytes(), change))
    }

    fn new_side(&mut self, path: &[u8], change: &crate::git::changes::Change) -> Option<()> {
        let new = &change.new;
        if new.is_nothing() {
            return Some(());
        }
        let kind = Kind::of(new.mode.as_bytes())?;
        self.admit(path, kind, object_id::raw(&new.oid))
    }

    /// All of them; `None` where a name stands for two things.
    pub(super) fn finish(self) -> Option<Content> {
        let Self { paths, entries } = self;
        let folders = folders(&paths, &entries)?;
        Some(Content {
            paths,
            entries,
            folders,
        })
    }
}

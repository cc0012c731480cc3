//! Bringing a kept slot to another snapshot, and proving what a slot holds.
//!
//! Git writes a slot's first tree, and its index proves it. From then on this process knows what
//! it left there (`stamp`), and nothing on the disk says so. A switch takes away the files that the
//! next snapshot does not have and writes those that it has; then it looks at the whole tree. A look
//! that finds every file as it is known, and nothing else, is the proof. One that does not takes away
//! what is odd, what is missing is written, and another look follows.

use std::sync::Arc;

use super::blobs::Blobs;
use super::content::{Content, objects};
use super::folder::Folder;
use super::own_git::OwnGit;
use super::root::{Places, Root};
use super::stamp::Known;
use super::sum::SumKey;
use super::walk::{Odd, walk};
use super::write::{Writer, remove_gone};
use super::{Error, Record, ReviewTrees, locked, nothing_left};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::slot::SlotName;

/// Looks at most: the first finds what an agent left, the second that nothing is left of it.
const LOOKS: usize = 3;

/// Blobs that are read at once. Where a slot lacks no more, they are kept for the others too.
const FETCHED: usize = 2_000;

impl ReviewTrees {
    /// Brings a slot that this process opened before to another tree; any error is a doubt.
    pub(super) fn switch(
        &self,
        root: &Root,
        slot: &SlotName,
        record: Record,
        tree: &Oid,
    ) -> Result<Record, Error> {
        let folders = root.open_slot(slot, &record.places)?;
        let path = root.path().join(slot.as_str());
        // Nothing is read of it, but whoever reached for it could have reached for more.
        if OwnGit::new(&self.git, &path).seal()? != record.seal {
            return Err(Error::Doubt("our index was written to".to_owned()));
        }
        let content = self.content(tree)?;
        let (mut known, gone) = content.carried(&record.content, record.known);
        // The agent's, of which nothing is kept.
        nothing_left(&folders.tree.remove(c".git"))?;
        remove_gone(&folders.tree, &content, &record.content, &gone)?;
        let mut folders = folders;
        for _ in 0..LOOKS {
            let complete = self.complete(tree, &content, known, record.key, &folders.tree)?;
            let seen = walk(&content, folders.tree, Odd::Removed, |found| {
                let known = complete.get(found.entry);
                let known = known.ok_or_else(|| Error::Doubt("one entry too many".to_owned()))?;
                Ok((found.is_plain()? && found.holds(known, record.key)?).then_some(()))
            })?;
            folders = root.open_slot(slot, &record.places)?;
            if !seen.removed && seen.said.iter().all(Option::is_some) {
                return Ok(Record {
                    content,
                    known: complete,
                    ..record
                });
            }
            let kept = complete.into_iter().zip(seen.said);
            known = kept.map(|(known, seen)| seen.map(|()| known)).collect();
        }
        Err(Error::Doubt("it changes while it is looked at".to_owned()))
    }

    /// Writes what is missing.
    fn complete(
        &self,
        tree: &Oid,
        content: &Content,
        mut known: Vec<Option<Known>>,
        key: SumKey,
        folder: &Folder,
    ) -> Result<Vec<Known>, Error> {
        let entries = content.entries();
        let numbered = known.iter().enumerate();
        let missing: Vec<usize> = numbered
            .filter(|(_, known)| known.is_none())
            .map(|(number, _)| number)
            .collect();
        for some in missing.chunks(FETCHED) {
            let blobs = if some.len() == missing.len() {
                locked(&self.common).blobs(&self.store, tree)?
            } else {
                Arc::new(Blobs::new(&self.store.temporary())?)
            };
            let ids = objects(some.iter().map(|number| &entries[*number]));
            blobs.fetch(&self.git, self.store.git_dir(), self.format, &ids)?;
            let mut writer = Writer::new(content, &blobs, self.format, key, folder);
            for number in some {
                known[*number] = Some(writer.write(&entries[*number])?);
            }
        }
        all(content, known)
    }

    /// Brings a slot without a past to a tree, by git, and proves that it holds exactly that.
    pub(super) fn prove(
        &self,
        root: &Root,
        slot: &SlotName,
        places: &Places,
        own: &OwnGit,
        tree: &Oid,
    ) -> Result<Record, Error> {
        own.switch(tree)?;
        let key = SumKey::random()?;
        let content = self.content(tree)?;
        let folders = root.open_slot(slot, places)?;
        let seen = walk(&content, folders.tree, Odd::Refused, |found| {
            let id = &content.entries()[found.entry].id;
            if found.is_plain()? {
                found.take(self.format, id, key)
            } else {
                Ok(None)
            }
        })?;
        let known = all(&content, seen.said)?;
        // After it was taken down: what changed meanwhile differs from the tree, or later from
        // what was taken down.
        own.scan(tree)?;
        Ok(Record {
            places: *places,
            seal: own.seal()?,
            content,
            key,
            known,
        })
    }
}

/// What was said of each entry; one that is missing is a doubt.
fn all<T>(content: &Content, said: Vec<Option<T>>) -> Result<Vec<T>, Error> {
    let entries = content.entries().iter().zip(said);
    let each = entries.map(|(entry, said)| {
        said.ok_or_else(|| Error::doubt(&RepoPath::new(content.path(entry)), "is missing"))
    });
    each.collect()
}

//! Bringing a kept slot to another snapshot, and proving what a slot holds.
//!
//! Git writes a slot's first tree, and its index proves it. From then on this process knows what
//! it left there (`stamp`), and nothing on the disk says so. A look at the whole tree (`look`) that finds
//! every file as it is known, and nothing else, is the proof of what the last job left. A switch takes
//! away the files that the next snapshot does not have and writes those that it has, and looks again
//! into each folder that it touched: what it wrote could have met something that is no other name to a
//! file system that ignores case. Where a look found anything odd or missing, that is taken away and
//! written, and the next look is one at the whole tree again.

use std::collections::HashSet;
use std::sync::Arc;

use super::blobs::{Blobs, FETCHED};
use super::content::{Content, ROOT, objects};
use super::folder::Folder;
use super::own_git::OwnGit;
use super::root::{Places, Root};
use super::stamp::Known;
use super::state::{Looked, Record};
use super::sum::SumKey;
use super::walk::{Odd, walk};
use super::write::{Writer, remove_gone};
use super::{Error, ReviewTrees, locked};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::slot::SlotName;

/// Looks at most: the first finds what an agent left, the second that nothing is left of it.
const LOOKS: usize = 3;

impl ReviewTrees {
    /// Brings a slot that was looked at to another tree; any error is a doubt.
    pub(super) fn switch(
        &self,
        root: &Root,
        slot: &SlotName,
        looked: Looked,
        content: Arc<Content>,
        tree: &Oid,
    ) -> Result<Record, Error> {
        let Looked {
            record,
            kept,
            is_whole,
            begun: _,
        } = looked;
        let known = record.known.into_iter().zip(kept);
        let known = known.map(|(known, kept)| kept.then_some(known));
        let (mut known, gone) = content.carried(&record.content, known);
        // Where nothing was odd, what is written and taken away now is all that can be.
        let mut only = is_whole.then(|| touched(&content, &known, &record.content, &gone));
        let mut folders = root.open_slot(slot, &record.places)?;
        remove_gone(&folders.tree, &content, &record.content, &gone)?;
        for _ in 0..LOOKS {
            let complete = self.complete(tree, &content, known, record.key, &folders.tree)?;
            let only = only.take();
            let seen = walk(
                &content,
                folders.tree,
                Odd::Removed,
                only.as_ref(),
                |found| {
                    let known = complete.get(found.entry);
                    let known =
                        known.ok_or_else(|| Error::Doubt("one entry too many".to_owned()))?;
                    Ok((found.is_plain()? && found.holds(known, record.key)?).then_some(()))
                },
            )?;
            folders = root.open_slot(slot, &record.places)?;
            if seen.is_whole() {
                return Ok(Record {
                    places: record.places,
                    seal: record.seal,
                    key: record.key,
                    content,
                    known: complete,
                });
            }
            let kept = complete.into_iter().zip(seen.said);
            known = if only.is_some() {
                kept.map(|(known, _)| Some(known)).collect()
            } else {
                kept.map(|(known, seen)| seen.map(|()| known)).collect()
            };
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
        let seen = walk(&content, folders.tree, Odd::Refused, None, |found| {
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
            seal: own.seal(key)?,
            content,
            key,
            known,
        })
    }
}

/// The folders in which a switch writes or takes away.
fn touched(
    content: &Content,
    known: &[Option<Known>],
    before: &Content,
    gone: &[usize],
) -> HashSet<usize> {
    let mut touched = HashSet::from([ROOT]);
    let new = content.entries().iter().zip(known);
    for (entry, _) in new.filter(|(_, known)| known.is_none()) {
        content.folders_to(content.path(entry), &mut touched);
    }
    for number in gone {
        let path = before.path(&before.entries()[*number]);
        content.folders_to(path, &mut touched);
    }
    touched
}

/// What was said of each entry; one that is missing is a doubt.
fn all<T>(content: &Content, said: Vec<Option<T>>) -> Result<Vec<T>, Error> {
    // In this order the memory of the one is the other's.
    let each = said.into_iter().zip(content.entries());
    let each = each.map(|(said, entry)| {
        said.ok_or_else(|| Error::doubt(&RepoPath::new(content.path(entry)), "is missing"))
    });
    each.collect()
}

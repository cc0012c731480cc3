//! Bringing a kept slot to another snapshot, and proving what a slot holds.
//!
//! Git writes a slot's first tree, and its index proves it. From then on this process knows what
//! it left there (`stamp`), and nothing on the disk says so: the switch is a look that takes away
//! all that is not known and wanted, the files that are then missing, and a second look as proof.

use std::sync::Arc;

use super::blobs::Blobs;
use super::content::{Content, objects};
use super::folder::Folder;
use super::own_git::OwnGit;
use super::root::{Places, Root};
use super::stamp::{Known, Moment, Trust};
use super::walk::{Odd, walk};
use super::write::Writer;
use super::{Error, Record, ReviewTrees, locked};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::slot::SlotName;

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
        let trust = Trust::on(&folders.tree)?;
        let mut known = content.carried(&record.content, record.known);
        let kept = walk(&content, folders.tree, Odd::Removed, |found| {
            let Some(known) = known.get(found.entry).and_then(Option::as_ref) else {
                return Ok(None);
            };
            Ok((found.is_plain()? && found.holds(known)?).then_some(()))
        })?;
        for (known, kept) in known.iter_mut().zip(kept) {
            if kept.is_none() {
                *known = None;
            }
        }
        let folders = root.open_slot(slot, &record.places)?;
        let mut known = self.complete(tree, &content, known, trust, &folders.tree)?;
        let before = Moment::of_change(&folders.git.now()?);
        let seen = walk(&content, folders.tree, Odd::Refused, |found| {
            let is_same = (known.get(found.entry)).is_some_and(|known| found.is_same(known));
            Ok((found.is_plain()? && is_same).then_some(()))
        })?;
        all(&content, seen)?;
        for known in &mut known {
            known.settle(before);
        }
        Ok(Record {
            content,
            known,
            ..record
        })
    }

    /// Writes what is missing.
    fn complete(
        &self,
        tree: &Oid,
        content: &Content,
        mut known: Vec<Option<Known>>,
        trust: Trust,
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
            let mut writer = Writer::new(content, &blobs, trust, folder);
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
        let content = self.content(tree)?;
        let folders = root.open_slot(slot, places)?;
        let trust = Trust::on(&folders.tree)?;
        let before = Moment::of_change(&folders.git.now()?);
        let seen = walk(&content, folders.tree, Odd::Refused, |found| {
            found.is_plain()?.then(|| found.take(trust)).transpose()
        })?;
        let mut known = all(&content, seen)?;
        for known in &mut known {
            known.settle(before);
        }
        // After it was taken down: what changed meanwhile differs from the tree, or later from
        // what was taken down.
        own.scan(tree)?;
        Ok(Record {
            places: *places,
            seal: own.seal()?,
            content,
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

//! Slots around trees of earlier runs, and trees for later ones.

use super::content::Content;
use super::folder::Folder;
use super::own_git::{Borrowed, OwnGit};
use super::pool::Pool;
use super::root::{Root, path_of};
use super::state::{Record, State};
use super::walk::{Odd, walk};
use super::{Error, ReviewTrees, locked};
use crate::domain::oid::Oid;
use crate::domain::slot::SlotName;

impl ReviewTrees {
    /// Makes a slot around a waiting tree, of which nothing is believed; `None` when none waits.
    pub(super) fn reused(
        &self,
        root: &Root,
        slot: &SlotName,
        borrowed: &Borrowed,
        tree: &Oid,
    ) -> Result<Option<Record>, Error> {
        let pool = self.pool()?;
        let waiting = pool.waiting()?;
        if waiting.is_empty() {
            return Ok(None);
        }
        root.set_aside(slot)?;
        let mut places = root.create_slot(slot)?;
        let folder = root.open_slot(slot, &places)?.slot;
        folder.remove_empty(c"tree")?;
        let mut is_taken = false;
        for (name, place) in waiting {
            places.tree = place;
            // Written down first: after a crash it is known to be ours, wherever it lies.
            root.remember(slot, &places)?;
            is_taken = pool.take(&name, &folder)?;
            if is_taken {
                break;
            }
        }
        if !is_taken {
            return Ok(None);
        }
        let path = root.path().join(slot.as_str());
        let own = OwnGit::new(&self.git, &path);
        own.fill(borrowed)?;
        own.enter(tree)?;
        let folders = root.open_slot(slot, &places)?;
        // What is no plain file goes before git opens any.
        let content = self.content(tree)?;
        scrub(&content, folders.tree)?;
        own.hash()?;
        self.prove(root, slot, &places, &own, tree).map(Some)
    }

    fn pool(&self) -> Result<Pool, Error> {
        let key = self.store.git_dir().file_name();
        let key = key.and_then(std::ffi::OsStr::to_str);
        let key = key.ok_or_else(|| Error::Doubt("the review store has no name".to_owned()))?;
        Pool::open(&self.cache_root, key)
    }

    /// Lets the trees of slots that are as this process left them wait for a later run.
    pub(super) fn spare(&self) -> Result<(), Error> {
        let slots = std::mem::take(&mut *locked(&self.slots));
        let Some(place) = *locked(&self.root) else {
            return Ok(());
        };
        let path = path_of(&self.cache_root, self.loop_id)?;
        let Some(root) = Root::existing(path, self.loop_id)?.filter(|root| root.place() == place)
        else {
            return Ok(());
        };
        let pool = self.pool()?;
        for (slot, state) in slots {
            let Some(record) = locked(&state).take().map(State::into_record) else {
                continue;
            };
            let given = root.open_slot(&slot, &record.places).and_then(|folders| {
                // What an agent made takes room, and is nobody's.
                let place = folders.tree.place();
                scrub(&record.content, folders.tree)?;
                Ok(pool.give(&folders.slot, place)?)
            });
            if let Err(error) = given {
                tracing::debug!(%slot, %error, "this review tree does not wait for a later run");
            }
        }
        Ok(pool.tidy()?)
    }
}

/// Takes away everything that cannot be a file of the snapshot, whatever is in it.
fn scrub(content: &Content, tree: Folder) -> Result<(), Error> {
    walk(content, tree, Odd::Removed, None, |found| {
        Ok(found.is_plain()?.then_some(()))
    })?;
    Ok(())
}

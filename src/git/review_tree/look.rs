//! Looking at slots whose jobs are over, before anybody asks for them.
//!
//! To look at every byte of a slot is most of what a later round costs, and which snapshot comes next
//! does not matter to it. So the look is made while the source is pinned, whose git programs leave
//! processors free, and `ReviewTrees::open` brings what was seen to the snapshot. It counts only as long as
//! no job began since, whoever's: jobs of one round reach each other's slots where nothing confines them. So a
//! slot that is opened behind another's job is looked at again.

use std::sync::atomic::Ordering;

use super::own_git::OwnGit;
use super::state::{Looked, Record, State};
use super::walk::{Odd, walk};
use super::{Error, ReviewTrees, locked, nothing_left};
use crate::domain::slot::SlotName;

/// Which slots are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    /// Those that were taken back: others may have a job again.
    Back,
    /// Each: somebody wants it, so its job is over. They asked when so many jobs had begun.
    Wanted { begun: u64 },
}

impl ReviewTrees {
    /// Says that the jobs in all slots are over: no process of them may be alive. What
    /// [`Self::look_over`] looks at is decided here: a slot that is opened later is not.
    pub fn take_back(&self) {
        for state in locked(&self.slots).values() {
            let mut state = locked(state);
            *state = match state.take() {
                Some(State::Given(record)) => Some(State::Back(record)),
                other => other,
            };
        }
    }

    /// Says that a job begins: what was looked at before counts no more for slots that are opened after it.
    pub fn job_begins(&self) {
        self.begun.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn jobs_begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Looks at the slots that were taken back and not opened since, all at once.
    pub fn look_over(&self) {
        let slots: Vec<_> = locked(&self.slots)
            .iter()
            .map(|(slot, state)| (slot.clone(), state.clone()))
            .collect();
        std::thread::scope(|scope| {
            for (slot, state) in &slots {
                scope.spawn(move || self.look_at(slot, &mut locked(state), When::Back));
            }
        });
    }

    /// Looks at a slot, where nobody did since its last job. One in doubt is not known any more, and the next
    /// use sets it aside.
    pub(super) fn look_at(&self, slot: &SlotName, state: &mut Option<State>, when: When) {
        let known = match (state.take(), when) {
            (Some(State::Seen(looked)), When::Wanted { begun }) if looked.begun != begun => {
                Some(State::Back(looked.record))
            }
            (known, _) => known,
        };
        *state = match (known, when) {
            (Some(State::Back(record)), _) | (Some(State::Given(record)), When::Wanted { .. }) => {
                match self.look(slot, record) {
                    Ok(looked) => Some(State::Seen(looked)),
                    Err(error) => {
                        tracing::warn!(%slot, %error, "the review tree is in doubt and set aside");
                        None
                    }
                }
            }
            (other, _) => other,
        };
    }

    /// Looks at a slot that this process opened before, and takes away what is odd; any error is a doubt.
    fn look(&self, slot: &SlotName, record: Record) -> Result<Looked, Error> {
        let begun = self.jobs_begun();
        let root = self.root()?;
        let folders = root.open_slot(slot, &record.places)?;
        let path = root.path().join(slot.as_str());
        // Nothing is read of it, but whoever reached for it could have reached for more.
        if OwnGit::new(&self.git, &path).seal(record.key)? != record.seal {
            return Err(Error::Doubt("our index was written to".to_owned()));
        }
        // The agent's, of which nothing is kept.
        nothing_left(&folders.tree.remove(c".git"))?;
        let seen = walk(&record.content, folders.tree, Odd::Removed, None, |found| {
            let known = &record.known[found.entry];
            Ok((found.is_plain()? && found.holds(known, record.key)?).then_some(()))
        })?;
        Ok(Looked {
            is_whole: seen.is_whole(),
            kept: seen.said.iter().map(Option::is_some).collect(),
            begun,
            record,
        })
    }
}

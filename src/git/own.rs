//! Whose the uncommitted edits are that a job took away: the user's, or those of earlier jobs of the run alone.
//!
//! A path is the run's own as long as nobody else edited it since it was seen unedited, in the working tree and in
//! the index. Whatever cannot be told is not its own. Tests: `tests/git/own.rs`, and below.

use std::collections::BTreeSet;

use crate::domain::look::{IndexAlone, Look, Since};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::{Changes, between};
use crate::git::error::Error;
use crate::git::program::Git;
use crate::git::store::ReviewStore;

/// What a look and the one before it say of paths.
#[derive(Debug, Default)]
struct Seen {
    /// What lay in the working tree otherwise than in HEAD.
    edited: BTreeSet<RepoPath>,
    /// What the working tree or HEAD has otherwise than at the look before; `None` where there was none.
    moved: Option<BTreeSet<RepoPath>>,
    /// What is there and was not, and may have been ignored until then: the rules of that moved, too.
    shown: BTreeSet<RepoPath>,
    /// Whether the index is as it was at the look before.
    same_index: bool,
    /// What the index alone held, where that is known.
    alone: Option<BTreeSet<RepoPath>>,
    /// Whether only jobs of the run may have written since the look before.
    by_jobs: bool,
}

/// Those of `paths` that nobody edited but jobs of the run, by all looks up to the one that has these edits.
///
/// # Errors
/// When git fails: a tree of before may be gone.
pub fn own(
    git: &Git,
    store: &ReviewStore,
    looks: &[Look],
    paths: &[RepoPath],
) -> Result<BTreeSet<RepoPath>, Error> {
    let mut own = BTreeSet::new();
    let mut before = None;
    for look in looks {
        let seen = seen(git, store, before, look)?;
        own = after(&own, &seen, paths);
        before = Some(look);
    }
    Ok(own)
}

fn seen(git: &Git, store: &ReviewStore, before: Option<&Look>, look: &Look) -> Result<Seen, Error> {
    let edited = between(git, store, &look.head, &look.tree)?;
    let mut seen = Seen {
        edited: edited.into_keys().collect(),
        alone: alone(git, store, look)?,
        ..Seen::default()
    };
    if let Some(before) = before {
        let moved = between(git, store, &before.tree, &look.tree)?;
        seen.shown = shown(&moved);
        // Who takes HEAD back makes edits of what was committed.
        let committed = between(git, store, &before.head, &look.head)?;
        seen.moved = Some(moved.into_keys().chain(committed.into_keys()).collect());
        seen.same_index = before.index == look.index;
        seen.by_jobs = look.since == Since::Jobs;
    }
    Ok(seen)
}

/// The paths that the index alone has content of. Of a conflict nothing is known.
fn alone(git: &Git, store: &ReviewStore, look: &Look) -> Result<Option<BTreeSet<RepoPath>>, Error> {
    let held = |commit: &Oid| {
        Ok(between(git, store, &look.head, commit)?
            .into_keys()
            .collect())
    };
    match &look.alone {
        Some(IndexAlone {
            staged,
            unmerged: None,
        }) => staged.as_ref().map_or(Ok(BTreeSet::new()), held).map(Some),
        Some(IndexAlone {
            unmerged: Some(_), ..
        })
        | None => Ok(None),
    }
}

fn shown(moved: &Changes) -> BTreeSet<RepoPath> {
    let is_rule = |path: &&RepoPath| {
        path.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(b".gitignore")
    };
    if !moved.keys().any(|path| is_rule(&path)) {
        return BTreeSet::new();
    }
    let new = moved.iter().filter(|(_, change)| change.old.is_nothing());
    new.map(|(path, _)| path.clone()).collect()
}

/// Which paths are the run's own at a look, by those that were at the one before.
fn after(own: &BTreeSet<RepoPath>, seen: &Seen, paths: &[RepoPath]) -> BTreeSet<RepoPath> {
    let is_own = |path: &&RepoPath| {
        if seen.by_jobs {
            return own.contains(*path) && !seen.shown.contains(*path);
        }
        let is_same = seen
            .moved
            .as_ref()
            .is_some_and(|moved| !moved.contains(*path));
        let is_left = is_same && own.contains(*path);
        let is_known = seen
            .alone
            .as_ref()
            .is_some_and(|alone| !alone.contains(*path));
        (is_known && !seen.edited.contains(*path)) || (is_left && (is_known || seen.same_index))
    };
    paths.iter().filter(is_own).cloned().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BTreeSet, RepoPath, Seen, after};

    /// What happened to the one file up to a look.
    #[derive(Debug, Clone, Copy)]
    enum Deed {
        /// A job wrote a new version of it.
        JobWrites,
        /// A job of which nobody knows how it ended wrote a new version of it.
        LostJobWrites,
        /// The user did.
        UserWrites,
        /// The user put another content into the index alone.
        UserStages,
        /// All was committed.
        Committed,
        /// Nothing.
        Nothing,
    }

    fn deeds() -> impl Strategy<Value = Vec<(Deed, bool)>> {
        let deed = prop_oneof![
            Just(Deed::JobWrites),
            Just(Deed::LostJobWrites),
            Just(Deed::UserWrites),
            Just(Deed::UserStages),
            Just(Deed::Committed),
            Just(Deed::Nothing),
        ];
        proptest::collection::vec((deed, any::<bool>()), 1..12)
    }

    proptest! {
        /// Whatever came to pass in whatever order: nothing of the user's is ever called the run's own, as
        /// someone knows who saw it all. Where nobody but jobs wrote, and each ended well, all of it is.
        #[test]
        fn nothing_of_the_users_is_the_runs_own(deeds in deeds()) {
            let path = RepoPath::from("file");
            let paths = [path.clone()];
            let here = |yes: bool| BTreeSet::from_iter(yes.then(|| path.clone()));
            let (mut own, mut edited, mut staged) = (BTreeSet::new(), false, false);
            // Whether the user's content is in it, and whether anybody is to wonder.
            let (mut users, mut doubted) = (false, false);
            for (at, (deed, is_known)) in deeds.into_iter().enumerate() {
                let mut seen = Seen { same_index: true, ..Seen::default() };
                let mut moved = false;
                match deed {
                    Deed::JobWrites => {
                        (seen.by_jobs, moved, edited) = (at > 0, true, true);
                        doubted |= at == 0;
                        // What was in the index alone may have been what it took.
                        users |= staged;
                    }
                    Deed::LostJobWrites => (moved, edited, doubted) = (true, true, true),
                    Deed::UserWrites => (moved, edited, users) = (true, true, true),
                    Deed::UserStages => (seen.same_index, staged) = (false, true),
                    Deed::Committed => {
                        (moved, edited, seen.same_index) = (edited, false, false);
                        (staged, users, doubted) = (false, false, false);
                    }
                    Deed::Nothing => {}
                }
                let is_known = is_known && !seen.by_jobs;
                doubted |= !seen.by_jobs && !is_known && (at == 0 || !seen.same_index);
                doubted &= !(is_known && !edited && !staged);
                seen.edited = here(edited);
                seen.moved = (at > 0).then(|| here(moved));
                seen.alone = is_known.then(|| here(staged));
                own = after(&own, &seen, &paths);
                if users || staged {
                    prop_assert!(own.is_empty(), "{deed:?} at {at}");
                } else if !doubted && !moved {
                    prop_assert!(!own.is_empty(), "{deed:?} at {at}");
                }
            }
        }
    }
}

//! Whose the uncommitted edits are that a job took away: the user's, or those of earlier jobs of the run alone.
//!
//! A path is the run's own as long as nobody else edited it since it was seen unedited, in the working tree and in
//! the index. What a job wrote while it took something from a path that is not may be what lay there, and what it
//! brought may have lain there ignored. Whatever cannot be told is not its own. Tests: `tests/git/own.rs`, and below.

use std::collections::BTreeSet;

use crate::domain::look::{IndexAlone, Look, Since};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::{Changes, between};
use crate::git::error::Error;
use crate::git::program::Git;
use crate::git::repository::Repository;
use crate::git::store::ReviewStore;
use crate::git::uncommitted::wanted;

/// What a look and the one before it say of paths.
#[derive(Debug, Default)]
struct Seen {
    /// What lay in the working tree otherwise than in HEAD.
    edited: BTreeSet<RepoPath>,
    /// What the working tree or HEAD has otherwise than at the look before; `None` where there was none.
    moved: Option<BTreeSet<RepoPath>>,
    /// What is there and was not at the look before.
    new: BTreeSet<RepoPath>,
    /// Whether the rules of what is ignored moved.
    rules: bool,
    /// Whether the index is as it was at the look before.
    same_index: bool,
    /// What the index alone held, where that is known.
    alone: Option<BTreeSet<RepoPath>>,
    /// Whether only jobs of the run may have written since the look before.
    by_jobs: bool,
}

/// What is known of paths at a look.
#[derive(Debug, Default)]
struct Told {
    /// The run's own.
    own: BTreeSet<RepoPath>,
    /// Those of them that came with a job: they were written by it, or lay there ignored.
    came: BTreeSet<RepoPath>,
}

/// Those of `paths` that nobody edited but jobs of the run, by all looks up to the one that has these edits, and
/// the tree that lacks them.
///
/// # Errors
/// When git fails: a tree of before may be gone.
pub fn own(
    git: &Git,
    (repo, store): (&Repository, &ReviewStore),
    (looks, now): (&[Look], &Oid),
    paths: &[RepoPath],
) -> Result<BTreeSet<RepoPath>, Error> {
    let mut all = Vec::with_capacity(looks.len());
    let mut before = None;
    for look in looks {
        all.push(seen(git, store, before, look)?);
        before = Some(look);
    }
    let told = told(&all, paths);
    let mut own: BTreeSet<RepoPath> = paths.iter().cloned().collect();
    own.retain(|path| told.own.contains(path));
    let came: Vec<Vec<u8>> = own
        .intersection(&told.came)
        .map(|path| path.as_bytes().to_vec())
        .collect();
    if let (Some(last), false) = (before, came.is_empty()) {
        let is_same = !has_rules(&between(git, store, &last.tree, now)?);
        // What git cannot tell of may have been ignored.
        let shown = if is_same {
            wanted(&git.command(&repo.source_root), &came).unwrap_or_default()
        } else {
            Vec::new()
        };
        let shown: BTreeSet<RepoPath> = shown.into_iter().map(RepoPath::new).collect();
        own.retain(|path| !told.came.contains(path) || shown.contains(path));
    }
    Ok(own)
}

/// Goes through all looks, with all that anybody touched: what is not the run's own is known by that alone.
fn told(all: &[Seen], paths: &[RepoPath]) -> Told {
    let mut touched: BTreeSet<RepoPath> = paths.iter().cloned().collect();
    for seen in all {
        touched.extend(seen.edited.iter().cloned());
        touched.extend(seen.moved.iter().flatten().cloned());
    }
    all.iter()
        .fold(Told::default(), |told, seen| after(&told, seen, &touched))
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
        seen.rules = has_rules(&moved);
        let new = moved.iter().filter(|(_, change)| change.old.is_nothing());
        seen.new = new.map(|(path, _)| path.clone()).collect();
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

/// Whether rules of what is ignored are among what moved.
fn has_rules(moved: &Changes) -> bool {
    moved
        .keys()
        .any(|path| path.as_bytes().rsplit(|byte| *byte == b'/').next() == Some(b".gitignore"))
}

/// What is known at a look of all that was touched, by what was known at the one before.
fn after(before: &Told, seen: &Seen, touched: &BTreeSet<RepoPath>) -> Told {
    let moved = |path: &RepoPath| seen.moved.as_ref().is_none_or(|all| all.contains(path));
    // Of what is not the run's own a job may have carried lines to whatever it wrote.
    let may_carry = seen.by_jobs
        && touched
            .iter()
            .any(|path| moved(path) && !before.own.contains(path));
    let came =
        |path: &RepoPath| before.came.contains(path) || (seen.by_jobs && seen.new.contains(path));
    let is_known = |path: &RepoPath| {
        seen.alone
            .as_ref()
            .is_some_and(|alone| !alone.contains(path))
    };
    let is_clean = |path: &RepoPath| !seen.by_jobs && is_known(path) && !seen.edited.contains(path);
    let is_left = |path: &RepoPath| {
        let is_written_by_jobs = seen.by_jobs && !may_carry;
        let is_staged_alone = !seen.by_jobs && !is_known(path) && !seen.same_index;
        before.own.contains(path)
            && (!moved(path) || is_written_by_jobs)
            // By which rules it was ignored, if it was, is not known any more.
            && !(seen.rules && came(path))
            && !is_staged_alone
    };
    let is_own = |path: &&RepoPath| is_clean(path) || is_left(path);
    let own: BTreeSet<RepoPath> = touched.iter().filter(is_own).cloned().collect();
    let came = own.iter().filter(|path| !is_clean(path) && came(path));
    Told {
        came: came.cloned().collect(),
        own,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BTreeSet, RepoPath, Seen, Told, after};

    /// What happened to the file up to a look.
    #[derive(Debug, Clone, Copy)]
    enum Deed {
        /// A job wrote a new version of it.
        JobWrites,
        /// A job carried lines of it to another file.
        JobCarries,
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
            Just(Deed::JobCarries),
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
            let other = RepoPath::from("other");
            let touched = BTreeSet::from([path.clone(), other.clone()]);
            let one = |path: &RepoPath, yes: bool| yes.then(|| path.clone());
            let here = |yes: bool| BTreeSet::from_iter(one(&path, yes));
            let both = |yes: bool, too: bool| {
                let all = [one(&path, yes), one(&other, too)].into_iter();
                all.flatten().collect::<BTreeSet<_>>()
            };
            let (mut told, mut edited, mut staged) = (Told::default(), false, false);
            // Of the other file, too.
            let (mut carried, mut carried_users) = (false, false);
            // Whether the user's content is in it, and whether anybody is to wonder.
            let (mut users, mut doubted) = (false, false);
            for (at, (deed, is_known)) in deeds.into_iter().enumerate() {
                let mut seen = Seen { same_index: true, ..Seen::default() };
                let (mut moved, mut moved_too) = (false, false);
                match deed {
                    Deed::JobWrites => {
                        (seen.by_jobs, moved, edited) = (at > 0, true, true);
                        doubted |= at == 0;
                        // What was in the index alone may have been what it took.
                        users |= staged;
                    }
                    Deed::JobCarries => {
                        (seen.by_jobs, moved, edited) = (at > 0, true, true);
                        (moved_too, carried) = (true, true);
                        doubted |= at == 0;
                        users |= staged;
                        carried_users |= users;
                    }
                    Deed::LostJobWrites => (moved, edited, doubted) = (true, true, true),
                    Deed::UserWrites => (moved, edited, users) = (true, true, true),
                    Deed::UserStages => (seen.same_index, staged) = (false, true),
                    Deed::Committed => {
                        (moved, edited, seen.same_index) = (edited, false, false);
                        (moved_too, carried, carried_users) = (carried, false, false);
                        (staged, users, doubted) = (false, false, false);
                    }
                    Deed::Nothing => {}
                }
                let is_known = is_known && !seen.by_jobs;
                doubted |= !seen.by_jobs && !is_known && (at == 0 || !seen.same_index);
                doubted &= !(is_known && !edited && !staged);
                seen.edited = both(edited, carried);
                seen.moved = (at > 0).then(|| both(moved, moved_too));
                seen.alone = is_known.then(|| here(staged));
                told = after(&told, &seen, &touched);
                let is_own = told.own.contains(&path);
                prop_assert!(!carried_users || !told.own.contains(&other), "{deed:?} at {at}");
                if users || staged {
                    prop_assert!(!is_own, "{deed:?} at {at}");
                } else if !doubted && !moved {
                    prop_assert!(is_own, "{deed:?} at {at}");
                }
            }
        }
    }
}

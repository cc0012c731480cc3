//! Clean-up: what dead runs of this user left under the cache root, and nothing else.
//!
//! A run is dead when nobody holds its journal's writer lock, its source's lock or a guard's lock,
//! *and* the process that wrote its journal last was one of this machine and is gone. Never by a
//! name, an age or a missing process alone; what is not known is kept, and that is said (the W
//! list of scenarios). Journals and artifacts of runs stay: they are what the gate reads.
//!
//! A run that was broken off can be resumed, so what cannot be made again is kept: the folders of
//! jobs whose end is not in its journal, where a finished report may lie, and its review store.
//!
//! What is left of a run whose repository is not there is kept, since a disk may only not be mounted; the user
//! can say that it is gone (`--gone`).
//!
//! The record of a run that is damaged is put away where its user asks for that one (`--damaged`), whole.
//!
//! Processes of its jobs whose guards were killed are ended first, those that lineage proves and no
//! others. While one lives that cannot be ended, everything of the run is kept.
//!
//! Owns: deciding what may go, and removing it. Never: ending what no guard started. Tests:
//! `tests/worktree.rs`.

mod damaged;
mod drafts;
mod folders;
pub mod item;
pub(crate) mod known;
mod processes;
mod standing;
mod stores;
mod waiting;

use std::collections::BTreeSet;
use std::path::Path;

pub use crate::cleanup::damaged::put_aside;
use crate::cleanup::folders::Folders;
use crate::cleanup::item::{Fate, Item};
use crate::cleanup::known::Known;
use crate::cleanup::standing::{Held, Standing, guards, judge};
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::Journal;

/// What to clean.
#[derive(Clone, Copy)]
#[expect(
    missing_debug_implementations,
    reason = "whom it tells has no form to print"
)]
pub struct Request<'a> {
    /// The user's cache folder.
    pub cache_root: &'a Path,
    /// The repository that the command was started in, if any; others are found by their stores.
    pub common_dir: Option<&'a Path>,
    /// How many bytes all review stores may take.
    pub store_budget: u64,
    /// Only look.
    pub dry_run: bool,
    /// Whether repositories that are not there are gone for good, which nobody but the user knows.
    pub gone: bool,
    /// Who is told what is waited for.
    pub told: &'a dyn Fn(&str),
}

/// Looks at everything under the cache root, and removes what dead runs left.
///
/// # Errors
/// When the cache root is not this user's, or cannot be read. What cannot be removed is no error
/// here: its item says so.
pub fn clean(request: &Request<'_>) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    // The runs first: one that begins meanwhile must not look as if nobody had it.
    let folders = Folders::open(request.cache_root)?;
    let mut runs: BTreeSet<LoopId> = folders.runs(&mut items)?;
    let known = Known::find(request.cache_root, request.common_dir, &mut items)?;
    runs.extend(known.never_began());
    for run in runs {
        items.extend(one_run(request, &folders, &known, run));
    }
    drafts::clean(&known, request.dry_run, &mut items);
    waiting::clean(request, &mut items)?;
    stores::clean(request, &known, &mut items)?;
    Ok(items)
}

fn one_run(request: &Request<'_>, folders: &Folders, known: &Known, run: LoopId) -> Vec<Item> {
    let kept = |reason: &str| {
        let kept = |item: Item| item.kept(reason);
        folders.of_run(run).into_iter().map(kept).collect()
    };
    let state = match known.home_of(run) {
        Ok(Some(state)) => state,
        // One that cannot be read may have it.
        Ok(None) if request.gone && known.is_whole() => {
            return homeless(request, folders, run, &kept);
        }
        Ok(None) => {
            return kept(&format!(
                "no repository that is known here has this run; {IF_GONE}"
            ));
        }
        Err(why) => return kept(&why),
    };
    let judged = || judge(state, run, request.cache_root, Held::No);
    let standing = match judged() {
        // They do so by themselves, since their engine is dead: that takes seconds.
        Standing::Guarded if !request.dry_run => {
            match processes::guards_end(request.cache_root, run, request.told) {
                Ok(()) => judged(),
                Err(why) => return kept(&why),
            }
        }
        other @ (Standing::Dead(_)
        | Standing::Guarded
        | Standing::InUse(_)
        | Standing::Unknown(_)) => other,
    };
    let dead = match standing {
        Standing::Dead(dead) => dead,
        Standing::Guarded => return kept(GUARDED),
        Standing::InUse(why) | Standing::Unknown(why) => return kept(&why),
    };
    if request.dry_run {
        return after(processes::left(request.cache_root, run), &kept, || {
            folders.remains(state, run, &dead, true)
        });
    }
    // From here on no engine can take the run up again; what was seen must still be so.
    let _held = match Journal::hold_off(state, run) {
        Ok(Some(held)) => held,
        Ok(None) => return kept("an engine drives this run"),
        Err(failure) => return kept(&failure.message),
    };
    match judge(state, run, request.cache_root, Held::ByUs) {
        Standing::Dead(now) if now == dead => {
            after(processes::end(request.cache_root, run), &kept, || {
                folders.remains(state, run, &dead, false)
            })
        }
        Standing::Dead(_) | Standing::Guarded | Standing::InUse(_) | Standing::Unknown(_) => {
            kept("it changed while it was looked at")
        }
    }
}

const GUARDED: &str = "a guard still ends one of its jobs";

/// What is said where only the user can know more.
const IF_GONE: &str = "if it is gone for good: run-loop cleanup --gone";

/// What a run left whose repository is gone: there is no journal that anybody could go on with, and no lock of
/// it; its guards and processes are looked for all the same.
fn homeless(
    request: &Request<'_>,
    folders: &Folders,
    run: LoopId,
    kept: &dyn Fn(&str) -> Vec<Item>,
) -> Vec<Item> {
    let guarded = match guards(&request.cache_root.join("jobs").join(run.to_string())) {
        Ok(guarded) => guarded,
        Err(why) => return kept(&why),
    };
    if guarded {
        // Its engine is not known to be dead, and whoever is ends its jobs by itself.
        return kept(GUARDED);
    }
    let left = if request.dry_run {
        processes::left(request.cache_root, run)
    } else {
        processes::end(request.cache_root, run)
    };
    after(left, kept, || folders.whole(run, request.dry_run))
}

/// The processes of a run, and what else it left; that is kept while any of them may live.
fn after(
    processes: Result<Vec<Item>, String>,
    kept: &dyn Fn(&str) -> Vec<Item>,
    folders: impl FnOnce() -> Vec<Item>,
) -> Vec<Item> {
    match processes {
        Err(why) => kept(&why),
        Ok(mut items) => {
            let all_end = items
                .iter()
                .all(|item| matches!(item.fate, Fate::Removed | Fate::WouldRemove));
            items.extend(if all_end {
                folders()
            } else {
                kept("processes of its jobs may live")
            });
            items
        }
    }
}

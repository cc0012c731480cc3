//! The folders that runs have under the cache root, opened without following links.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use crate::cleanup::item::{Item, What};
use crate::cleanup::standing::Dead;
use crate::domain::code::Code;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::id::{JobId, LoopId};
use crate::domain::work::{ANEW, KINDS as KINDS_BEFORE};
use crate::git::evidence::{DraftOf, draft_of};
use crate::git::review_tree::folder::{Folder, is_folder};
use crate::git::review_tree::{NOT_OURS, release_run};
use crate::store::StateFolder;
use crate::store::folder::is_temporary;

const KINDS: [(What, &CStr); 3] = [
    (What::Trees, c"trees"),
    (What::Jobs, c"jobs"),
    (What::Evidence, c"evidence"),
];

/// The folders of each kind that are there.
#[derive(Debug)]
pub(crate) struct Folders {
    root: PathBuf,
    kinds: Vec<(What, PathBuf, Folder)>,
}

impl Folders {
    /// Opens them; each must be this user's, and closed to the writes of others.
    pub(crate) fn open(cache_root: &Path) -> Result<Self, Failure> {
        // The way to the cache root may lead through links of the user's own.
        let root = match fs_err::canonicalize(cache_root) {
            Ok(root) => root,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self {
                    root: cache_root.to_owned(),
                    kinds: Vec::new(),
                });
            }
            Err(error) => return Err(unusable(cache_root, &error)),
        };
        let failed = |error: io::Error| unusable(&root, &error);
        let cache = Folder::open(&root).map_err(failed)?;
        ours(&cache).map_err(failed)?;
        let mut kinds = Vec::new();
        for (what, name) in KINDS {
            let path = root.join(name.to_string_lossy().as_ref());
            let failed = |error: io::Error| unusable(&path, &error);
            if cache.stat(name).map_err(failed)?.is_none() {
                continue;
            }
            let folder = cache.open_in(name).map_err(failed)?;
            ours(&folder).map_err(failed)?;
            kinds.push((what, path, folder));
        }
        Ok(Self { root, kinds })
    }

    /// The runs that have a folder here; what else lies here is kept, and told.
    pub(crate) fn runs(&self, items: &mut Vec<Item>) -> Result<BTreeSet<LoopId>, Failure> {
        let mut runs = BTreeSet::new();
        for (what, path, folder) in &self.kinds {
            for name in folder.names().map_err(|error| unusable(path, &error))? {
                let is_dir = folder
                    .stat(&name)
                    .is_ok_and(|stat| stat.as_ref().is_some_and(is_folder));
                match name.to_str().ok().and_then(LoopId::parse) {
                    Some(run) if is_dir => {
                        runs.insert(run);
                    }
                    Some(_) | None => {
                        let item =
                            Item::new(&path.join(os(&name)), *what, None, folder.size(&name));
                        items.push(item.kept("it is no folder of a run"));
                    }
                }
            }
        }
        Ok(runs)
    }

    /// What a run has here.
    pub(crate) fn of_run(&self, run: LoopId) -> Vec<Item> {
        let Ok(name) = CString::new(run.to_string()) else {
            return Vec::new();
        };
        self.kinds
            .iter()
            .filter(
                |(_, _, folder)| matches!(folder.stat(&name), Ok(Some(found)) if is_folder(&found)),
            )
            .map(|(what, path, folder)| {
                Item::new(&path.join(os(&name)), *what, Some(run), folder.size(&name))
            })
            .collect()
    }

    /// Removes all that a run left that nobody can go on with, or says that it would be.
    pub(crate) fn whole(&self, run: LoopId, dry_run: bool) -> Vec<Item> {
        let nobodys = |_: &str| None;
        let mut items = Vec::new();
        for item in self.of_run(run) {
            if item.what == What::Trees {
                items.push(self.trees(item, run, dry_run));
            } else {
                items.extend(self.entries(item, run, dry_run, &nobodys));
            }
        }
        items
    }
    fn trees(&self, item: Item, run: LoopId, dry_run: bool) -> Item {
        if dry_run {
            item
        } else {
            let left = release_run(&self.root, run);
            let is_foreign = |what: &String| what.ends_with(NOT_OURS);
            if left.is_empty() || !left.iter().all(is_foreign) {
                return item.removed(left);
            }
            // Which folders are ours is known by their device and number, which a copy has not.
            let path = NextCommand(vec!["ls".to_owned(), "-la".to_owned(), item.path.clone()]);
            let why = left.join("; ");
            item.kept(format!(
                "{why}; if the cache was copied or moved, nobody needs it; look first: {path}"
            ))
        }
    }

    /// Removes what a dead run left, or says what would be.
    pub(crate) fn remains(
        &self,
        state: &StateFolder,
        run: LoopId,
        dead: &Dead,
        dry_run: bool,
    ) -> Vec<Item> {
        let mut items = Vec::new();
        for item in self.of_run(run) {
            match item.what {
                What::Trees => items.push(self.trees(item, run, dry_run)),
                What::Jobs => {
                    let why = |name: &str| job(name, dead);
                    items.extend(self.entries(item, run, dry_run, &why));
                }
                What::Evidence => {
                    let why = |name: &str| round(name, dead);
                    items.extend(self.entries(item, run, dry_run, &why));
                }
                What::Processes
                | What::WaitingTrees
                | What::State
                | What::Damaged
                | What::Store
                | What::BrokenStore => {}
            }
        }
        if !dead.began {
            items.push(never_began(state, run, dry_run));
        }
        items
    }

    /// Removes the entries of a run's folder that its journal names and nobody needs; `why` says
    /// why one is kept.
    fn entries(
        &self,
        item: Item,
        run: LoopId,
        dry_run: bool,
        why: &dyn Fn(&str) -> Option<&'static str>,
    ) -> Vec<Item> {
        let opened = (|| -> io::Result<(&Folder, CString, Folder, Vec<CString>)> {
            let name = CString::new(run.to_string())?;
            let kind = self.kinds.iter().find(|(what, _, _)| *what == item.what);
            let (_, _, parent) = kind.ok_or(io::ErrorKind::NotFound)?;
            let folder = parent.open_in(&name)?;
            ours(&folder)?;
            let mut names = folder.names()?;
            names.sort();
            Ok((parent, name, folder, names))
        })();
        let (parent, run_name, folder, names) = match opened {
            Ok(opened) => opened,
            Err(error) => return vec![item.kept(error.to_string())],
        };
        let (mut items, mut left, mut bytes) = (Vec::new(), Vec::new(), 0);
        for name in &names {
            let size = folder.size(name);
            let path = Path::new(&item.path).join(os(name));
            let kept = name.to_str().map_or(Some("its name is none of ours"), why);
            if let Some(why) = kept {
                items.push(Item::new(&path, item.what, item.run, size).kept(why));
                continue;
            }
            bytes += size;
            if !dry_run {
                left.extend(folder.remove(name));
            }
        }
        if !dry_run && items.is_empty() && left.is_empty() {
            left.extend(
                parent
                    .remove_empty(&run_name)
                    .err()
                    .map(|it| it.to_string()),
            );
        }
        if items.len() < names.len() || names.is_empty() {
            let whole = Item { bytes, ..item };
            items.insert(0, if dry_run { whole } else { whole.removed(left) });
        }
        items
    }
}

/// Why a job's folder is kept.
fn job(name: &str, dead: &Dead) -> Option<&'static str> {
    let id = JobId::parse(name.strip_suffix(".capture").unwrap_or(name));
    match id.filter(|id| dead.jobs.contains(id)) {
        None => Some("the run's journal names no such job"),
        Some(id) if !dead.ended && dead.open_jobs.contains(&id) => {
            Some("the run can be resumed, and has not taken this job's end in yet")
        }
        Some(_) => None,
    }
}

/// Why what a round or a step of work has in the evidence is kept: a resume makes a round's again from
/// the recorded pin and seed, and cannot make again how things were before a step.
fn round(name: &str, dead: &Dead) -> Option<&'static str> {
    let unnamed = Some("the run's journal names no such round");
    // What an engine was killed at that wrote it: nobody reads it.
    if is_temporary(name) {
        return None;
    }
    let name = match draft_of(name) {
        Some(DraftOf::Since) => return None,
        Some(DraftOf::Round(round)) => round,
        None => name,
    };
    let Some((step, kind)) = name.split_once('.') else {
        return if dead.rounds.contains(name) {
            None
        } else {
            unnamed
        };
    };
    if step.is_empty() || !KINDS_BEFORE.contains(&kind) {
        return unnamed;
    }
    // How things were before a job that is all that its run does.
    if kind == ANEW && JobId::parse(step).is_some() {
        return job(step, dead);
    }
    if !dead.steps.contains(step) {
        return Some("the run's journal names no such step of work");
    }
    let is_compared = !dead.ended && dead.open_step.as_deref() == Some(step);
    is_compared.then_some("the run can be resumed, and compares with it what its job moved")
}

/// A run's state without any event: its journal vouches for nothing.
fn never_began(state: &StateFolder, run: LoopId, dry_run: bool) -> Item {
    state_at(&state.run_path(run), Some(run), dry_run)
}

/// Removes a folder of a repository's state, or says that it would be.
pub(crate) fn state_at(path: &Path, run: Option<LoopId>, dry_run: bool) -> Item {
    let looked = (|| -> io::Result<(Folder, CString)> {
        let runs = Folder::open(path.parent().unwrap_or(path))?;
        ours(&runs)?;
        let name = path.file_name().unwrap_or_default().as_bytes();
        Ok((runs, CString::new(name)?))
    })();
    match looked {
        Err(error) => Item::new(path, What::State, run, 0).kept(error.to_string()),
        Ok((runs, name)) => {
            let item = Item::new(path, What::State, run, runs.size(&name));
            if dry_run {
                item
            } else {
                item.removed(runs.remove(&name))
            }
        }
    }
}

/// A folder of this user's that nobody else can write to.
fn ours(folder: &Folder) -> io::Result<()> {
    let (owner, mode) = folder.owner_and_mode()?;
    if owner != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if mode.intersects(Mode::WGRP | Mode::WOTH) {
        return Err(io::Error::other("other users can write to it"));
    }
    Ok(())
}

fn os(name: &CStr) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(name.to_bytes())
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("{} cannot be used: {error}", path.display());
    Failure::new(Code::StateUnwritable, message).next([
        "ls".to_owned(),
        "-ld".to_owned(),
        path.display().to_string(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So is what was before a job alone, until its end is known.
    #[test]
    fn what_was_before_a_job_goes_after_it() {
        let job = JobId::parse("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        let name = format!("{job}.anew");
        let mut dead = Dead::default();
        assert!(round(&name, &dead).is_some(), "of no job of the run");
        dead.jobs.insert(job);
        assert_eq!(round(&name, &dead), None);
        dead.open_jobs.insert(job);
        assert!(round(&name, &dead).is_some(), "it may be taken up");
        dead.ended = true;
        assert_eq!(round(&name, &dead), None);
    }

    /// What was before a step of work is kept as long as it is compared with, and is nobody's later.
    #[test]
    fn what_was_before_a_step_goes_after_it() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let mut dead = Dead {
            rounds: names(&["1"]),
            steps: names(&["1-implement", "2-correct"]),
            open_step: Some("2-correct".to_owned()),
            ..Dead::default()
        };
        let kept = |name: &str, dead: &Dead| round(name, dead).is_some();
        for ended in [false, true] {
            dead.ended = ended;
            assert!(!kept("1", &dead) && kept("2", &dead));
            assert!(!kept(".1-lKdyDq", &dead) && kept(".2-lKdyDq", &dead));
            assert!(!kept("1-implement.branches", &dead));
            assert_eq!(kept("2-correct.staged", &dead), !ended);
            assert_eq!(kept("2-correct.unmerged", &dead), !ended);
            assert!(kept("3-correct.staged", &dead) && kept("1-implement", &dead));
            // What is written and drafted beside them.
            assert!(!kept(".since-a1B2c3", &dead) && !kept(".tmp-123-0", &dead));
            for other in [
                ".1-lKdyD",
                ".1-lKdyDq7",
                ".1-lKdy_q",
                ".1-notes.txt",
                ".1x-lKdyDq",
                ".-lKdyDq",
                ".since-a1B2c3d",
                ".since-",
                ".tmp-123",
                ".tmp-123-x",
                ".tmp--0",
                "1-implement.notes",
                "1-implement.staged.bak",
                "1-implement.",
                ".staged",
            ] {
                assert!(kept(other, &dead), "{other}");
            }
        }
    }
}

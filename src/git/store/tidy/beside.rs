//! What a store holds beside the packs of its rounds: packs of a promisor remote, loose objects, files of
//! git-lfs, and what is temporary.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Budget, entries, gone, is_older, name_of_pack, size_of};
use crate::domain::oid::Oid;
use crate::git::Git;
use crate::git::program::finish;
use crate::git::repository::ObjectFormat;
use crate::git::store::needed::Runs;
use crate::git::store::packs;

/// Keeping it within what the packs leave of the budget.
///
/// All that a run may go on with is in the packs of its rounds. What lies loose beside them is of states
/// that nobody pinned; but stores of earlier versions have more there, so that while a run may go on only
/// what git-lfs keeps goes, which no snapshot shows.
pub(super) struct Beside<'a> {
    pub(super) git: &'a Git,
    pub(super) store: &'a Path,
    pub(super) runs: &'a mut Runs,
    pub(super) budget: &'a Budget,
    pub(super) now: SystemTime,
    /// Bytes that are kept so far.
    pub(super) bytes: u64,
}

/// A file that is kept or goes by itself.
struct Single {
    used: SystemTime,
    size: u64,
    path: PathBuf,
    is_object: bool,
}

impl Beside<'_> {
    /// The packs that were fetched from a promisor remote and stay: a run that goes on may have no
    /// network then.
    pub(super) fn promised(&mut self) -> io::Result<BTreeSet<String>> {
        let packs = self.store.join("objects/pack");
        let mut kept = BTreeSet::new();
        for mark in entries(&packs)? {
            if mark.extension().is_none_or(|kind| kind != "promisor") {
                continue;
            }
            let Some(name) = name_of_pack(&mark) else {
                continue;
            };
            let used = fs_err::symlink_metadata(&mark)?.modified()?;
            let size = size_of(&mark.with_extension("pack"))?;
            if self.fits(used, size) || self.runs.any_may_go_on()? {
                self.bytes += size;
                kept.insert(name.to_owned());
            }
        }
        Ok(kept)
    }

    /// Empties the folder of what is temporary: nobody has the store open, so those who made it died.
    pub(super) fn temporary(&self) -> io::Result<()> {
        for path in entries(&self.store.join("run-loop-tmp"))? {
            if fs_err::symlink_metadata(&path)?.is_dir() {
                fs_err::remove_dir_all(path)?;
            } else {
                fs_err::remove_file(path)?;
            }
        }
        Ok(())
    }

    /// Removes loose objects that a pack of the store holds too.
    ///
    /// `git prune-packed` would believe every pack, also those of the user's repository, which are no
    /// copies of ours unless the list of what is borrowed is taken away: that says whose the store is.
    pub(super) fn packed(&self) -> io::Result<()> {
        let objects = self.store.join("objects");
        let mut loose: BTreeMap<Oid, PathBuf> = BTreeMap::new();
        for path in self::loose(&objects)? {
            loose.extend(oid_of(&path).map(|oid| (oid, path)));
        }
        for index in entries(&objects.join("pack"))? {
            if loose.is_empty() {
                break;
            }
            if index.extension().is_none_or(|kind| kind != "idx") {
                continue;
            }
            let command = self.git.on(self.store).arg("show-index");
            let listing = finish(&command.stdin(fs_err::read(&index)?));
            let listing = listing.map_err(io::Error::other)?;
            let held = String::from_utf8_lossy(&listing);
            let held = held.lines().filter_map(|line| line.split(' ').nth(1));
            let held: Vec<Oid> = held
                .filter_map(Oid::parse)
                .filter(|oid| loose.contains_key(oid))
                .collect();
            // The last copy may not go for a damaged one.
            if held.is_empty() || !packs::is_whole(&index, ObjectFormat::of(&held[0]))? {
                continue;
            }
            for oid in held {
                if let Some(path) = loose.remove(&oid) {
                    gone(fs_err::remove_file(path))?;
                }
            }
        }
        Ok(())
    }

    /// Removes what lies for itself: what is beyond the budget, the oldest first, and what was not written
    /// for long. Git writes the time of a loose object anew when it would write it again.
    pub(super) fn singles(&mut self) -> io::Result<()> {
        let objects = loose(&self.store.join("objects"))?;
        let lfs = files(&self.store.join("run-loop-lfs"))?;
        let both = objects.into_iter().map(|path| (path, true));
        let both = both.chain(lfs.into_iter().map(|path| (path, false)));
        let mut all = Vec::new();
        for (path, is_object) in both {
            let meta = fs_err::symlink_metadata(&path)?;
            all.push(Single {
                used: meta.modified()?,
                size: meta.len(),
                path,
                is_object,
            });
        }
        all.sort_by_key(|single| Reverse(single.used));
        for single in all {
            let stays = self.fits(single.used, single.size)
                || single.is_object && self.runs.any_may_go_on()?;
            if stays {
                self.bytes += single.size;
            } else {
                fs_err::remove_file(single.path)?;
            }
        }
        Ok(())
    }

    fn fits(&self, used: SystemTime, size: u64) -> bool {
        self.bytes + size <= self.budget.bytes && !is_older(used, self.budget.idle, self.now)
    }
}

/// The object of a file's name.
fn oid_of(path: &Path) -> Option<Oid> {
    let start = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?;
    Oid::parse(&format!("{start}{rest}"))
}

/// The loose objects.
fn loose(objects: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for folder in entries(objects)? {
        if folder.file_name().is_some_and(|name| name.len() == 2) {
            all.extend(entries(&folder)?);
        }
    }
    Ok(all)
}

/// All files below a folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in entries(folder)? {
        if fs_err::symlink_metadata(&path)?.is_dir() {
            all.extend(files(&path)?);
        } else {
            all.push(path);
        }
    }
    Ok(all)
}

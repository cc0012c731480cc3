//! Keeping the stores small: what many rounds leave goes, the oldest first.
//!
//! Each round's pack holds everything of its snapshot beyond its base, so a round can go without
//! another one losing anything. Only a store that no run holds is touched, and the snapshots of a
//! run that may be gone on with stay, whatever the budget: there is no other copy of them.

mod beside;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::lock::{Locked, Sharing};

use self::beside::Beside;
use super::needed::{Owner, Runs};
use crate::domain::id::LoopId;
use crate::git::Git;

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Rounds of one store, each with what is held of the steps before it.
    pub rounds: usize,
    /// Bytes of the objects of one store with what git-lfs keeps beside them, and of all stores that no
    /// run holds.
    pub bytes: u64,
    /// How long something is kept that nobody uses.
    pub idle: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            rounds: 64,
            bytes: 2 << 30,
            idle: Duration::from_hours(30 * 24),
        }
    }
}

/// What is held of a round: its snapshot, and those of the steps before it.
#[derive(Debug)]
struct Held {
    /// The run it is of; `None` for a name that is no run's.
    run: Option<LoopId>,
    /// The refs, each with the file that names its packs.
    files: Vec<[PathBuf; 2]>,
    /// Their packs; `None` where some are not known.
    packs: Option<Vec<String>>,
    /// When the newest was written.
    used: SystemTime,
}

/// Drops the oldest rounds of a store beyond the budget, what only they needed, and what lies beside
/// them.
///
/// The caller holds the store alone, and writes its list of alternates anew after this.
pub(super) fn rounds(
    git: &Git,
    store: &Path,
    runs: &mut Runs,
    budget: &Budget,
    now: SystemTime,
) -> io::Result<()> {
    let packs = store.join("objects/pack");
    let mut held = held(store)?;
    held.sort_by_key(|round| std::cmp::Reverse(round.used));
    let mut kept = BTreeSet::new();
    let (mut number, mut bytes, mut is_known) = (0, 0, true);
    for round in held {
        let mut size = 0;
        let packs_of: BTreeSet<&String> = round.packs.iter().flatten().collect();
        for pack in packs_of {
            if !kept.contains(pack) {
                size += size_of(&packs.join(format!("pack-{pack}.pack")))?;
            }
        }
        let fits = number < budget.rounds
            && bytes + size <= budget.bytes
            && !is_older(round.used, budget.idle, now);
        // The newest stays, however large it is: it is the likeliest to be asked for again.
        if fits || number == 0 || round.run.is_some_and(|run| runs.may_go_on(run)) {
            number += 1;
            bytes += size;
            is_known &= round.packs.is_some();
            kept.extend(round.packs.into_iter().flatten());
        } else {
            for [path, record] in &round.files {
                fs_err::remove_file(path)?;
                gone(fs_err::remove_file(record))?;
                for path in [path, record] {
                    // The folder of a run goes with its last round.
                    if let Some(folder) = path.parent() {
                        drop(fs_err::remove_dir(folder));
                    }
                }
            }
        }
    }
    let mut beside = Beside {
        git,
        store,
        runs,
        budget,
        now,
        bytes,
    };
    if is_known {
        kept.append(&mut beside.promised()?);
        remove_packs(&packs, &kept)?;
    }
    beside.temporary()?;
    beside.packed()?;
    beside.singles()
}

fn held(store: &Path) -> io::Result<Vec<Held>> {
    let (refs, records) = (store.join("refs/run-loop"), store.join("run-loop-packs"));
    let mut all = Vec::new();
    for folder in entries(&refs)? {
        let mut held: BTreeMap<Vec<u8>, Held> = BTreeMap::new();
        let run = folder
            .file_name()
            .and_then(OsStr::to_str)
            .and_then(LoopId::parse);
        for path in entries(&folder)? {
            let relative = path.strip_prefix(&refs).map_err(io::Error::other)?;
            let record = records.join(relative);
            let packs: Option<Vec<String>> = match fs_err::read_to_string(&record) {
                Ok(text) => Some(text.lines().map(str::to_owned).collect()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            let used = fs_err::symlink_metadata(&path)?.modified()?;
            let round = round_of(&path);
            let files = [path, record];
            match held.entry(round) {
                Entry::Vacant(entry) => {
                    entry.insert(Held {
                        run,
                        files: vec![files],
                        packs,
                        used,
                    });
                }
                Entry::Occupied(mut entry) => {
                    let known = entry.get_mut();
                    known.files.push(files);
                    known.packs = known
                        .packs
                        .take()
                        .zip(packs)
                        .map(|(old, new)| [old, new].concat());
                    known.used = known.used.max(used);
                }
            }
        }
        all.extend(held.into_values());
    }
    Ok(all)
}

/// The round of a name: `1`, and `1-correct` and `1-correct-staged` of the steps before it.
fn round_of(path: &Path) -> Vec<u8> {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let end = name.iter().position(|byte| *byte == b'-');
    name.get(..end.unwrap_or(name.len()))
        .unwrap_or(name)
        .to_vec()
}

/// Removes the packs that no kept round names.
fn remove_packs(packs: &Path, kept: &BTreeSet<String>) -> io::Result<()> {
    for path in entries(packs)? {
        if !name_of_pack(&path).is_some_and(|pack| kept.contains(pack)) {
            fs_err::remove_file(path)?;
        }
    }
    Ok(())
}

/// The name that a pack's files have in common.
fn name_of_pack(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("pack-")
}

/// Removes whole stores: those that were set aside or not used for long, and the least recently
/// used ones while all together are beyond the budget. A store that a run holds or may go on with
/// stays, as does `but`, and one of which that is not known while it is not old. Failing to remove one is no failure of the run that asks.
pub(super) fn stores(stores: &Path, but: &str, budget: &Budget, now: SystemTime) -> io::Result<()> {
    let mut found = Vec::new();
    for path in entries(stores)? {
        let Some(name) = path.file_name().and_then(OsStr::to_str) else {
            continue;
        };
        let is_folder = fs_err::symlink_metadata(&path)?.is_dir();
        if !is_folder || name == but {
            continue;
        }
        let used = match fs_err::symlink_metadata(path.with_extension("lock")) {
            Ok(lock) if path.extension().is_none() => lock.modified()?,
            Ok(_) | Err(_) => fs_err::symlink_metadata(&path)?.modified()?,
        };
        let size = size_of(&path)?;
        found.push((used, size, path));
    }
    found.sort_by_key(|(used, ..)| std::cmp::Reverse(*used));
    let mut bytes = 0;
    for (used, size, path) in found {
        bytes += size;
        let is_old = is_older(used, budget.idle, now);
        if bytes > budget.bytes || is_old {
            // One that cannot be judged or removed holds up no other.
            if let Err(error) = remove_store(&path, is_old) {
                let path = path.display();
                tracing::warn!(%path, %error, "a review store could not be removed");
            }
        }
    }
    Ok(())
}

/// Whether a run may go on with a store, as far as that is known; where it is not, one that is old is given
/// up at last. None can with one that was set aside.
fn is_needed(store: &Path, is_old: bool) -> io::Result<bool> {
    if store.extension().is_some() {
        return Ok(false);
    }
    let key = store.file_name().and_then(OsStr::to_str);
    match Owner::of(store, key.unwrap_or_default())? {
        Owner::Repository(common_dir) => Runs::of(&common_dir)?.any_may_go_on(),
        Owner::Nobody => Ok(false),
        Owner::NotThere | Owner::Unknown => Ok(!is_old),
    }
}

/// Removes a store unless somebody has it open, or may go on with it.
fn remove_store(path: &Path, is_old: bool) -> io::Result<()> {
    let mut locks = Vec::new();
    // What was set aside is in nobody's use.
    let kinds: &[&str] = if path.extension().is_none() {
        &["build", "lock"]
    } else {
        &[]
    };
    for kind in kinds {
        let lock = match File::options().read(true).open(path.with_extension(kind)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match Locked::attempt(lock, Sharing::Exclusive)? {
            Some(lock) => locks.push(lock),
            None => return Ok(()),
        }
    }
    if is_needed(path, is_old)? {
        return Ok(());
    }
    fs_err::remove_dir_all(path)
}

/// The bytes of a file, or of all files below a folder; what is not there has none.
fn size_of(path: &Path) -> io::Result<u64> {
    let meta = match fs_err::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    if !meta.is_dir() {
        return Ok(meta.len());
    }
    entries(path)?.iter().map(|path| size_of(path)).sum()
}

/// What lies in a folder; nothing where there is none.
fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs_err::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn is_older(used: SystemTime, idle: Duration, now: SystemTime) -> bool {
    now.duration_since(used).is_ok_and(|age| age > idle)
}

#[cfg(test)]
mod tests;

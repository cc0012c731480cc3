//! Manifests that other runs of this repository published meanwhile: several runs may go on at once,
//! each in a working tree of its own, and all promote into one folder.

use std::path::Path;
use std::time::{Duration, SystemTime};

use super::others;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::layout;
use crate::domain::summary::Summary;
use crate::git::error::Error;
use crate::git::repository::Repository;
use crate::store::attestation::Attestation;
use crate::store::folder::TEMPORARY;
use crate::store::{Journal, StateFolder};

/// More runs than can end while one round is open.
const MOST: usize = 64;
/// How often a promotion under way is looked at.
const PAUSE: Duration = Duration::from_millis(50);
/// How many looks a measurement takes: 10 s, since the run may have died in it.
pub(crate) const LOOKS: u32 = 200;

/// Whether the folder is as it was, but for manifests that the journals of other runs vouch for, byte
/// by byte. One that was changed, taken away or written by anybody else is told by the digest of the
/// rest, or has no journal.
pub(super) fn since(
    repo: &Repository,
    approvals: &Path,
    own: &str,
    before: &Digest,
) -> Result<bool, Failure> {
    let Some(state) = StateFolder::find(&repo.common_dir)? else {
        return Ok(false);
    };
    let failed = |error| Failure::from(Error::Io(error));
    let newest = newest(approvals, own).map_err(failed)?;
    let mut without = vec![own];
    for name in newest.iter().take(MOST) {
        if !is_vouched(&state, approvals, name) {
            return Ok(false);
        }
        without.push(name);
        if others(approvals, &without).map_err(failed)? == *before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The files of the folder, those written last first.
fn newest(approvals: &Path, own: &str) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    // What else lies in the folder's place was told by the digest.
    if !approvals.is_dir() {
        return Ok(Vec::new());
    }
    for entry in fs_err::read_dir(approvals)? {
        let entry = entry?;
        let time: SystemTime = fs_err::symlink_metadata(entry.path())?.modified()?;
        if let Ok(name) = entry.file_name().into_string()
            && name != own
            && !name.starts_with(TEMPORARY)
        {
            files.push((time, name));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files.into_iter().map(|(_, name)| name).collect())
}

/// Whether the run that a manifest names published exactly these bytes.
fn is_vouched(state: &StateFolder, approvals: &Path, name: &str) -> bool {
    let path = approvals.join(name);
    let is_file = fs_err::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    let (true, Some((run, summary)), Ok(bytes)) =
        (is_file, summary_of(state, name), fs_err::read(&path))
    else {
        return false;
    };
    Attestation::of(run, &summary).manifest_sha256 == Some(Digest::of(&bytes))
}

/// What the journal says of the run that a manifest names.
fn summary_of(state: &StateFolder, name: &str) -> Option<(LoopId, Summary)> {
    let run = layout::manifest_run(name)?;
    let entries = Journal::load(state, run).ok()?;
    let events = entries.iter().map(|entry| (entry.at, &entry.event));
    Some((run, Summary::of(events)))
}

/// Waits while a run promotes whose manifest lies there already: its journal says so only then. What
/// was measured meanwhile is to be measured again. `looks` are those that are left.
pub(super) fn settled(repo: &Repository, approvals: &Path, own: &str, looks: &mut u32) {
    let Ok(Some(state)) = StateFolder::find(&repo.common_dir) else {
        return;
    };
    let is_promoting = |name: &String| {
        let said = summary_of(&state, name);
        said.is_some_and(|(_, said)| said.end.is_none() && said.promotion.is_none())
    };
    // A folder that cannot be read is told by whoever measures it.
    let mut names = newest(approvals, own).unwrap_or_default();
    names.truncate(MOST);
    loop {
        names.retain(is_promoting);
        if names.is_empty() || *looks == 0 {
            return;
        }
        *looks -= 1;
        std::thread::park_timeout(PAUSE);
    }
}

//! Manifests of other runs of this repository: several runs may go on at once, each in a working tree of its
//! own, and all promote into one folder.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

use super::{feed, field, names_in};
use crate::domain::digest::Digest;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::layout;
use crate::domain::summary::Summary;
use crate::git::error::Error;
use crate::git::repository::Repository;
use crate::store::attestation::Attestation;
use crate::store::folder::TEMPORARY;
use crate::store::index::Index;
use crate::store::{Entry, Journal, StateFolder};

/// More runs than can end while one round is open.
const MOST: usize = 64;

/// What lies in the folder of the manifests, as far as it counts.
///
/// A run's own does not: one that died while it promoted finds its own when it goes on, promotion compares it
/// byte by byte, and the gate asks the journal. Nor does another's as long as its journal says that it was to be
/// published, and not that it was: the gate believes none, and whoever takes that run up, or gives it up, takes
/// it away. Neither counts that the folder was made, nor what a write that broke off left.
pub(super) struct Others<'a> {
    folder: &'a Path,
    /// `None` where something else lies in the folder's place.
    names: Option<Vec<OsString>>,
    /// The journals; `None` where there are none, or nothing to ask them about.
    state: Option<StateFolder>,
}

impl<'a> Others<'a> {
    /// Lists them once, and asks the journals after that: what is listed was to be published by then.
    pub(super) fn of(repo: &Repository, folder: &'a Path, own: &str) -> Result<Self, Failure> {
        let failed = |error| Failure::from(Error::Io(error));
        let mut names = match fs_err::symlink_metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(error)),
            Ok(meta) if meta.is_dir() => names_in(folder).map_err(failed)?,
            Ok(_) => {
                return Ok(Self {
                    folder,
                    names: None,
                    state: None,
                });
            }
        };
        names.retain(|name| {
            let shown = name.to_string_lossy();
            shown != own && !shown.starts_with(TEMPORARY)
        });
        let run_of = |name: &OsString| layout::manifest_run(name.to_str()?);
        let runs: Vec<LoopId> = names.iter().filter_map(run_of).collect();
        let state = if runs.is_empty() {
            None
        } else {
            StateFolder::find(&repo.common_dir)?
        };
        if let Some(state) = &state {
            let mut open = Index::not_known_as_approved(state, runs);
            open.retain(|run| Journal::load(state, *run).is_ok_and(|it| is_unrecorded(&it)));
            names.retain(|name| {
                let is_open = run_of(name).is_some_and(|run| open.contains(&run));
                !(is_open && is_file_or_gone(&folder.join(name)))
            });
        }
        Ok(Self {
            folder,
            names: Some(names),
            state,
        })
    }

    /// Their digest, without those that are named.
    pub(super) fn digest(&self, without: &[&str]) -> io::Result<Digest> {
        let mut hasher = Sha256::new();
        let Some(names) = &self.names else {
            feed(&mut hasher, self.folder)?;
            return Ok(Digest::from_hasher(hasher));
        };
        for name in names {
            if !without.iter().any(|it| name == it) {
                field(&mut hasher, name.as_bytes());
                feed(&mut hasher, &self.folder.join(name))?;
            }
        }
        Ok(Digest::from_hasher(hasher))
    }

    /// Whether they are as they were, but for manifests that the journals of other runs vouch for, byte by
    /// byte. One that was changed, taken away or written by anybody else is told by the digest of the rest,
    /// or has no journal.
    pub(super) fn are_as(&self, before: &Digest) -> Result<bool, Failure> {
        let Some(state) = &self.state else {
            return Ok(false);
        };
        let failed = |error| Failure::from(Error::Io(error));
        let newest = self.newest().map_err(failed)?;
        let mut without = Vec::new();
        for name in newest.iter().take(MOST) {
            if !is_vouched(state, self.folder, name) {
                return Ok(false);
            }
            without.push(*name);
            if self.digest(&without).map_err(failed)? == *before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Those that were written last first.
    fn newest(&self) -> io::Result<Vec<&str>> {
        let mut files = Vec::new();
        for name in self.names.iter().flatten() {
            let meta = fs_err::symlink_metadata(self.folder.join(name))?;
            let time: SystemTime = meta.modified()?;
            files.extend(name.to_str().map(|name| (time, name)));
        }
        files.sort_by(|one, other| other.cmp(one));
        Ok(files.into_iter().map(|(_, name)| name).collect())
    }
}

/// Whether a run was to publish, and its journal does not say that it did. Nobody else writes under its name.
fn is_unrecorded(entries: &[Entry]) -> bool {
    let mut is_unrecorded = false;
    for entry in entries {
        if let Event::EffectRequested { effect, .. } = &entry.event
            && let Effect::Promote { .. } = **effect
        {
            is_unrecorded = true;
        } else if let Event::EffectDone { outcome, .. } = &entry.event
            && let Outcome::Promoted {
                result: Done::Ok(_),
            } = &**outcome
        {
            return false;
        }
    }
    is_unrecorded
}

/// What no promotion writes counts, whatever its name. What is gone since it was listed was taken away.
fn is_file_or_gone(path: &Path) -> bool {
    match fs_err::symlink_metadata(path) {
        Ok(meta) => meta.is_file(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
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

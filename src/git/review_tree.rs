//! Review trees: the detached checkouts that reviewers see, one per slot.
//!
//! Layout, under `<cache root>/trees/<loop id>/`: `<slot>/tree/` is what the agent sees,
//! `<slot>/git/` our git directory with our own index; `.owner` says that the folder is ours,
//! `.ids/` which folders we made, `.quarantine/` holds slots in doubt. Trees that wait for a later
//! run lie in `pool`.
//!
//! # Invariants
//! - Nothing that an agent can reach is believed. Between two jobs the tree is proved to hold exactly
//!   the wanted tree and nothing else, each file by its bytes: against its id when it is made or
//!   written, and from then on against what this process took down of it, in memory alone (`stamp`),
//!   once no process of the last job is alive and while no other job began (`look`).
//!   So is the list of files that git gives: the tree's id is computed from it.
//! - A slot in doubt is set aside under another name, and a new one is made; it is never cleaned.
//! - Nothing is removed through a link, on another file system, or in a folder that is not, by
//!   device and inode, one that we made (scenario W02).
//! - A tree that cannot be opened is a failure. There is no fallback (row M-071).
//!
//! Tests: `tests/review_tree.rs`.

mod agent_git;
mod blobs;
mod checkout_names;
mod common;
mod content;
pub(crate) mod folder;
mod index_file;
mod look;
mod own_git;
mod pool;
mod release;
mod reuse;
mod root;
mod stamp;
mod state;
mod sum;
mod switch;
mod walk;
mod write;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::agent_git::View;
use self::common::Common;
use self::content::Content;
use self::folder::Folder;
use self::look::When;
use self::own_git::{Borrowed, OwnGit};
pub use self::pool::Waiting;
use self::root::Root;
use self::state::{Record, State};
use crate::domain::code::Code;
use crate::domain::effect::ReviewTree;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::slot::SlotName;
use crate::git::repository::{ObjectFormat, Repository};
use crate::git::store::ReviewStore;
use crate::git::{self, Git};
use crate::store::state_folder::is_full;

/// Why a review tree is not opened, or not believed.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Doubt(String),
}

/// The review trees of one run.
#[derive(Debug)]
pub struct ReviewTrees {
    git: Git,
    store: ReviewStore,
    common_dir: PathBuf,
    format: ObjectFormat,
    cache_root: PathBuf,
    loop_id: LoopId,
    slots: Mutex<BTreeMap<SlotName, Arc<Mutex<Option<State>>>>>,
    root: Mutex<Option<folder::Place>>,
    common: Mutex<Common>,
    /// How many jobs began.
    begun: AtomicU64,
}

impl ReviewTrees {
    /// The trees of a run; nothing is made until the first is opened.
    #[must_use]
    pub fn new(
        git: &Git,
        store: &ReviewStore,
        repo: &Repository,
        cache_root: &Path,
        loop_id: LoopId,
    ) -> Self {
        Self {
            git: git.clone(),
            store: store.clone(),
            common_dir: repo.common_dir.clone(),
            format: repo.object_format,
            cache_root: cache_root.to_owned(),
            loop_id,
            slots: Mutex::default(),
            root: Mutex::default(),
            common: Mutex::default(),
            begun: AtomicU64::default(),
        }
    }

    /// Opens a slot's tree at a snapshot, proved to hold exactly `tree`, with a new `.git` for
    /// the job. No process of the slot's last job may be alive.
    ///
    /// # Errors
    /// `ReviewTreeFailed`; the round is refused then.
    pub fn open(
        &self,
        slot: &SlotName,
        snapshot: &Oid,
        tree: &Oid,
        base: &Oid,
        base_name: &str,
    ) -> Result<ReviewTree, Failure> {
        let view = View {
            snapshot,
            base,
            base_name,
            common_dir: &self.common_dir,
        };
        let failure = |error: &Error| {
            let message = format!("the review tree of {slot} could not be opened: {error}");
            let failure = Failure::new(Code::ReviewTreeFailed, message);
            match error {
                Error::Git(error) => error.helped(failure),
                Error::Io(error) if is_full(error) => failure.next(["df", "-h"]),
                Error::Io(_) | Error::Doubt(_) => failure,
            }
        };
        self.opened(slot, tree, &view).or_else(|error| match error {
            Error::Git(git::Error::NotFetched { .. }) | Error::Io(_) | Error::Doubt(_) => {
                Err(failure(&error))
            }
            // What the store holds damaged may be here a second time.
            Error::Git(_) => {
                self.store.mended(failure(&error))?;
                self.opened(slot, tree, &view)
                    .map_err(|error| failure(&error))
            }
        })
    }

    fn opened(&self, slot: &SlotName, tree: &Oid, view: &View) -> Result<ReviewTree, Error> {
        let begun = self.jobs_begun();
        let state = self.slot(slot);
        let (refs, content) = std::thread::scope(|scope| {
            scope.spawn(|| self.look_at(slot, &mut locked(&state), When::Wanted { begun }));
            // Git leaves processors free meanwhile.
            self.asked(tree, view)
        })?;
        let mut state = locked(&state);
        // Taken away first: whatever fails from here on, this state is not believed again.
        let seen = match state.take() {
            Some(State::Seen(looked)) => Some(looked),
            Some(State::Given(_) | State::Back(_)) | None => None,
        };
        let root = self.root()?;
        let borrowed = self.borrowed()?;
        let switched = seen.map(|looked| self.switch(&root, slot, looked, content, tree));
        let record = match switched {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                tracing::warn!(%slot, %error, "the review tree is in doubt and set aside");
                self.fresh(&root, slot, &borrowed, tree)?
            }
            None => self.fresh(&root, slot, &borrowed, tree)?,
        };
        let path = root.path().join(slot.as_str());
        let device = record.places.tree.device();
        let index =
            |into| index_file::write(into, self.format, &record.content, &record.known, device);
        let tree_path = path.join("tree");
        agent_git::make(&borrowed, &tree_path, index, view.snapshot, &refs)?;
        let shown = tree_path
            .to_str()
            .ok_or_else(|| Error::Doubt(format!("{} is not UTF-8", tree_path.display())))?
            .to_owned();
        *state = Some(State::Given(record));
        Ok(ReviewTree { path: shown })
    }

    /// What all slots of a round have in common: the refs that agents are shown, and what the tree holds.
    fn asked(&self, tree: &Oid, view: &View) -> Result<(Vec<u8>, Arc<Content>), Error> {
        let mut common = locked(&self.common);
        let refs = common.refs(&self.git, self.store.git_dir(), tree, view)?;
        common.complete(&self.git, &self.store, tree)?;
        let content = common.content(&self.git, &self.store, tree)?;
        Ok((refs, content))
    }

    /// Makes a slot, around a tree of an earlier run where one waits; what lies in its place is
    /// set aside.
    fn fresh(
        &self,
        root: &Root,
        slot: &SlotName,
        borrowed: &Borrowed,
        tree: &Oid,
    ) -> Result<Record, Error> {
        match self.reused(root, slot, borrowed, tree) {
            Ok(Some(record)) => return Ok(record),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%slot, %error, "a waiting review tree is in doubt and set aside");
            }
        }
        root.set_aside(slot)?;
        let places = root.create_slot(slot)?;
        let path = root.path().join(slot.as_str());
        let own = OwnGit::new(&self.git, &path);
        own.fill(borrowed)?;
        self.prove(root, slot, &places, &own, tree)
    }

    /// What a tree holds.
    fn content(&self, tree: &Oid) -> Result<Arc<Content>, Error> {
        locked(&self.common).content(&self.git, &self.store, tree)
    }

    fn root(&self) -> Result<Root, Error> {
        let mut known = locked(&self.root);
        let root = Root::ensure(&self.cache_root, self.loop_id)?;
        match *known {
            Some(place) if place != root.place() => Err(Error::Doubt(format!(
                "{} is another folder than before",
                root.path().display()
            ))),
            Some(_) => Ok(root),
            None => {
                *known = Some(root.place());
                Ok(root)
            }
        }
    }

    fn borrowed(&self) -> Result<Borrowed, Error> {
        let folders = git::alternates::all(&self.store.objects())?;
        let shallow = match fs_err::read(self.store.git_dir().join("shallow")) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        Ok(Borrowed {
            format: self.format,
            alternates: git::alternates::to_bytes(&folders),
            shallow,
        })
    }

    fn slot(&self, slot: &SlotName) -> Arc<Mutex<Option<State>>> {
        Arc::clone(locked(&self.slots).entry(slot.clone()).or_default())
    }

    /// Never uses a slot's tree again: somebody of its last job may live. The next use sets it aside
    /// and makes another one.
    pub fn distrust(&self, slot: &SlotName) {
        *locked(&self.slot(slot)) = None;
    }

    /// Removes everything that this run made, links not followed, but trees that may wait for a
    /// later run; returns what is left, each with its reason. No process of a job may be alive.
    #[must_use]
    pub fn release(&self) -> Vec<String> {
        if let Err(error) = self.spare() {
            tracing::warn!(%error, "the review trees do not wait for a later run");
        }
        *locked(&self.common) = Common::default();
        let expected = locked(&self.root).take();
        release::release(&self.cache_root, self.loop_id, expected)
    }
}

pub(crate) use release::NOT_OURS;

/// Removes everything that a run made here whose engine is dead, as [`ReviewTrees::release`].
#[must_use]
pub fn release_run(cache_root: &Path, loop_id: LoopId) -> Vec<String> {
    release::release(cache_root, loop_id, None)
}

/// A slot's folder and its tree.
#[derive(Debug)]
struct SlotFolders {
    slot: Folder,
    tree: Folder,
}

fn nothing_left(left: &[String]) -> Result<(), Error> {
    match left.first() {
        None => Ok(()),
        Some(left) => Err(Error::Doubt(format!("cannot be removed: {left}"))),
    }
}

/// What a panicking thread left is whole: every change is a single assignment.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn c_name(name: &str) -> io::Result<CString> {
    c_bytes(name.as_bytes())
}

fn c_bytes(name: &[u8]) -> io::Result<CString> {
    CString::new(name).map_err(io::Error::other)
}

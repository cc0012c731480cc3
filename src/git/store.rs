//! The review store: our private bare repository beside each source repository.
//!
//! Snapshots live here, never in the user's repository, whose objects it borrows by
//! `objects/info/alternates`. Runs hold a shared lock on it; cleanup takes the exclusive one.
//!
//! Layout, under `<cache root>/stores/`: `<key>/` the bare repository, `<key>.lock` the runs'
//! lock, `<key>.build` held while it is checked, made or mended, `<key>.damaged-<n>` what was set aside
//! of it: damaged packs, or all of it.
//! Temporary indexes lie in `<key>/run-loop-tmp/`, the names of held packs in
//! `<key>/run-loop-packs/`, what git-lfs keeps in `<key>/run-loop-lfs/`; `<key>/run-loop-damaged` says
//! that a run found a damaged pack. The lock's own time says when a store was opened last.

mod mend;
pub(crate) mod needed;
mod packs;
mod place;
mod plan;
mod promised;
mod tidy;
pub mod upkeep;

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::git::alternates;
use crate::git::error::path_shown;
use crate::git::program::Git;
use crate::git::repository::{ObjectFormat, Repository};
use crate::git::store::needed::Runs;
use crate::git::store::place::{lock_file, own_folder, put, set_aside, unusable};
use crate::git::store::plan::{Plan, State};
pub use crate::git::store::tidy::Budget;
use crate::lock::{Locked, Sharing};

/// The open review store of one repository; the shared lock goes with its last clone.
#[derive(Debug, Clone)]
pub struct ReviewStore {
    git_dir: PathBuf,
    format: ObjectFormat,
    promisor: bool,
    _lock: Arc<Locked<File>>,
}

impl ReviewStore {
    /// Opens the store of a repository; makes it, or makes it anew, where needed.
    ///
    /// # Errors
    /// `StateUnwritable` when the cache folder or the store is not ours or cannot be used, or when
    /// a damaged store is in use by another run.
    pub fn open(git: &Git, repo: &Repository, cache_root: &Path) -> Result<Self, Failure> {
        Self::open_within(git, repo, cache_root, &Budget::default())
    }

    /// Opens the store as [`Self::open`] does; where no run holds it, what is beyond the budget
    /// goes first.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_within(
        git: &Git,
        repo: &Repository,
        cache_root: &Path,
        budget: &Budget,
    ) -> Result<Self, Failure> {
        let stores = cache_root.join("stores");
        own_folder(cache_root)?;
        own_folder(&stores)?;
        let key = key(&repo.common_dir)
            .map_err(|error| Failure::new(Code::NotARepository, error.to_string()))?;
        let git_dir = stores.join(&key);
        let building = lock_file(&stores.join(format!("{key}.build")))?;
        let building =
            Locked::wait(building, Sharing::Exclusive).map_err(|error| unusable(&stores, error))?;
        let lock = lock_file(&stores.join(format!("{key}.lock")))?;
        lock.write_all_at(b"\n", 0)
            .map_err(|error| unusable(&stores, error))?;
        let plan = Plan::of(git, repo)?;
        let damage = match plan.examine(git, &git_dir)? {
            State::Sound => {
                tidy_alone(git, repo, &git_dir, &lock, budget);
                None
            }
            State::Missing => {
                plan.build(&git_dir)?;
                None
            }
            State::Doubtful(what) => {
                let _alone = alone(&git_dir, &lock, &what)?;
                plan.mend(git, repo, &git_dir)?
            }
            State::Damaged(what) => Some(what),
        };
        if let Some(what) = damage {
            let _alone = alone(&git_dir, &lock, &what)?;
            set_aside(&git_dir)?;
            plan.build(&git_dir)?;
        }
        let lock =
            Locked::wait(lock, Sharing::Shared).map_err(|error| unusable(&git_dir, error))?;
        tidy_others(&stores, &key, lock.file(), budget);
        let store = Self {
            git_dir,
            format: repo.object_format,
            promisor: plan.promisor,
            _lock: Arc::new(lock),
        };
        store.refresh(repo)?;
        if let Some(what) = plan.complaint(git, &store.git_dir)? {
            // Mended or new, it still complains: the user's own objects are what is damaged.
            let message = format!("git cannot read the repository's objects: {what}");
            return Err(Failure::new(Code::GitFailed, message).next([
                "git".to_owned(),
                format!("--git-dir={}", repo.common_dir.to_string_lossy()),
                "fsck".to_owned(),
            ]));
        }
        drop(building);
        Ok(store)
    }

    /// Where the store of a repository lies, if it has one; nothing is made or locked.
    #[must_use]
    pub fn find(repo: &Repository, cache_root: &Path) -> Option<PathBuf> {
        Self::lies_at(&repo.common_dir, cache_root)
    }
    /// The same of the repository whose common folder this is.
    #[must_use]
    pub fn lies_at(common_dir: &Path, cache_root: &Path) -> Option<PathBuf> {
        let git_dir = cache_root.join("stores").join(key(common_dir).ok()?);
        git_dir.is_dir().then_some(git_dir)
    }

    /// Whether the store that lies there still holds a commit for a run. What cannot be read is believed to
    /// be there.
    #[must_use]
    pub fn holds(git_dir: &Path, run: LoopId, commit: &Oid) -> bool {
        let folder = git_dir.join("refs/run-loop").join(run.to_string());
        let names = match fs_err::read_dir(folder) {
            Ok(names) => names,
            Err(error) => return error.kind() != io::ErrorKind::NotFound,
        };
        for name in names {
            let Ok(held) = name.and_then(|name| fs_err::read_to_string(name.path())) else {
                return true;
            };
            if held.trim_end() == commit.as_str() {
                return true;
            }
        }
        false
    }

    /// The bare repository.
    #[must_use]
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }
    /// Where new objects are written.
    #[must_use]
    pub fn objects(&self) -> PathBuf {
        self.git_dir.join("objects")
    }
    /// Where temporary indexes lie.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.git_dir.join("run-loop-tmp")
    }
    /// Whether objects may be missing here because a promisor remote has them.
    #[must_use]
    pub fn is_promisor(&self) -> bool {
        self.promisor
    }

    /// Holds a snapshot by a ref of the store, and its pack by a record, so that a later clean-up
    /// leaves both. Without a pack nothing of it is new here.
    ///
    /// # Errors
    /// `StateUnwritable` when one cannot be written.
    pub(crate) fn hold(&self, name: &str, snapshot: &Oid, pack: &str) -> Result<(), Failure> {
        // A ref of our own store, whose format we chose, is a file: no process is needed.
        for (folder, text) in [
            ("run-loop-packs", pack),
            ("refs/run-loop", snapshot.as_str()),
        ] {
            let path = self.git_dir.join(folder).join(name);
            let folder = path.parent().unwrap_or(&path);
            fs_err::create_dir_all(folder)
                .and_then(|()| put(&path, Some(format!("{text}\n").as_bytes())))
                .map_err(|error| unusable(&path, error))?;
        }
        Ok(())
    }

    /// Brings the borrowed folders and the shallow boundary up to date with the repository.
    ///
    /// # Errors
    /// `StateUnwritable` when a file cannot be read or written.
    pub fn refresh(&self, repo: &Repository) -> Result<(), Failure> {
        refresh(&self.git_dir, repo).map_err(|error| unusable(&self.git_dir, error))
    }
}

/// A damaged store for ourselves. It is given back before it is shared; nobody takes it meanwhile without the
/// lock on what is checked or made.
fn alone<'a>(git_dir: &Path, lock: &'a File, what: &str) -> Result<Locked<&'a File>, Failure> {
    let alone =
        Locked::attempt(lock, Sharing::Exclusive).map_err(|error| unusable(git_dir, error))?;
    alone.ok_or_else(|| {
        let message = format!(
            "the review store {} is damaged ({what}) and in use by another run",
            path_shown(git_dir)
        );
        Failure::new(Code::StateUnwritable, message).next(["run-loop", "status"])
    })
}

/// Tidies a store where no run holds it. It is never more than untidy when that fails.
fn tidy_alone(git: &Git, repo: &Repository, git_dir: &Path, lock: &File, budget: &Budget) {
    let Ok(Some(_alone)) = Locked::attempt(lock, Sharing::Exclusive) else {
        return;
    };
    // The file system's time: what was written is compared with nothing else.
    let tidied = || {
        let now = lock.metadata()?.modified()?;
        let mut runs = Runs::of(&repo.common_dir)?;
        tidy::rounds(git, git_dir, &mut runs, budget, now)
    };
    if let Err(error) = tidied() {
        tracing::warn!(%error, "the review store could not be tidied");
    }
}

/// How often other repositories' stores are looked at.
const DAILY: Duration = Duration::from_hours(24);

/// Tidies the stores of other repositories, once a day.
fn tidy_others(stores: &Path, key: &str, lock: &File, budget: &Budget) {
    let mark = stores.join("tidied");
    let tidied = || {
        let now = lock.metadata()?.modified()?;
        let last = fs_err::symlink_metadata(&mark).and_then(|mark| mark.modified());
        let is_fresh = last.is_ok_and(|last| now.duration_since(last).is_ok_and(|age| age < DAILY));
        if !is_fresh {
            fs_err::write(&mark, "")?;
            tidy::stores(stores, key, budget, now)?;
        }
        io::Result::Ok(())
    };
    if let Err(error) = tidied() {
        tracing::warn!(%error, "the review stores could not be tidied");
    }
}

/// One store per common directory: its path, device and inode.
fn key(common_dir: &Path) -> io::Result<String> {
    let meta = fs_err::metadata(common_dir)?;
    let mut bytes = common_dir.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(format!("{}:{}", meta.dev(), meta.ino()).as_bytes());
    Ok(Digest::of(&bytes).as_str()[..32].to_owned())
}

fn refresh(git_dir: &Path, repo: &Repository) -> io::Result<()> {
    let folders = alternates::all(&repo.objects())?;
    put(
        &git_dir.join("objects/info/alternates"),
        Some(&alternates::to_bytes(&folders)),
    )?;
    let shallow = match fs_err::read(repo.common_dir.join("shallow")) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    put(&git_dir.join("shallow"), shallow.as_deref())
}

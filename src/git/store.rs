//! The review store: our private bare repository beside each source repository.
//!
//! Snapshots live here, never in the user's repository, whose objects it borrows by
//! `objects/info/alternates`. Runs hold a shared lock on it; cleanup takes the exclusive one.
//!
//! Layout, under `<cache root>/stores/`: `<key>/` the bare repository, `<key>.lock` the runs'
//! lock, `<key>.build` held while it is checked or made, `<key>.damaged-<n>` what was set aside.
//! Temporary indexes lie in `<key>/run-loop-tmp/`, the names of held packs in
//! `<key>/run-loop-packs/`. The lock's own time says when a store was opened last.

mod needed;
mod tidy;
pub mod upkeep;

use std::fs::{DirBuilder, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::OFlags;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::alternates;
use crate::git::config::GitConfig;
use crate::git::error::{Error, path_shown, shown};
use crate::git::program::Git;
use crate::git::repository::{ObjectFormat, Repository};
use crate::git::store::needed::Runs;
pub use crate::git::store::tidy::Budget;
use crate::lock::{Locked, Sharing};

/// The open review store of one repository; the shared lock goes with its last clone.
#[derive(Debug, Clone)]
pub struct ReviewStore {
    git_dir: PathBuf,
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
        match plan.examine(git, &git_dir)? {
            State::Sound => tidy_alone(git, repo, &git_dir, &lock, budget),
            State::Missing => plan.build(&git_dir)?,
            State::Damaged(what) => {
                // Given back before it is shared below; nobody takes it meanwhile without `building`.
                let alone = Locked::attempt(&lock, Sharing::Exclusive)
                    .map_err(|error| unusable(&git_dir, error))?;
                if alone.is_none() {
                    let message = format!(
                        "the review store {} is damaged ({what}) and in use by another run",
                        path_shown(&git_dir)
                    );
                    return Err(
                        Failure::new(Code::StateUnwritable, message).next(["run-loop", "status"])
                    );
                }
                set_aside(&git_dir)?;
                plan.build(&git_dir)?;
            }
        }
        let lock =
            Locked::wait(lock, Sharing::Shared).map_err(|error| unusable(&git_dir, error))?;
        tidy_others(&stores, &key, lock.file(), budget);
        let store = Self {
            git_dir,
            promisor: plan.promisor,
            _lock: Arc::new(lock),
        };
        store.refresh(repo)?;
        if let Some(what) = plan.complaint(git, &store.git_dir)? {
            // Set aside or new, it still complains: the user's own objects are what is damaged.
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
        let git_dir = cache_root.join("stores").join(key(&repo.common_dir).ok()?);
        git_dir.is_dir().then_some(git_dir)
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
        std::io::Result::Ok(())
    };
    if let Err(error) = tidied() {
        tracing::warn!(%error, "the review stores could not be tidied");
    }
}

enum State {
    Sound,
    Missing,
    Damaged(String),
}

/// What the store of a repository must look like.
struct Plan {
    format: ObjectFormat,
    config: Vec<u8>,
    promisor: bool,
}

impl Plan {
    fn of(git: &Git, repo: &Repository) -> Result<Self, Failure> {
        let config = GitConfig::read(&git.on(&repo.common_dir))?;
        let remotes = promisor_settings(&config);
        let promisor = !remotes.is_empty();
        let mut text = Vec::new();
        let partial = config.last("extensions.partialclone");
        let extended = partial.is_some() || repo.object_format == ObjectFormat::Sha256;
        let version = u8::from(extended);
        text.extend_from_slice(
            format!(
                "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = true\n"
            )
            .as_bytes(),
        );
        if extended {
            text.extend_from_slice(b"[extensions]\n");
            if repo.object_format == ObjectFormat::Sha256 {
                text.extend_from_slice(b"\tobjectformat = sha256\n");
            }
            if let Some(remote) = partial {
                text.extend_from_slice(b"\tpartialclone = ");
                quote(&mut text, remote);
                text.push(b'\n');
            }
        }
        text.extend_from_slice(&remotes);
        Ok(Self {
            format: repo.object_format,
            config: text,
            promisor,
        })
    }

    /// Whether the store at `git_dir` can be used; one that is not ours is refused.
    fn examine(&self, git: &Git, git_dir: &Path) -> Result<State, Failure> {
        match fs_err::symlink_metadata(git_dir) {
            Ok(_) => check_ours(git_dir)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(State::Missing);
            }
            Err(error) => return Err(unusable(git_dir, error)),
        }
        let is_folder = |name: &str| {
            fs_err::symlink_metadata(git_dir.join(name)).is_ok_and(|meta| meta.is_dir())
        };
        let folders = [
            "objects",
            "objects/info",
            "objects/pack",
            "refs",
            "run-loop-tmp",
        ];
        if let Some(name) = folders.iter().find(|name| !is_folder(name)) {
            return Ok(State::Damaged(format!("no folder {name}")));
        }
        for (name, bytes) in [("HEAD", HEAD), ("config", self.config.as_slice())] {
            if !fs_err::read(git_dir.join(name)).is_ok_and(|found| found == bytes) {
                return Ok(State::Damaged(format!("its {name} is not as it was made")));
            }
        }
        Ok(match self.complaint(git, git_dir)? {
            None => State::Sound,
            Some(what) => State::Damaged(what),
        })
    }

    /// What git says when it looks for an object that exists nowhere, and so opens every pack.
    fn complaint(&self, git: &Git, git_dir: &Path) -> Result<Option<String>, Failure> {
        if self.promisor && git.version() < (2, 45) {
            // An older git would ask the network for the object.
            return Ok(None);
        }
        let nowhere = match self.format {
            ObjectFormat::Sha1 => "1".repeat(40),
            ObjectFormat::Sha256 => "1".repeat(64),
        };
        let command = git
            .on(git_dir)
            // Missing objects must not be fetched for this question.
            .env("GIT_NO_LAZY_FETCH", "1")
            .args([
                "-c",
                "extensions.partialClone=",
                "cat-file",
                "--batch-check",
            ])
            .stdin(format!("{nowhere}\n"));
        match crate::git::program::finish(&command) {
            Ok(answer) if answer == format!("{nowhere} missing\n").as_bytes() => Ok(None),
            Ok(answer) => Ok(Some(shown(&answer))),
            Err(error @ (Error::Failed { .. } | Error::Complained { .. })) => {
                Ok(Some(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn build(&self, git_dir: &Path) -> Result<(), Failure> {
        let work = || -> std::io::Result<()> {
            // Whole or not at all: made under another name, then moved.
            let parent = git_dir.parent().unwrap_or(git_dir);
            let fresh = tempfile::Builder::new()
                .prefix("new-")
                .permissions(std::fs::Permissions::from_mode(0o700))
                .tempdir_in(parent)?;
            for name in [
                "objects/info",
                "objects/pack",
                "refs/heads",
                "refs/tags",
                "run-loop-tmp",
            ] {
                DirBuilder::new()
                    .mode(0o700)
                    .recursive(true)
                    .create(fresh.path().join(name))?;
            }
            fs_err::write(fresh.path().join("HEAD"), HEAD)?;
            fs_err::write(fresh.path().join("config"), &self.config)?;
            fs_err::rename(fresh.path(), git_dir)?;
            // It is the store now, no longer a temporary folder.
            let _moved = fresh.keep();
            Ok(())
        };
        work().map_err(|error| unusable(git_dir, error))
    }
}

const HEAD: &[u8] = b"ref: refs/heads/none\n";

/// What makes a remote a promisor: without it, git calls its missing objects damage.
fn promisor_settings(config: &GitConfig) -> Vec<u8> {
    let mut text = Vec::new();
    for remote in config.subsections("remote", &["promisor", "partialclonefilter"]) {
        text.extend_from_slice(b"[remote ");
        quote(&mut text, remote.as_bytes());
        text.extend_from_slice(b"]\n");
        for key in ["url", "promisor", "partialclonefilter"] {
            if let Some(value) = config.last(&format!("remote.{remote}.{key}")) {
                text.extend_from_slice(format!("\t{key} = ").as_bytes());
                quote(&mut text, value);
                text.push(b'\n');
            }
        }
    }
    text
}

/// A value in the configuration's own quotes.
fn quote(text: &mut Vec<u8>, value: &[u8]) {
    text.push(b'"');
    for byte in value {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
}

/// One store per common directory: its path, device and inode.
fn key(common_dir: &Path) -> std::io::Result<String> {
    let meta = fs_err::metadata(common_dir)?;
    let mut bytes = common_dir.as_os_str().as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(format!("{}:{}", meta.dev(), meta.ino()).as_bytes());
    Ok(Digest::of(&bytes).as_str()[..32].to_owned())
}

fn refresh(git_dir: &Path, repo: &Repository) -> std::io::Result<()> {
    let folders = alternates::all(&repo.objects())?;
    put(
        &git_dir.join("objects/info/alternates"),
        Some(&alternates::to_bytes(&folders)),
    )?;
    let shallow = match fs_err::read(repo.common_dir.join("shallow")) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    put(&git_dir.join("shallow"), shallow.as_deref())
}

/// Makes a small file hold exactly `bytes`, or not exist; untouched when it is so already.
fn put(path: &Path, bytes: Option<&[u8]>) -> std::io::Result<()> {
    let now = match fs_err::read(path) {
        Ok(now) => Some(now),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match (bytes, now) {
        (Some(bytes), Some(now)) if bytes == now => Ok(()),
        (Some(bytes), _) => {
            let folder = path.parent().unwrap_or(path);
            let file = tempfile::NamedTempFile::new_in(folder)?;
            fs_err::write(file.path(), bytes)?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        }
        (None, Some(_)) => fs_err::remove_file(path),
        (None, None) => Ok(()),
    }
}

/// Makes a folder of ours, 0700; one that is a link, another user's or open to others is refused.
fn own_folder(path: &Path) -> Result<(), Failure> {
    match DirBuilder::new().mode(0o700).recursive(false).create(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(path);
            DirBuilder::new()
                .mode(0o700)
                .recursive(true)
                .create(parent)
                .and_then(|()| DirBuilder::new().mode(0o700).create(path))
                .map_err(|error| unusable(path, error))?;
        }
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(unusable(path, error));
        }
        Ok(()) | Err(_) => {}
    }
    check_ours(path)
}

/// What is wrong with a folder that others can reach.
const OPEN: &str = "is open to other users";

fn check_ours(path: &Path) -> Result<(), Failure> {
    let meta = fs_err::symlink_metadata(path).map_err(|error| unusable(path, error))?;
    let owner = rustix::process::geteuid().as_raw();
    let wrong = if meta.is_symlink() {
        "is a link"
    } else if !meta.is_dir() {
        "is no folder"
    } else if meta.uid() != owner {
        "belongs to another user"
    } else if meta.mode() & 0o077 != 0 {
        OPEN
    } else {
        return Ok(());
    };
    let message = format!("the folder {} {wrong}", path_shown(path));
    let helps = if wrong == OPEN {
        ["chmod", "go="]
    } else {
        ["ls", "-ld"]
    };
    let words = helps.map(str::to_owned).into_iter();
    Err(Failure::new(Code::StateUnwritable, message)
        .next(words.chain([path.to_string_lossy().into_owned()])))
}

fn lock_file(path: &Path) -> Result<File, Failure> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or_default();
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| unusable(path, error))
}

fn set_aside(git_dir: &Path) -> Result<PathBuf, Failure> {
    let mut number = 1_u32;
    loop {
        let mut name = git_dir.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        let target = PathBuf::from(name);
        if fs_err::symlink_metadata(&target).is_err() {
            fs_err::rename(git_dir, &target).map_err(|error| unusable(git_dir, error))?;
            return Ok(target);
        }
        number += 1;
    }
}

fn unusable(path: &Path, error: impl std::fmt::Display) -> Failure {
    let message = format!("{} cannot be used: {error}", path_shown(path));
    Failure::new(Code::StateUnwritable, message)
}

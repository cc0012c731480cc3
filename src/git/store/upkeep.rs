//! Looking after the review stores of all repositories: which there are, and removing one that
//! nobody uses.
//!
//! Only the locks say that a store is free: `<key>.build` and `<key>.lock`, both held exclusively
//! while it is removed. On a network file system a lock may not reach other machines, so nothing
//! is removed there (scenario W05).

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::needed::Owner;
use super::place::{check_ours, lock_file, set_aside};
use crate::domain::failure::Failure;
use crate::git::review_tree::folder::{Folder, is_folder};
use crate::git::{Error, store};
use crate::lock::{Locked, Sharing};
use crate::store::file_system::FileSystem;

/// What a folder among the stores is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A store in use, or ready for it.
    Ready,
    /// A store that was set aside as damaged.
    Damaged,
    /// A store whose making broke off, or goes on.
    Unfinished,
}

/// A folder among the stores.
#[derive(Debug, Clone)]
pub struct StoreFolder {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// How many bytes it takes.
    pub bytes: u64,
    /// When a run opened it last; `None` when that is unknown.
    pub last_used: Option<SystemTime>,
    /// The common directory of its repository, proved by its key; `None` when it is not there.
    pub common_dir: Option<PathBuf>,
    /// Whether nothing, or another repository, lies where its repository was; not where that cannot be looked
    /// at, or the store does not say where.
    pub gone: bool,
}

impl StoreFolder {
    /// The key that its locks are named by.
    fn key(&self) -> &str {
        self.name.split('.').next().unwrap_or(&self.name)
    }
}

/// The folder of the stores.
#[derive(Debug)]
pub struct Upkeep {
    path: PathBuf,
    folder: Folder,
}

/// Locks that keep every run off one store, or off making any.
#[derive(Debug)]
pub struct Hold {
    _files: Vec<Locked<File>>,
}

impl Upkeep {
    /// Opens the folder of the stores; `None` where there is none.
    ///
    /// # Errors
    /// `StateUnwritable` when it is not ours.
    pub fn open(cache_root: &Path) -> Result<Option<Self>, Failure> {
        let path = cache_root.join("stores");
        match fs_err::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(store::unusable(&path, error)),
            Ok(_) => check_ours(&path)?,
        }
        let folder = Folder::open(&path).map_err(|error| store::unusable(&path, error))?;
        Ok(Some(Self { path, folder }))
    }
    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
    /// Whether locks may not hold other machines off.
    ///
    /// # Errors
    /// When the file system cannot be asked.
    pub fn is_shared(&self) -> io::Result<bool> {
        Ok(FileSystem::of(&self.path)?.is_shared)
    }

    /// Every store, in the order of names; files and unknown folders are left out.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> io::Result<Vec<StoreFolder>> {
        let mut found = Vec::new();
        for name in self.folder.names()? {
            let Ok(text) = name.to_str() else { continue };
            let Some(kind) = kind(text) else { continue };
            if !self.folder.stat(&name)?.as_ref().is_some_and(is_folder) {
                continue;
            }
            let mut store = StoreFolder {
                name: text.to_owned(),
                kind,
                bytes: self.folder.size(&name),
                last_used: None,
                common_dir: None,
                gone: false,
            };
            let lock = self.path.join(format!("{}.lock", store.key()));
            store.last_used = fs_err::symlink_metadata(lock)
                .and_then(|meta| meta.modified())
                .ok();
            match Owner::of(&self.path.join(&store.name), store.key()) {
                Ok(Owner::Repository(common_dir)) => store.common_dir = Some(common_dir),
                Ok(Owner::Nobody | Owner::NotThere) => store.gone = true,
                Ok(Owner::Unknown) | Err(_) => {}
            }
            found.push(store);
        }
        Ok(found)
    }

    /// Keeps every run off a store; `None` while one uses it, or makes it.
    ///
    /// # Errors
    /// When a lock cannot be tried.
    pub fn hold(&self, store: &StoreFolder) -> Result<Option<Hold>, Failure> {
        let key = store.key();
        // In the order in which a run takes them.
        self.locked(&[format!("{key}.build"), format!("{key}.lock")])
    }
    /// Keeps every run from making a store; `None` while one does.
    ///
    /// The folders that were listed before are then nobody's: whoever made one held its lock file
    /// from before until it had its final name.
    ///
    /// # Errors
    /// When a lock cannot be tried.
    pub fn hold_making(&self) -> Result<Option<Hold>, Failure> {
        let names = self
            .folder
            .names()
            .map_err(|error| store::unusable(&self.path, error))?;
        let names: Vec<String> = names
            .iter()
            .filter_map(|name| name.to_str().ok())
            .filter(|name| name.as_bytes().ends_with(b".build"))
            .map(str::to_owned)
            .collect();
        self.locked(&names)
    }
    fn locked(&self, names: &[String]) -> Result<Option<Hold>, Failure> {
        let mut files = Vec::new();
        for name in names {
            let file = lock_file(&self.path.join(name))?;
            match Locked::attempt(file, Sharing::Exclusive) {
                Ok(Some(lock)) => files.push(lock),
                Ok(None) => return Ok(None),
                Err(error) => return Err(store::unusable(&self.path.join(name), error)),
            }
        }
        Ok(Some(Hold { _files: files }))
    }

    /// Removes a store that is held; what is left is returned, each with its reason.
    #[must_use]
    pub fn remove(&self, store: &StoreFolder, _held: &Hold) -> Vec<String> {
        self.removed(store)
            .unwrap_or_else(|error| vec![error.to_string()])
    }
    fn removed(&self, store: &StoreFolder) -> Result<Vec<String>, Error> {
        let mut name = store.name.clone();
        if store.kind == Kind::Ready {
            // Under its own name it is whole or not there, also when this breaks off.
            let aside = set_aside(&self.path.join(&name))
                .map_err(|failure| io::Error::other(failure.message))?;
            name = aside
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or(name);
        }
        let name = CString::new(name).map_err(io::Error::other)?;
        Ok(self.folder.remove(&name))
    }
}

/// What a name says; nothing is done by it alone.
fn kind(name: &str) -> Option<Kind> {
    let is_key = |text: &str| {
        text.len() == 32
            && text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    if name.starts_with("new-") {
        return Some(Kind::Unfinished);
    }
    match name.split_once(".damaged-") {
        Some((key, number)) => {
            (is_key(key) && number.parse::<u32>().is_ok()).then_some(Kind::Damaged)
        }
        None => is_key(name).then_some(Kind::Ready),
    }
}

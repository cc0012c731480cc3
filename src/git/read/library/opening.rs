//! Which repositories libgit2 is trusted with, and opening one.
//!
//! Decided anew for each opening, before libgit2 reads anything, from the repository's own files.

use std::ffi::OsStr;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use git2::{ConfigLevel, RepositoryOpenFlags};

use super::super::Unsure;
use crate::git::alternates;

/// A configuration that is longer is nobody's.
const LONGEST_CONFIG: u64 = 1 << 20;

/// One git directory, opened.
pub(crate) struct Opened {
    /// The directory.
    pub(crate) git_dir: PathBuf,
    /// The one that all working trees share.
    pub(crate) common_dir: PathBuf,
    /// The folders of its objects, its own and borrowed ones.
    pub(super) objects: Vec<PathBuf>,
    pub(super) repository: git2::Repository,
}

impl Opened {
    /// Opens a git directory itself: no search, no variables, no user's and no machine's configuration.
    pub(crate) fn at(git_dir: &Path) -> Result<Self, Unsure> {
        let common_dir = folder_of_all(git_dir)?;
        plain_repository(git_dir, &common_dir)?;
        without_home()?;
        let flags = RepositoryOpenFlags::NO_SEARCH
            | RepositoryOpenFlags::NO_DOTGIT
            | RepositoryOpenFlags::BARE;
        let nowhere: [&OsStr; 0] = [];
        let opened = Self {
            git_dir: git_dir.to_owned(),
            objects: alternates::all(&common_dir.join("objects"))?,
            common_dir,
            repository: git2::Repository::open_ext(git_dir, flags, nowhere)?,
        };
        opened.known_extensions()?;
        Ok(opened)
    }

    /// A value of the repository's own configuration: whether it says anything under a name.
    pub(crate) fn configured(&self, name: &str) -> Result<bool, Unsure> {
        match self.repository.config()?.get_entry(name) {
            Ok(_) => Ok(true),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A switch of the repository's own configuration; off when it is not there.
    pub(crate) fn is_on(&self, name: &str) -> Result<bool, Unsure> {
        match self.repository.config()?.get_bool(name) {
            Ok(on) => Ok(on),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Newer formats are refused by libgit2; this refuses what it overlooks in older ones.
    fn known_extensions(&self) -> Result<(), Unsure> {
        let config = self.repository.config()?;
        let version = match config.get_i32("core.repositoryformatversion") {
            Ok(version) => version,
            Err(error) if error.code() == git2::ErrorCode::NotFound => 0,
            Err(error) => return Err(error.into()),
        };
        let mut entries = config.entries(Some("^extensions\\."))?;
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = String::from_utf8_lossy(entry.name_bytes()).to_lowercase();
            let harmless = match name.as_str() {
                "extensions.noop" | "extensions.preciousobjects" | "extensions.worktreeconfig" => {
                    true
                }
                "extensions.objectformat" => entry.value_bytes() == b"sha1",
                _ => false,
            };
            if version != 1 || !harmless {
                return Err(self.left("an extension of the format that is left to git"));
            }
        }
        if !matches!(version, 0 | 1) {
            return Err(self.left("a format that is left to git"));
        }
        Ok(())
    }

    pub(super) fn left(&self, what: &'static str) -> Unsure {
        left(&self.common_dir, what)
    }
}

/// The directory that all working trees share.
fn folder_of_all(git_dir: &Path) -> Result<PathBuf, Unsure> {
    let file = git_dir.join("commondir");
    let Some(bytes) = read_plain(&file)? else {
        return Ok(git_dir.to_owned());
    };
    let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    if text.is_empty() || text.contains(&b'\n') {
        return Err(left(&file, "a file of another form"));
    }
    Ok(fs_err::canonicalize(git_dir.join(OsStr::from_bytes(text)))?)
}

/// Whether a file or folder belongs to this user. Git asks the user's configuration about others'.
pub(crate) fn is_mine(path: &Path) -> Result<(), Unsure> {
    let owner = fs_err::symlink_metadata(path)?.uid();
    if owner == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(left(path, "somebody else's"))
    }
}

/// Refuses what libgit2 reads otherwise than git as we call it, or what it could hang on.
fn plain_repository(git_dir: &Path, common_dir: &Path) -> Result<(), Unsure> {
    for folder in [git_dir, common_dir] {
        is_mine(folder)?;
        for file in ["HEAD", "config", "packed-refs", "objects/info/alternates"] {
            plain_or_absent(&folder.join(file))?;
        }
        plain_or_absent(&folder.join("gitdir"))?;
        // Shallow commits and grafts change ancestry; refs in tables, and a working tree's own
        // configuration, are read by git alone.
        for odd in ["shallow", "info/grafts", "reftable", "config.worktree"] {
            let path = folder.join(odd);
            match fs_err::symlink_metadata(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Err(left(&path, "left to git")),
            }
        }
    }
    let file = common_dir.join("config");
    let text = read_plain(&file)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).to_lowercase();
    // Files that it includes can be anything, anywhere; a partial clone fetches what it lacks.
    if ["include", "promisor", "partialclone"]
        .iter()
        .any(|word| text.contains(word))
    {
        return Err(left(&file, "settings that are left to git"));
    }
    Ok(())
}

pub(super) fn plain_or_absent(path: &Path) -> Result<(), Unsure> {
    match fs_err::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => Ok(()),
        Ok(_) => Err(left(path, "no regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn read_plain(path: &Path) -> Result<Option<Vec<u8>>, Unsure> {
    plain_or_absent(path)?;
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut bytes = Vec::new();
    file.take(LONGEST_CONFIG + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_CONFIG {
        return Err(left(path, "too long"));
    }
    Ok(Some(bytes))
}

pub(super) fn left(path: &Path, what: &'static str) -> Unsure {
    Unsure::Place {
        path: path.to_owned(),
        what,
    }
}

/// Takes libgit2's search paths away, once and before anything else: it finds no configuration beside
/// the repository's own.
#[expect(
    unsafe_code,
    reason = "libgit2's options are globals; only this sets one, and nobody opens a repository before"
)]
fn without_home() -> Result<(), Unsure> {
    static DONE: OnceLock<bool> = OnceLock::new();
    let done = DONE.get_or_init(|| {
        [
            ConfigLevel::ProgramData,
            ConfigLevel::System,
            ConfigLevel::XDG,
            ConfigLevel::Global,
        ]
        .into_iter()
        .all(|level| {
            // SAFETY: behind a lock that every caller waits for, and every opening comes after it.
            unsafe { git2::opts::set_search_path(level, "") }.is_ok()
        })
    });
    if *done {
        Ok(())
    } else {
        Err(Unsure::question("", "libgit2 keeps its search paths"))
    }
}

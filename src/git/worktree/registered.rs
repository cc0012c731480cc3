//! What git has registered under `<common dir>/worktrees/`, read from its files: the `-z` form of
//! `git worktree list` is younger than the oldest git that is supported.

use std::io;
use std::path::{Path, PathBuf};

use crate::git::error::{path_of, shown};

/// One registered working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    /// Its own git directory.
    pub(crate) admin: PathBuf,
    /// Where its working tree lies, or lay; `None` when git's record of it is damaged.
    pub(crate) path: Option<PathBuf>,
    /// The ref that its HEAD names; `None` when it is detached or cannot be read.
    pub(crate) branch: Option<String>,
    /// Why it is locked, where it is; may be empty.
    pub(crate) locked: Option<String>,
}

/// Every registered linked working tree.
pub(crate) fn all(common_dir: &Path) -> io::Result<Vec<Registered>> {
    let folder = common_dir.join("worktrees");
    let entries = match fs_err::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(read(entry.path())?);
        }
    }
    found.sort_by(|a, b| a.admin.cmp(&b.admin));
    Ok(found)
}

/// The record in one git directory.
pub(crate) fn read(admin: PathBuf) -> io::Result<Registered> {
    let line = |name: &str| -> io::Result<Option<Vec<u8>>> {
        match fs_err::read(admin.join(name)) {
            Ok(mut bytes) => {
                while bytes.last().is_some_and(u8::is_ascii_whitespace) {
                    bytes.pop();
                }
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    };
    let path = line("gitdir")?.and_then(|bytes| {
        let pointer = admin.join(path_of(&bytes));
        let names_git = pointer.file_name().is_some_and(|name| name == ".git");
        pointer.parent().filter(|_| names_git).map(resolved)
    });
    let branch = line("HEAD")?
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix("ref: ").map(str::to_owned));
    let locked = line("locked")?.map(|bytes| shown(&bytes));
    Ok(Registered {
        admin,
        path,
        branch,
        locked,
    })
}

/// The path without links as far as it exists: git's record stays when the folder is gone.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    for there in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (fs_err::canonicalize(there), path.strip_prefix(there)) {
            return if rest.as_os_str().is_empty() {
                found
            } else {
                found.join(rest)
            };
        }
    }
    path.to_owned()
}

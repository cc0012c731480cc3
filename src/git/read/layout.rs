//! Where a working tree's repository lies, without asking the git program: the plain cases alone.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use git2::RepositoryOpenFlags;

use super::Unsure;
use super::library::{Opened, is_mine};
use crate::git::repository::{ObjectFormat, Repository};

/// The repository of the working tree that `dir`, a canonical path, lies in.
///
/// # Errors
/// Everything that git would have to be asked about: no repository, none with a working tree, one that
/// belongs to somebody else, one whose configuration says where its working tree is.
pub fn of(dir: &Path) -> Result<Repository, Unsure> {
    let source_root = root(dir)?;
    let (git_dir, opened) = at(&source_root)?;
    let control_root = if git_dir == opened.common_dir {
        source_root.clone()
    } else {
        main_of(&opened)?
    };
    Ok(Repository {
        source_root,
        git_dir,
        common_dir: opened.common_dir,
        control_root,
        object_format: ObjectFormat::Sha1,
    })
}

/// The nearest folder with a `.git`.
fn root(dir: &Path) -> Result<PathBuf, Unsure> {
    let device = fs_err::metadata(dir)?.dev();
    for folder in dir.ancestors() {
        // Git does not search beyond the file system, unless told to.
        if fs_err::metadata(folder)?.dev() != device {
            break;
        }
        if exists(&folder.join(".git"))? {
            return Ok(folder.to_owned());
        }
        // A bare repository, or the inside of a git directory.
        if exists(&folder.join("HEAD"))? && exists(&folder.join("objects"))? {
            break;
        }
    }
    Err(left(dir, "in no plain working tree"))
}

/// The git directory of a working tree's root.
fn at(root: &Path) -> Result<(PathBuf, Opened), Unsure> {
    let dot_git = root.join(".git");
    let kind = fs_err::symlink_metadata(&dot_git)?.file_type();
    if !kind.is_dir() && !kind.is_file() {
        return Err(left(&dot_git, "neither a folder nor a file"));
    }
    is_mine(root)?;
    is_mine(&dot_git)?;
    let git_dir = if kind.is_dir() {
        dot_git
    } else {
        pointed(root, &dot_git)?
    };
    let opened = Opened::at(&git_dir)?;
    // With these, a working tree is where the configuration says.
    if opened.is_on("core.bare")? || opened.configured("core.worktree")? {
        return Err(left(&opened.common_dir, "a working tree by configuration"));
    }
    if opened.is_on("extensions.worktreeconfig")? {
        return Err(left(&opened.common_dir, "configuration by working tree"));
    }
    // libgit2 finds the same, or git is asked.
    let nowhere: [&str; 0] = [];
    let found = git2::Repository::open_ext(root, RepositoryOpenFlags::NO_SEARCH, nowhere)?;
    let work = found.workdir().map(fs_err::canonicalize).transpose()?;
    let theirs = fs_err::canonicalize(found.path())?;
    let shared = fs_err::canonicalize(found.commondir())?;
    if work.as_deref() == Some(root) && theirs == git_dir && shared == opened.common_dir {
        Ok((git_dir, opened))
    } else {
        Err(left(root, "another place by libgit2"))
    }
}

/// `gitdir: <path>`, the git directory that a `.git` file names.
fn pointed(root: &Path, file: &Path) -> Result<PathBuf, Unsure> {
    /// Longer than any path.
    const CAP: u64 = 8_192;
    if fs_err::symlink_metadata(file)?.len() > CAP {
        return Err(left(file, "too long"));
    }
    let text = fs_err::read(file)?;
    let text = String::from_utf8(text).map_err(|_| left(file, "no text"))?;
    let path = text
        .strip_prefix("gitdir: ")
        .map(|path| path.trim_end_matches(['\n', '\r']));
    let path = path.filter(|path| !path.is_empty() && !path.contains('\n'));
    let path = path.ok_or_else(|| left(file, "of another form"))?;
    Ok(fs_err::canonicalize(root.join(path))?)
}

/// The main working tree of a linked one's repository: the folder of `.git`, if it says so itself.
fn main_of(linked: &Opened) -> Result<PathBuf, Unsure> {
    let common_dir = &linked.common_dir;
    let main = common_dir
        .parent()
        .filter(|_| common_dir.file_name().is_some_and(|name| name == ".git"));
    let main = main.ok_or_else(|| left(common_dir, "no plain main working tree"))?;
    let (git_dir, _) = at(main)?;
    if git_dir == *common_dir {
        Ok(main.to_owned())
    } else {
        Err(left(main, "another repository's"))
    }
}

fn exists(path: &Path) -> Result<bool, Unsure> {
    match fs_err::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn left(path: &Path, what: &'static str) -> Unsure {
    Unsure::Place {
        path: path.to_owned(),
        what,
    }
}

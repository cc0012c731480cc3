//! Reading objects of a git directory: the review store or a repository.

use std::path::Path;

use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::error::Error;
use crate::git::program::Git;
use crate::git::read::{Object, Peel, Place, Read as _, ask};

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The mode, as git prints it (`100644`).
    pub mode: String,
    /// The object.
    pub oid: Oid,
    /// The blob's size in bytes; `None` for trees and submodules.
    pub size: Option<u64>,
    /// The full path from the root of the tree.
    pub path: RepoPath,
}

impl TreeEntry {
    /// Whether it is a regular file, executable or not.
    #[must_use]
    pub fn is_file(&self) -> bool {
        matches!(self.mode.as_str(), "100644" | "100755")
    }
    /// Whether it is a folder.
    #[must_use]
    pub fn is_tree(&self) -> bool {
        self.mode == "040000"
    }
    /// Whether it is a submodule.
    #[must_use]
    pub fn is_gitlink(&self) -> bool {
        self.mode == "160000"
    }
}

/// The commit that a revision names; `None` when it names none.
///
/// # Errors
/// When git fails.
pub fn commit_of(git: &Git, git_dir: &Path, rev: &str) -> Result<Option<Oid>, Error> {
    peeled(git, git_dir, rev, Peel::Commit)
}

/// Whether a name resolves at all, be its object there or not.
///
/// # Errors
/// When git fails.
pub(crate) fn resolves(git: &Git, git_dir: &Path, name: &str) -> Result<bool, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.resolves(name),
        |program| program.resolves(name),
    )
}

/// The tree that a revision names; `None` when it names none.
///
/// # Errors
/// When git fails.
pub fn tree_of(git: &Git, git_dir: &Path, rev: &str) -> Result<Option<Oid>, Error> {
    peeled(git, git_dir, rev, Peel::Tree)
}

fn peeled(git: &Git, git_dir: &Path, rev: &str, kind: Peel) -> Result<Option<Oid>, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.peeled(rev, kind),
        |program| program.peeled(rev, kind),
    )
}

/// Whether `ancestor` is an ancestor of `descendant`, or the same commit.
///
/// # Errors
/// When git fails, also for objects that are missing.
pub fn is_ancestor(
    git: &Git,
    git_dir: &Path,
    ancestor: &Oid,
    descendant: &Oid,
) -> Result<bool, Error> {
    if ancestor == descendant {
        return Ok(true);
    }
    ask(
        git,
        Place::new(git_dir),
        |library| library.is_ancestor(ancestor, descendant),
        |program| program.is_ancestor(ancestor, descendant),
    )
}

/// The regular file at `rev:path`; `None` when there is nothing at that path.
///
/// # Errors
/// When git fails, the revision does not exist, or something else than a regular file lies there.
pub fn blob(git: &Git, git_dir: &Path, rev_path: &str) -> Result<Option<Vec<u8>>, Error> {
    let Some((rev, path)) = rev_path.split_once(':') else {
        return Err(Error::answer("git cat-file", rev_path.as_bytes()));
    };
    let Some(entry) = entry(git, git_dir, rev, path)? else {
        return Ok(None);
    };
    if !entry.is_file() {
        return Err(Error::NotAFile {
            rev: rev.to_owned(),
            path: path.to_owned(),
            mode: entry.mode,
        });
    }
    read_blob(git, git_dir, &entry.oid).map(Some)
}

/// How many bytes each of these blobs has.
///
/// # Errors
/// When git fails, also when there is no such blob.
pub(crate) fn blob_sizes(git: &Git, git_dir: &Path, blobs: &[&Oid]) -> Result<Vec<u64>, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.blob_sizes(blobs),
        |program| program.blob_sizes(blobs),
    )
}

/// The bytes of a blob.
///
/// # Errors
/// When git fails, also when there is no such blob.
pub fn read_blob(git: &Git, git_dir: &Path, oid: &Oid) -> Result<Vec<u8>, Error> {
    let names = [oid.to_string()];
    let found = ask(
        git,
        Place::new(git_dir),
        |library| library.objects(&names),
        |program| program.objects(&names),
    )?;
    match found.into_iter().next() {
        Some(Some(Object { kind, bytes, .. })) if kind == "blob" => Ok(bytes),
        _ => Err(Error::answer(
            "git cat-file",
            format!("no blob {oid}").as_bytes(),
        )),
    }
}

/// The entry at one path of a revision's tree; `None` when there is none.
///
/// # Errors
/// When git fails.
pub fn entry(git: &Git, git_dir: &Path, rev: &str, path: &str) -> Result<Option<TreeEntry>, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.entry(rev, path),
        |program| program.entry(rev, path),
    )
}

/// Every file under `folder` (empty: the root) of a revision's tree, in git's order.
///
/// A folder that does not exist has no entries.
///
/// # Errors
/// When git fails.
pub fn tree_entries(
    git: &Git,
    git_dir: &Path,
    rev: &str,
    folder: &str,
) -> Result<Vec<TreeEntry>, Error> {
    ask(
        git,
        Place::new(git_dir),
        |library| library.tree_entries(rev, folder),
        |program| program.tree_entries(rev, folder),
    )
}

/// One object id on a line.
pub(crate) fn read_oid(command: &str, answer: &[u8]) -> Result<Oid, Error> {
    std::str::from_utf8(answer)
        .ok()
        .and_then(|text| Oid::parse(text.trim_end_matches('\n')))
        .ok_or_else(|| Error::answer(command, answer))
}

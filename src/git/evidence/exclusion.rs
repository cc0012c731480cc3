//! Keeping excluded files out of the view without letting one slip across the border.
//!
//! The changed files are put into two pairs of small trees, the shown and the hidden ones, and
//! each pair is compared by itself. So a file that moves out of an excluded folder is shown as
//! new with all its bytes, never as a rename without content.

use super::differ::{Differ, Pair};
use super::list::{ABSENT, Entry};
use crate::domain::glob::Glob;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::error::Error;
use crate::git::object::read_oid;
use crate::git::program::finish;

/// The change in two halves.
#[derive(Debug)]
pub(super) struct Halves {
    /// What reviewers see.
    pub(super) shown: Pair,
    /// What the base's `review.exclude` names; `None` when that is nothing.
    pub(super) hidden: Option<Pair>,
}

/// Whether one of the globs names the path.
pub(super) fn is_excluded(globs: &[Glob], path: &RepoPath) -> bool {
    globs.iter().any(|glob| glob.matches(path.as_bytes()))
}

/// Divides a change, given its files without renames.
pub(super) fn divide(
    differ: &Differ,
    whole: Pair,
    entries: &[Entry],
    globs: &[Glob],
    index: &std::path::Path,
) -> Result<Halves, Error> {
    let (hidden, shown): (Vec<&Entry>, Vec<&Entry>) = entries
        .iter()
        .partition(|entry| is_excluded(globs, &entry.path));
    if hidden.is_empty() {
        return Ok(Halves {
            shown: whole,
            hidden: None,
        });
    }
    let pair = |half: &[&Entry]| -> Result<Pair, Error> {
        let old = half.iter().map(|e| (&e.old_mode, &e.old_oid, &e.path));
        let new = half.iter().map(|e| (&e.new_mode, &e.new_oid, &e.path));
        Ok(Pair {
            old: tree(differ, old, index)?,
            new: tree(differ, new, index)?,
        })
    };
    Ok(Halves {
        shown: pair(&shown)?,
        hidden: Some(pair(&hidden)?),
    })
}

/// Writes a tree of these files alone into the store.
fn tree<'a>(
    differ: &Differ,
    files: impl Iterator<Item = (&'a String, &'a Oid, &'a RepoPath)>,
    index: &std::path::Path,
) -> Result<Oid, Error> {
    let mut lines = Vec::new();
    for (mode, oid, path) in files.filter(|(mode, ..)| mode.as_str() != ABSENT) {
        lines.extend_from_slice(format!("{mode} {oid}\t").as_bytes());
        lines.extend_from_slice(path.as_bytes());
        lines.push(0);
    }
    // A new index each time: git takes a file that does not exist as an empty one.
    if let Err(error) = fs_err::remove_file(index)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(error.into());
    }
    let enter = differ
        .command()
        .env("GIT_INDEX_FILE", index)
        .args(["update-index", "-z", "--index-info"])
        .stdin(lines);
    finish(&enter)?;
    let write = differ
        .command()
        .env("GIT_INDEX_FILE", index)
        .args(["write-tree", "--missing-ok"]);
    read_oid("git write-tree", &finish(&write)?)
}

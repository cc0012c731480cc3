//! What differs, path by path, as git tells it raw.

use std::collections::BTreeMap;
use std::path::Path;

use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::error::Error;
use crate::git::program::{Git, finish};
use crate::git::store::ReviewStore;
use crate::process::command::Command;

/// What lies at a path: mode and object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) mode: String,
    pub(crate) oid: Oid,
}

impl Entry {
    pub(crate) fn is_nothing(&self) -> bool {
        self.mode == "000000"
    }
    /// Whether it is a folder.
    pub(crate) fn is_tree(&self) -> bool {
        self.mode == "040000"
    }
    /// Whether it is another repository's commit.
    pub(crate) fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }
}

/// One path of two.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) old: Entry,
    pub(crate) new: Entry,
}

/// What differs, by path.
pub(crate) type Changes = BTreeMap<RepoPath, Change>;

/// What differs between two trees that the store reaches.
pub(crate) fn between(
    git: &Git,
    store: &ReviewStore,
    old: &Oid,
    new: &Oid,
) -> Result<Changes, Error> {
    listed(&compared(git, store.git_dir()), [old, new])
}

/// What differs between two trees, and the folders in which it does.
pub(crate) fn with_trees(git: &Git, git_dir: &Path, pair: [&Oid; 2]) -> Result<Changes, Error> {
    listed(&compared(git, git_dir).arg("-t"), pair)
}

fn compared(git: &Git, git_dir: &Path) -> Command {
    git.on(git_dir).args([
        "diff-tree",
        "-r",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--ignore-submodules=none",
    ])
}

fn listed(command: &Command, [old, new]: [&Oid; 2]) -> Result<Changes, Error> {
    let command = command.clone().args([old.as_str(), new.as_str()]);
    read("git diff-tree", &finish(&command)?)
}

/// A raw listing, separated by NUL.
pub(crate) fn read(command: &'static str, listing: &[u8]) -> Result<Changes, Error> {
    parse(listing).map_err(|found| Error::answer(command, found))
}

/// Reads a raw listing, separated by NUL; the first part of it that is none is the error.
pub(crate) fn parse(listing: &[u8]) -> Result<Changes, &[u8]> {
    let mut fields = listing.split(|byte| *byte == 0);
    let mut all = BTreeMap::new();
    while let Some(about) = fields.next().filter(|field| !field.is_empty()) {
        let path = fields.next().filter(|path| !path.is_empty()).ok_or(about)?;
        let change = change(about).ok_or(about)?;
        all.insert(RepoPath::new(path), change);
    }
    Ok(all)
}

/// `:<old mode> <new mode> <old object> <new object> <status>`.
fn change(about: &[u8]) -> Option<Change> {
    let text = std::str::from_utf8(about).ok()?.strip_prefix(':')?;
    let words: Vec<&str> = text.split(' ').collect();
    let [old_mode, new_mode, old, new, _status] = words.as_slice() else {
        return None;
    };
    Some(Change {
        old: entry(old_mode, old)?,
        new: entry(new_mode, new)?,
    })
}

fn entry(mode: &str, oid: &str) -> Option<Entry> {
    let is_mode = mode.len() == 6 && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    is_mode.then_some(Entry {
        mode: mode.to_owned(),
        oid: Oid::parse(oid)?,
    })
}

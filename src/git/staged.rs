//! Content that is in the index alone: neither HEAD nor the working tree has it, and nothing holds it
//! once its entry is replaced.

use std::ffi::OsString;
use std::path::Path;

use crate::domain::failure::Failure;
use crate::domain::identity::{Identity, Pin};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::{Change, Changes, Entry, between, read};
use crate::git::error::Error;
use crate::git::index::TemporaryIndex;
use crate::git::index_alone::{Alone, Keeping};
use crate::git::program::{Git, finish};
use crate::git::repository::Repository;
use crate::git::store::ReviewStore;

/// What was in the index alone and is gone from there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Paths whose content nothing holds any more but what was kept.
    pub staged: Vec<RepoPath>,
    /// Paths whose edits in the working tree were replaced by what was staged.
    pub edits: Vec<RepoPath>,
}

/// Keeps what is in the index alone in the store, by this name: a commit on HEAD that has it. `None`
/// where there is nothing of the kind.
///
/// # Errors
/// When git fails, or it cannot be kept.
pub fn keep(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    pin: &Pin,
    name: &str,
) -> Result<Option<Oid>, Failure> {
    let Identity { head, tree, .. } = &pin.identity;
    let mut alone = Alone::default();
    let staged = staged(git, repo, store, head)?;
    if !staged.is_empty() {
        let edits = between(git, store, head, tree)?;
        for (path, Change { old, new }) in staged {
            let worked = edits.get(&path).map_or(&old, |edit| &edit.new);
            let holds_content = !new.is_nothing() && !new.is_submodule() && new.oid != old.oid;
            if holds_content && new.oid != worked.oid {
                alone.add(&new.mode, &new.oid, &path);
            }
        }
    }
    let keeping = Keeping {
        git,
        repo,
        store,
        pin,
    };
    keeping.keep(alone, Some(head), name)
}

/// The source as it is.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// Its head.
    pub head: &'a Oid,
    /// What lies in the working tree; `None` where no snapshot can be made of it, and nothing is
    /// known of edits.
    pub tree: Option<&'a Oid>,
}

/// What is gone of the content that `kept` has, by the source as it was and as it is.
///
/// # Errors
/// When git fails.
pub fn gone(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    kept: &Oid,
    before: &Identity,
    now: Now<'_>,
) -> Result<Gone, Error> {
    let index = staged(git, repo, store, &before.head)?;
    let worked = between(git, store, &before.head, &before.tree)?;
    // What these do not name is the same there.
    let work = now.tree.map(|tree| between(git, store, kept, tree));
    let work = work.transpose()?;
    let commit = between(git, store, kept, now.head)?;
    let mut gone = Gone::default();
    for (path, was) in between(git, store, &before.head, kept)? {
        let has = |entry: Option<&Entry>| entry.is_none_or(|entry| entry.oid == was.new.oid);
        let new = |changes: &'_ Changes| has(changes.get(&path).map(|change| &change.new));
        if work.as_ref().is_some_and(new) {
            // Content that HEAD has as well is not lost with the working tree's.
            let edit = worked.get(&path);
            if edit.is_some_and(|edit| !edit.new.is_nothing()) {
                gone.edits.push(path);
            }
        } else if !index.get(&path).is_some_and(|it| has(Some(&it.new))) && !new(&commit) {
            gone.staged.push(path);
        }
    }
    Ok(gone)
}

/// What the index has otherwise than HEAD, by its entries alone. An unmerged path counts as absent: its
/// sides are commits'.
fn staged(git: &Git, repo: &Repository, store: &ReviewStore, head: &Oid) -> Result<Changes, Error> {
    let (format, temporary) = (repo.object_format, store.temporary());
    let (index, seed) = TemporaryIndex::copy(&repo.git_dir, &temporary, format)?;
    // Where there is no file git compares none with the index, and runs no filter.
    let nowhere = tempfile::tempdir_in(&temporary)?;
    let option = |name: &str, place: &Path| {
        let mut option = OsString::from(name);
        option.push(place);
        option
    };
    let command = index
        .command(git, nowhere.path())
        .arg(option("--git-dir=", &repo.git_dir))
        .arg(option("--work-tree=", nowhere.path()));
    index.settle(seed, &command, format)?;
    let listing = finish(&command.args([
        "diff-index",
        "--cached",
        "-z",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--ita-invisible-in-index",
        "--ignore-submodules=none",
        head.as_str(),
    ]))?;
    read("git diff-index", &listing)
}

//! Content that is in the index alone: neither HEAD nor the working tree has it, and nothing holds it
//! once its entry is replaced.

use crate::domain::failure::Failure;
use crate::domain::identity::{Identity, Pin};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::{Change, Changes, Entry, between, read};
use crate::git::error::Error;
use crate::git::index::{TemporaryIndex, enter};
use crate::git::object::read_oid;
use crate::git::program::{Git, finish};
use crate::git::repository::Repository;
use crate::git::snapshot_commit::{pack, write};
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
    let Some(commit) = commit(git, repo, store, &pin.identity)? else {
        return Ok(None);
    };
    let packed = pack(git, store, &commit, &pin.identity.base)?;
    store.hold(name, &commit, &packed)?;
    Ok(Some(commit))
}

fn commit(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    source: &Identity,
) -> Result<Option<Oid>, Error> {
    let head = &source.head;
    let staged = staged(git, repo, head)?;
    if staged.is_empty() {
        return Ok(None);
    }
    let edits = between(git, store, head, &source.tree)?;
    let mut lines = Vec::new();
    for (path, Change { old, new }) in staged {
        let worked = edits.get(&path).map_or(&old, |edit| &edit.new);
        let holds_content = !new.is_nothing() && !new.is_submodule() && new.oid != old.oid;
        if holds_content && new.oid != worked.oid {
            lines.extend(format!("{} {} 0\t", new.mode, new.oid).into_bytes());
            lines.extend_from_slice(path.as_bytes());
            lines.push(0);
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let index = TemporaryIndex::empty(&store.temporary())?;
    let command = index
        .command(git, &repo.source_root)
        .env("GIT_OBJECT_DIRECTORY", store.objects());
    finish(&command.clone().args(["read-tree", head.as_str()]))?;
    enter(&command, lines)?;
    // A partial clone lacks blobs, and git would fetch each of them to see that it is there.
    let tree = finish(&command.args(["write-tree", "--missing-ok"]))?;
    let tree = read_oid("git write-tree", &tree)?;
    write(git, store, &tree, head, "0 +0000").map(Some)
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
    let index = staged(git, repo, &before.head)?;
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

/// What the index has otherwise than HEAD. An unmerged path counts as absent: its sides are commits'.
fn staged(git: &Git, repo: &Repository, head: &Oid) -> Result<Changes, Error> {
    let listing = git.run(
        &repo.source_root,
        [
            "diff-index",
            "--cached",
            "-z",
            "--raw",
            "--no-abbrev",
            "--no-renames",
            "--ita-invisible-in-index",
            "--ignore-submodules=none",
            head.as_str(),
        ],
    )?;
    read("git diff-index", &listing)
}

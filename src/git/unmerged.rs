//! Sides of conflicts that no commit has: the index alone holds them, and nothing does once the conflict
//! is resolved or thrown away.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::failure::Failure;
use crate::domain::identity::{Identity, Pin, Side};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::changes::between;
use crate::git::error::Error;
use crate::git::index_alone::{Alone, Keeping};
use crate::git::object::commit_of;
use crate::git::program::Git;
use crate::git::read::{Place, Read as _, ask};
use crate::git::repository::Repository;
use crate::git::staged::Now;
use crate::git::store::ReviewStore;

/// Commits whose content a conflict is made of, beside HEAD: those of operations, and the stash's newest.
const SOURCES: [&str; 5] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "refs/stash",
];

/// What is gone of conflicts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Sides that were kept.
    pub sides: Vec<Side>,
    /// Paths whose edits in the working tree a conflict took the place of.
    pub edits: Vec<RepoPath>,
}

/// A side with what it holds.
struct Entry {
    mode: String,
    oid: Oid,
    side: Side,
}

/// Keeps the sides of conflicts that the index alone holds in the store, by this name: a commit on HEAD
/// that has them below a folder for each stage. `None` where there are none.
///
/// # Errors
/// When git fails, or they cannot be kept.
pub fn keep(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    pin: &Pin,
    name: &str,
) -> Result<Option<Oid>, Failure> {
    let mut sides = unmerged(git, repo)?;
    // Another repository's commits are not ours to keep.
    sides.retain(|entry| entry.mode != "160000");
    if !sides.is_empty() {
        let held = of_commits(git, repo, &pin.identity.head)?;
        sides.retain(|entry| !held.contains(&entry.oid));
    }
    let mut alone = Alone::default();
    for Entry { mode, oid, side } in sides {
        alone.add(&mode, &oid, &side.kept_at());
    }
    let keeping = Keeping {
        git,
        repo,
        store,
        pin,
    };
    keeping.keep(alone, None, name)
}

/// What is gone of the sides that `kept` has, and of the edits of the working tree, by the source as it
/// was and as it is.
///
/// # Errors
/// When git fails.
pub fn gone(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    kept: Option<&Oid>,
    before: &Identity,
    now: Now<'_>,
) -> Result<Gone, Error> {
    let mut gone = Gone::default();
    let conflicts = unmerged(git, repo)?;
    if let (Some(tree), false) = (now.tree, conflicts.is_empty()) {
        let edits = between(git, store, &before.head, &before.tree)?;
        let since = between(git, store, &before.tree, tree)?;
        let paths: BTreeSet<RepoPath> = conflicts.into_iter().map(|it| it.side.path).collect();
        let replaced = |path: &RepoPath| {
            let edit = edits.get(path).is_some_and(|edit| !edit.new.is_nothing());
            edit && since.contains_key(path)
        };
        gone.edits = paths.into_iter().filter(replaced).collect();
    }
    let Some(kept) = kept else {
        return Ok(gone);
    };
    let mut held = of_commits(git, repo, now.head)?;
    held.extend(indexed(git, repo)?.into_iter().map(|entry| entry.oid));
    if let Some(tree) = now.tree {
        let files = files(git, store.git_dir(), tree)?;
        held.extend(files.into_iter().map(|(oid, _)| oid));
    }
    for (oid, path) in files(git, store.git_dir(), kept)? {
        if !held.contains(&oid) {
            let odd = || Error::answer("git ls-tree", path.as_bytes());
            gone.sides.push(side(&path).ok_or_else(odd)?);
        }
    }
    Ok(gone)
}

/// The side that the commit of kept sides has at a path.
fn side(kept_at: &RepoPath) -> Option<Side> {
    let (stage, path) = kept_at.as_bytes().split_first_chunk::<2>()?;
    let stage = match stage {
        b"1/" => 1,
        b"2/" => 2,
        b"3/" => 3,
        _ => return None,
    };
    let path = RepoPath::new(path);
    Some(Side { path, stage })
}

/// What the commits hold that conflicts are made of: HEAD, the other side, and what both came from. A
/// renamed file lies at another path there, so that what counts is the content alone.
fn of_commits(git: &Git, repo: &Repository, head: &Oid) -> Result<BTreeSet<Oid>, Error> {
    let mut commits = BTreeSet::from([head.clone()]);
    for name in SOURCES {
        let Some(other) = commit_of(git, &repo.git_dir, name)? else {
            continue;
        };
        // What a cherry-pick, a rebase or a stash is applied to.
        commits.extend(commit_of(git, &repo.git_dir, &format!("{name}^"))?);
        commits.extend(ask(
            git,
            Place::new(&repo.git_dir),
            |library| library.merge_bases(head, &other),
            |program| program.merge_bases(head, &other),
        )?);
        commits.insert(other);
    }
    let mut held = BTreeSet::new();
    for commit in commits {
        let files = files(git, &repo.git_dir, &commit)?;
        held.extend(files.into_iter().map(|(oid, _)| oid));
    }
    Ok(held)
}

/// Every file of a tree. Their sizes are not asked for: a partial clone lacks files.
fn files(git: &Git, git_dir: &Path, tree: &Oid) -> Result<Vec<(Oid, RepoPath)>, Error> {
    let list = ["ls-tree", "-r", "-z", "--full-tree", tree.as_str()];
    records(&git.run_on(git_dir, list)?)
        .map(|record| {
            let odd = || Error::answer("git ls-tree", record);
            // `<mode> <kind> <object>\t<path>`.
            let (about, path) = about_and_path(record).ok_or_else(odd)?;
            let oid = about
                .last()
                .and_then(|oid| Oid::parse(oid))
                .ok_or_else(odd)?;
            Ok((oid, path))
        })
        .collect()
}

fn records(listing: &[u8]) -> impl Iterator<Item = &[u8]> {
    let records = listing.split(|byte| *byte == 0);
    records.filter(|record| !record.is_empty())
}

/// The words before a tab, and what comes after it.
fn about_and_path(record: &[u8]) -> Option<(Vec<&str>, RepoPath)> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let (about, path) = (record.get(..tab)?, record.get(tab + 1..)?);
    let about = std::str::from_utf8(about).ok()?;
    Some((about.split(' ').collect(), RepoPath::new(path)))
}

fn unmerged(git: &Git, repo: &Repository) -> Result<Vec<Entry>, Error> {
    listed(git, repo, "--unmerged")
}

fn indexed(git: &Git, repo: &Repository) -> Result<Vec<Entry>, Error> {
    listed(git, repo, "--stage")
}

fn listed(git: &Git, repo: &Repository, which: &str) -> Result<Vec<Entry>, Error> {
    let listing = git.run(&repo.source_root, ["ls-files", "-z", which])?;
    let odd = |record| Error::answer("git ls-files", record);
    records(&listing)
        .map(|record| entry(record).ok_or_else(|| odd(record)))
        .collect()
}

/// `<mode> <object> <stage>\t<path>`.
fn entry(record: &[u8]) -> Option<Entry> {
    let (about, path) = about_and_path(record)?;
    let [mode, oid, stage] = about.as_slice() else {
        return None;
    };
    Some(Entry {
        mode: (*mode).to_owned(),
        oid: Oid::parse(oid)?,
        side: Side {
            path,
            stage: stage.parse().ok()?,
        },
    })
}

//! Measuring again: did what is under review move? (design, section 5)

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::run_spec::RunSpec;
use crate::git::changes::between;
use crate::git::error::Error;
use crate::git::object::is_ancestor;
use crate::git::overwritten;
use crate::git::program::{Git, finish};
use crate::git::repository::Repository;
use crate::git::snapshot::{Pinning, moved as moved_to};
use crate::git::store::ReviewStore;

/// Measures the source again by the function that pinned it, and names what moved.
///
/// # Errors
/// A source that came to hold something that no snapshot can hold is `SourceMoved`, one that does
/// not hold still `SourceUnquietLater`, a base that is gone `BaseMoved`. Anything that keeps us from
/// knowing is `MeasureFailed`, or `StateUnwritable` on a full disk: never "unchanged", never "stale".
pub fn measure(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    pinned: &Pin,
) -> Result<Remeasured, Failure> {
    let pin = take(git, repo, store, spec, Some(pinned))?;
    compare(git, repo, store, pinned, pin).map_err(unknown)
}

/// The same for whoever only asks what moved, and not which paths: also where the store has lost what was
/// pinned.
///
/// # Errors
/// As [`measure`].
pub fn look(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    pinned: &Pin,
) -> Result<Remeasured, Failure> {
    measure(git, repo, store, spec, pinned).or_else(|_| {
        let pin = take(git, repo, store, spec, None)?;
        let paths = (Vec::new(), Vec::new());
        compared(git, repo, pinned, pin, paths).map_err(unknown)
    })
}

/// The source as it is now.
fn take(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    pinned: Option<&Pin>,
) -> Result<Pin, Failure> {
    let pinning = Pinning {
        git,
        repo,
        store,
        spec,
    };
    let taken = store.twice(|| pinning.take(pinned)).map_err(translated)?;
    Ok(taken.pin)
}

fn compare(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    pinned: &Pin,
    pin: Pin,
) -> Result<Remeasured, Error> {
    let moved_paths = moved(
        git,
        store,
        &pinned.identity.content_tree,
        &pin.identity.content_tree,
    )?;
    let lost = lost(git, store, pinned, &pin)?;
    compared(git, repo, pinned, pin, (moved_paths, lost))
}

fn compared(
    git: &Git,
    repo: &Repository,
    pinned: &Pin,
    pin: Pin,
    (moved_paths, lost): (Vec<RepoPath>, Vec<RepoPath>),
) -> Result<Remeasured, Error> {
    let base_rewound = match (&pinned.base_tip, &pin.base_tip) {
        (None, None) => false,
        (Some(old), Some(new)) => !is_ancestor(git, &repo.git_dir, old, new)?,
        (Some(_), None) | (None, Some(_)) => true,
    };
    let head_descends = is_ancestor(
        git,
        &repo.git_dir,
        &pinned.identity.head,
        &pin.identity.head,
    )?;
    Ok(Remeasured {
        pin,
        moved_paths,
        base_rewound,
        head_descends,
        lost,
        unstaged: Vec::new(),
        unmerged: Vec::new(),
        own: Vec::new(),
        kept: None,
        elsewhere: Vec::new(),
        unknown: Vec::new(),
        anew: None,
    })
}

/// Uncommitted edits of the pin that are gone now: what lies there is what HEAD had, or nothing, or holds
/// no line of them any more.
fn lost(git: &Git, store: &ReviewStore, pinned: &Pin, now: &Pin) -> Result<Vec<RepoPath>, Error> {
    if !pinned.dirty || pinned.identity.tree == now.identity.tree {
        return Ok(Vec::new());
    }
    let edits = between(git, store, &pinned.identity.head, &pinned.identity.tree)?;
    let since = between(git, store, &pinned.identity.tree, &now.identity.tree)?;
    let mut lost = Vec::new();
    for (path, edit) in edits {
        let Some(now) = since.get(&path).map(|change| &change.new) else {
            continue;
        };
        if edit.new.is_nothing() {
            continue;
        }
        let is_gone = now.is_nothing() || *now == edit.old;
        if is_gone || overwritten::is_without(git, store, &edit, now)? {
            lost.push(path);
        }
    }
    Ok(lost)
}

/// Paths whose content differs between two content trees.
fn moved(git: &Git, store: &ReviewStore, old: &Oid, new: &Oid) -> Result<Vec<RepoPath>, Error> {
    if old == new {
        return Ok(Vec::new());
    }
    let command = git.on(store.git_dir()).args([
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--ignore-submodules=none",
        old.as_str(),
        new.as_str(),
    ]);
    let paths: Vec<RepoPath> = finish(&command)?
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(RepoPath::new)
        .collect();
    if paths.is_empty() {
        return Err(Error::answer("git diff-tree", b"no path between two trees"));
    }
    Ok(paths)
}

/// What a refusal means once a round is open. Every reason that says of no move that we know it
/// says that we do not know.
fn translated(failure: Failure) -> Failure {
    // A full disk may have room by the next minute.
    if failure.code == Code::StateUnwritable {
        return failure;
    }
    let code = moved_to(failure.code).unwrap_or(Code::MeasureFailed);
    Failure { code, ..failure }
}

/// What keeps us from knowing: a full disk may have room by the next minute.
fn unknown(error: Error) -> Failure {
    let code = if error.is_full() {
        Code::StateUnwritable
    } else {
        Code::MeasureFailed
    };
    error.into_failure(code)
}

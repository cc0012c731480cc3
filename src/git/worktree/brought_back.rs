//! The command that brings a working tree back whose folder is gone: moved by git, or removed.

use std::path::{Path, PathBuf};

use crate::domain::oid::Oid;
use crate::domain::time::Timestamp;
use crate::git::Error;
use crate::git::error::{path_of, path_shown};
use crate::git::object::commit_of;
use crate::git::program::Git;
use crate::git::worktree::head_log::HeadLog;
use crate::git::worktree::registered::{self, Registered};

/// What the working tree was like.
#[derive(Debug, Clone, Copy)]
pub struct Stood<'a> {
    /// The branch that it was on, in full; `None` for a detached HEAD.
    pub branch: Option<&'a str>,
    /// The commit that it was on.
    pub head: &'a Oid,
    /// Since when it was there, at the latest.
    pub since: Timestamp,
}

/// A way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// The command: it brings the tree back, or shows what is in the way.
    pub command: Vec<String>,
    /// What is in the way.
    pub hindered: Option<String>,
}

/// What brings back the working tree at `root`; `None` where the repository is gone, too, or something else
/// lies there. A tree that may be another one is not moved, and no branch is taken from where it is checked out.
#[must_use]
pub fn way(git: &Git, common_dir: &Path, root: &Path, stood: Stood<'_>) -> Option<Way> {
    if !common_dir.is_dir() || fs_err::symlink_metadata(root).is_ok() {
        return None;
    }
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let git_dir = format!("--git-dir={}", text(common_dir)?);
    let line = |rest: Vec<String>| {
        let start = ["git", &git_dir, "worktree"].map(str::to_owned);
        start.into_iter().chain(rest).collect()
    };
    let way = |rest| Way {
        command: line(rest),
        hindered: None,
    };
    let list = |hindered| Way {
        command: line(vec!["list".to_owned()]),
        hindered,
    };
    let registered = registered::all(common_dir).ok()?;
    if let Some(moved) = registered.iter().find_map(|it| moved_to(it, root, stood)) {
        return Some(way(vec!["move".to_owned(), text(moved)?, text(root)?]));
    }
    if registered.iter().any(|it| it.path.as_deref() == Some(root)) {
        // Moved without git, or on a disk that is not there: git keeps its index, and a new one would take
        // the place of that.
        return Some(list(None));
    }
    let short = stood
        .branch
        .and_then(|branch| branch.strip_prefix("refs/heads/"));
    if let (Some(branch), Some(short)) = (stood.branch, short) {
        if let Some(place) = checked_out(git, common_dir, branch).ok()? {
            let place = path_shown(&place);
            return Some(list(Some(format!("{short} is checked out in {place}"))));
        }
        let lives = matches!(commit_of(git, common_dir, branch), Ok(Some(_)));
        let (short, root) = (short.to_owned(), text(root)?);
        return Some(way(if lives {
            vec!["add".to_owned(), root, short]
        } else {
            let (add, new) = ("add".to_owned(), "-b".to_owned());
            vec![add, new, short, root, stood.head.to_string()]
        }));
    }
    let words = ["add".to_owned(), "--detach".to_owned()];
    let rest = words
        .into_iter()
        .chain([text(root)?, stood.head.to_string()]);
    Some(way(rest.collect()))
}

/// Where git moved the tree: it is on the branch that it was on, has been ever since, and git can move it back.
fn moved_to<'a>(found: &'a Registered, root: &Path, stood: Stood<'_>) -> Option<&'a Path> {
    let path = found.path.as_deref()?;
    let on_branch = stood.branch.is_some() && found.branch.as_deref() == stood.branch;
    let is_it = || HeadLog::read(&found.admin).is_some_and(|log| log.stands_since(stood.since));
    let can_move = || {
        found.locked.is_none()
            && path.is_dir()
            && root.parent().is_some_and(Path::is_dir)
            && fs_err::symlink_metadata(found.admin.join("modules")).is_err()
    };
    (on_branch && is_it() && can_move()).then_some(path)
}

/// The working tree that has a branch checked out, the main one too.
fn checked_out(git: &Git, common_dir: &Path, branch: &str) -> Result<Option<PathBuf>, Error> {
    let asked = ["for-each-ref", "--format=%(worktreepath)", "--", branch];
    let listing = git.run_on(common_dir, asked)?;
    let first = listing.split(|byte| *byte == b'\n').next();
    Ok(first.filter(|path| !path.is_empty()).map(path_of))
}

//! The command that brings a working tree back whose folder is gone: moved by git, or removed.

use std::path::Path;

use crate::domain::oid::Oid;
use crate::git::object::commit_of;
use crate::git::program::Git;
use crate::git::worktree::registered;

/// What brings back the working tree at `root`, which was on this branch, or on this commit; `None` where the
/// repository is gone, too, or something else lies there.
#[must_use]
pub fn command(
    git: &Git,
    common_dir: &Path,
    root: &Path,
    (branch, head): (Option<&str>, &Oid),
) -> Option<Vec<String>> {
    if !common_dir.is_dir() || fs_err::symlink_metadata(root).is_ok() {
        return None;
    }
    let registered = registered::all(common_dir).ok()?;
    let elsewhere = registered.iter().find_map(|found| {
        let path = found.path.as_deref()?;
        let is_it = branch.is_some() && found.branch.as_deref() == branch && found.locked.is_none();
        (is_it && path.is_dir()).then_some(path)
    });
    let text = |path: &Path| path.to_str().map(str::to_owned);
    let git_dir = format!("--git-dir={}", text(common_dir)?);
    let mut line: Vec<String> = ["git", &git_dir, "worktree"].map(str::to_owned).into();
    if let Some(moved) = elsewhere {
        line.extend(["move".to_owned(), text(moved)?, text(root)?]);
        return Some(line);
    }
    if registered.iter().any(|it| it.path.as_deref() == Some(root)) {
        // Moved without git, or on a disk that is not there: git keeps its index, and a new one would take
        // the place of that.
        line.push("list".to_owned());
        return Some(line);
    }
    line.push("add".to_owned());
    let short = branch.and_then(|branch| branch.strip_prefix("refs/heads/"));
    let lives = |branch| matches!(commit_of(git, common_dir, branch), Ok(Some(_)));
    match (short, branch) {
        (Some(short), Some(branch)) if lives(branch) => {
            line.extend([text(root)?, short.to_owned()]);
        }
        (Some(short), _) => {
            line.extend([
                "-b".to_owned(),
                short.to_owned(),
                text(root)?,
                head.to_string(),
            ]);
        }
        (None, _) => line.extend(["--detach".to_owned(), text(root)?, head.to_string()]),
    }
    Some(line)
}

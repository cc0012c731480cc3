//! Uncommitted edits, for people: what a range that starts at HEAD already holds.

use std::path::Path;

use crate::domain::path::RepoPath;
use crate::git::config::GitConfig;
use crate::git::error::Error;
use crate::git::filter::Forbidden;
use crate::git::program::{Git, ask};
use crate::git::repository::Repository;

/// The paths of uncommitted edits; `None` where looking would run a content filter that is not
/// allowed to. What is under review is decided by the snapshot, never by this.
///
/// # Errors
/// When git fails.
pub fn paths(
    git: &Git,
    repo: &Repository,
    allow_filters: &[String],
) -> Result<Option<Vec<RepoPath>>, Error> {
    let config = GitConfig::read(&git.command(&repo.source_root))?;
    if !Forbidden::of(&config, allow_filters).is_empty() {
        return Ok(None);
    }
    let listing = git.run(
        &repo.source_root,
        [
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            // What is dirty inside a submodule is refused when the source is pinned.
            "--ignore-submodules=dirty",
        ],
    )?;
    listing
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
        .map(|line| {
            // Two letters and a blank.
            let path = line.get(3..).filter(|path| !path.is_empty());
            path.map(RepoPath::new)
                .ok_or_else(|| Error::answer("git status", line))
        })
        .collect::<Result<Vec<_>, Error>>()
        .map(Some)
}

/// Whether git leaves a file out of what it tracks; what it cannot tell of is no such file.
#[must_use]
pub fn is_ignored(git: &Git, repo: &Repository, file: &Path) -> bool {
    let command = git.command(&repo.source_root);
    let command = command.args(["check-ignore", "--quiet", "--"]).arg(file);
    ask(&command).is_ok_and(|told| told.is_some())
}

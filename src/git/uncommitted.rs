//! Uncommitted edits, for people: what a range that starts at HEAD already holds.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::path::RepoPath;
use crate::git::config::GitConfig;
use crate::git::error::Error;
use crate::git::filter::Forbidden;
use crate::git::program::{Git, ask};
use crate::git::repository::Repository;
use crate::process::command::Command;

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

/// Those that no rule of the user's ignores.
pub(crate) fn wanted<'a>(command: &Command, others: &'a [Vec<u8>]) -> Result<Vec<&'a [u8]>, Error> {
    if others.is_empty() {
        return Ok(Vec::new());
    }
    let others = || others.iter().map(Vec::as_slice);
    let question = command
        .clone()
        .args(["check-ignore", "--no-index", "-z", "--stdin"]);
    // With a colon begins what git would not take for a path.
    let shown: Vec<Vec<u8>> = others().map(|path| [b"./", path].concat()).collect();
    let shown: Vec<&[u8]> = shown.iter().map(Vec::as_slice).collect();
    let ignored = ask(&question.stdin(terminated(&shown)))?.unwrap_or_default();
    let ignored: BTreeSet<&[u8]> = ignored.split(|byte| *byte == 0).collect();
    let is_ignored = |shown: &[u8]| ignored.contains(shown);
    let each = others().zip(shown);
    Ok(each
        .filter(|(_, shown)| !is_ignored(shown))
        .map(|(path, _)| path)
        .collect())
}

pub(crate) fn terminated(paths: &[&[u8]]) -> Vec<u8> {
    paths
        .iter()
        .flat_map(|path| [path, &b"\0"[..]].concat())
        .collect()
}

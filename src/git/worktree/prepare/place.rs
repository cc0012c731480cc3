//! Where a new working tree goes: beside the control root, and inside no repository (T-150).

use std::path::{Component, Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::Error;
use crate::git::error::{path_of, path_shown};
use crate::git::program::{Git, finish};
use crate::git::repository::Repository;
use crate::git::worktree::prepare::{listing, prune};
use crate::git::worktree::registered::{Registered, resolved};

/// Longest part of a folder's name that a branch gives: paths of tools grow long (scenario X05).
const LONGEST: usize = 60;

/// The path, with the links on the way to it resolved; a last component that is a link stays.
pub(super) fn choose(
    repo: &Repository,
    branch: &str,
    at: Option<&Path>,
) -> Result<PathBuf, Failure> {
    let path = if let Some(at) = at {
        repo.control_root.join(at)
    } else {
        let name = repo.control_root.file_name().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let mut name = name.to_owned();
        name.push("-");
        name.push(
            branch
                .chars()
                .take(LONGEST)
                .map(|c| if plain(c) { c } else { '-' })
                .collect::<String>(),
        );
        let parent = repo.control_root.parent().unwrap_or_else(|| Path::new("/"));
        parent.join(name)
    };
    let wrong = |what: &str| {
        let message = format!("--at {}: {what}", path_shown(&path));
        Failure::new(Code::BadValue, message).next(["run-loop", "worktree", "prepare", "--help"])
    };
    let Some(text) = path.to_str() else {
        return Err(wrong("the path is not UTF-8"));
    };
    if text.chars().any(char::is_control) {
        return Err(wrong("the path holds a control character"));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(wrong("the path names no new folder"));
    };
    let parent = resolved(parent);
    let climbs = |component: Component<'_>| component == Component::ParentDir;
    if parent.components().any(climbs) {
        return Err(wrong("`..` after a folder that does not exist"));
    }
    Ok(parent.join(name))
}

/// The working tree that is at the path and on the branch already; anything else there is refused.
pub(super) fn existing(
    repo: &Repository,
    registered: &[Registered],
    path: &Path,
    full: &str,
) -> Result<Option<Registered>, Failure> {
    let shown = path_shown(path);
    let taken =
        |what: String, next: Vec<String>| Err(Failure::new(Code::WorktreeTaken, what).next(next));
    let known = registered
        .iter()
        .find(|found| found.path.as_deref() == Some(path));
    let meta = match fs_err::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return match known {
                None => Ok(None),
                Some(_) => taken(
                    format!("git lists a working tree at {shown}, whose folder is gone"),
                    prune(repo),
                ),
            };
        }
        Err(error) => return Err(Error::Io(error).into()),
    };
    let look = vec![
        "ls".to_owned(),
        "-ld".to_owned(),
        path.to_string_lossy().into_owned(),
    ];
    if meta.is_symlink() {
        return taken(format!("{shown} is a link"), look);
    }
    match known {
        Some(found) if meta.is_dir() && found.branch.as_deref() == Some(full) => {
            if let Some(reason) = found.locked.as_deref().filter(|it| *it == "initializing") {
                // Git was killed while it filled the folder.
                return taken(
                    format!("{shown} was never completed (locked: {reason})"),
                    listing(repo),
                );
            }
            Ok(Some(found.clone()))
        }
        Some(found) => {
            let branch = found.branch.as_deref().unwrap_or("a detached HEAD");
            taken(
                format!("{shown} is a working tree on {branch}, not on {full}"),
                listing(repo),
            )
        }
        // What a preparation left that was killed at once, or whoever meant well.
        None if meta.is_dir() && fs_err::read_dir(path).is_ok_and(|mut it| it.next().is_none()) => {
            let remove = vec!["rmdir".to_owned(), path.to_string_lossy().into_owned()];
            taken(format!("{shown} exists, and is empty"), remove)
        }
        None => taken(format!("{shown} exists"), look),
    }
}

/// Refuses a place inside any working tree or git directory, this repository's or another one's.
pub(super) fn refuse_inside(
    git: &Git,
    repo: &Repository,
    registered: &[Registered],
    path: &Path,
    next: &[&str],
) -> Result<(), Failure> {
    let inside = |outer: &Path| {
        let message = format!("{} lies inside {}", path_shown(path), path_shown(outer));
        Failure::new(Code::WorktreeInside, message).next(next.iter().copied())
    };
    // A bare repository's folder may hold working trees side by side, its git directory may not.
    let own = [&repo.source_root, &repo.control_root, &repo.common_dir];
    let trees = registered.iter().filter_map(|found| found.path.as_ref());
    if let Some(outer) = own.into_iter().chain(trees).find(|it| path.starts_with(it)) {
        return Err(inside(outer));
    }
    let there = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| Path::new("/"));
    let command = git
        .command(there)
        .env("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1")
        .args([
            "rev-parse",
            "--is-inside-work-tree",
            "--is-inside-git-dir",
            "--absolute-git-dir",
        ]);
    match finish(&command) {
        Ok(answer) => {
            let mut lines = answer.split(|byte| *byte == b'\n');
            let free = lines.next() == Some(b"false") && lines.next() == Some(b"false");
            let git_dir = path_of(lines.next().unwrap_or_default());
            if free { Ok(()) } else { Err(inside(&git_dir)) }
        }
        Err(error) => {
            let text = String::from_utf8_lossy(error.stderr()).into_owned();
            if text.contains("not a git repository") {
                return Ok(());
            }
            // Also a repository of somebody else: a place that git refuses to look at is none.
            Err(error.into_failure(Code::WorktreeInside))
        }
    }
}

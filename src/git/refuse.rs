//! What is refused before or while a source is captured, told by git's own words.

use std::io;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::error::{Error, path_shown};
use crate::git::object::commit_of;
use crate::git::program::Git;
use crate::git::repository::Repository;

/// What git leaves in a git directory while an operation is not finished (scenario W18).
const TRACES: [(&str, &str); 8] = [
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or `git am`"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a cherry-pick or revert of several commits"),
    ("BISECT_LOG", "a bisect"),
    ("BISECT_START", "a bisect"),
];

/// Refuses while a merge, rebase, cherry-pick, revert or bisect is not finished.
pub(crate) fn operation_in_progress(git: &Git, repo: &Repository) -> Result<(), Failure> {
    let Some((name, operation)) = unfinished(git, repo)? else {
        return Ok(());
    };
    let root = repo.source_root.to_string_lossy().into_owned();
    let message = format!(
        "{operation} is not finished in {} ({name} exists); finish or abort it, or add \
         --allow-in-progress",
        path_shown(&repo.source_root)
    );
    Err(Failure::new(Code::OperationInProgress, message).next(["git", "-C", &root, "status"]))
}

/// The operation that is not finished, with what shows it.
pub(crate) fn unfinished(
    git: &Git,
    repo: &Repository,
) -> Result<Option<(&'static str, &'static str)>, Error> {
    // With reftable some of these are refs and no files.
    let reftable = fs_err::symlink_metadata(repo.common_dir.join("reftable")).is_ok();
    for (name, operation) in TRACES {
        let path = repo.git_dir.join(name);
        let found = match fs_err::symlink_metadata(&path) {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_ref = matches!(name, "CHERRY_PICK_HEAD" | "REVERT_HEAD");
                reftable && is_ref && commit_of(git, &repo.git_dir, name)?.is_some()
            }
            Err(error) => return Err(error.into()),
        };
        if found {
            return Ok(Some((name, operation)));
        }
    }
    Ok(None)
}

/// What it means that git could not add the working tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It will be the same on the next try.
    Refused(Failure),
    /// The files changed while git read them: try again. Holds what git said.
    Unquiet(String),
}

impl From<Failure> for Meaning {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<Error> for Meaning {
    fn from(error: Error) -> Self {
        Self::Refused(error.into())
    }
}

/// Reads git's complaint. Whatever is not known to be passing is a refusal.
pub(crate) fn meaning(root: &Path, error: &Error) -> Meaning {
    let text = String::from_utf8_lossy(error.stderr()).into_owned();
    let line = |needle: &str| text.lines().find(|line| line.contains(needle));
    let nested = line("adding embedded git repository")
        .or_else(|| line("does not have a commit checked out"));
    if let Some(line) = nested {
        return nested_repository(root, line)
            .map_or_else(|| Meaning::Unquiet(error.to_string()), Meaning::Refused);
    }
    if let Some(line) = line("Permission denied") {
        let message = format!("git cannot read {}: {}", path_shown(root), shown(line));
        return Meaning::Refused(with_status(Code::UnreadableFile, message, root));
    }
    let passing = [
        "unstable object source data",
        "short read",
        "read error",
        "No such file or directory",
        "unable to stat",
        "unable to index file",
        "failed to insert into database",
        "Stale file handle",
        "unexpected end of file",
    ];
    let by_signal = match error {
        Error::Failed { status, .. } => status.code().is_none(),
        Error::Start { .. }
        | Error::Complained { .. }
        | Error::Answer { .. }
        | Error::NotGenuine { .. }
        | Error::NoWay { .. }
        | Error::NotBest { .. }
        | Error::OddIndex
        | Error::NoSwitch { .. }
        | Error::NotFetched { .. }
        | Error::NotAFile { .. }
        | Error::Io(_) => false,
    };
    let full = error.is_full();
    if !full && (by_signal || passing.iter().any(|needle| line(needle).is_some())) {
        return Meaning::Unquiet(error.to_string());
    }
    let message = format!(
        "git cannot take a snapshot of {}: {error}",
        path_shown(root)
    );
    Meaning::Refused(if full {
        error.helped(Failure::new(Code::StateUnwritable, message))
    } else {
        with_status(Code::SnapshotRefused, message, root)
    })
}

/// Two tracked names that git cannot tell apart by the repository's own setting.
pub(crate) fn one_name_for_git(root: &Path, one: &[u8], other: &[u8]) -> Failure {
    let message = format!(
        "{} tracks {} and {}, which git takes for one file, because core.ignoreCase is on; take one \
         of them away, or turn the setting off where the file system tells them apart",
        path_shown(root),
        crate::git::error::shown(one),
        crate::git::error::shown(other)
    );
    with_status(Code::SnapshotRefused, message, root)
}

/// A source that did not hold still in three tries (scenario S16).
pub(crate) fn not_quiet(root: &Path, last: &dyn std::fmt::Display) -> Failure {
    let message = format!(
        "{} changed while it was captured, three times in a row; the last time: {last}",
        path_shown(root)
    );
    with_status(Code::SourceNotQuiet, message, root)
}

/// `None` for a folder that is no repository: it came in a file's place while git was reading.
fn nested_repository(root: &Path, line: &str) -> Option<Failure> {
    let name = line
        .split_once("git repository: ")
        .map(|(_, name)| name)
        .or_else(|| line.split('\'').nth(1))
        .unwrap_or(line)
        .trim_end_matches('/');
    let message = format!(
        "{} is an untracked repository inside {}: its content would be approved unseen; make it a \
         submodule, ignore it, or move it away",
        shown(name),
        path_shown(root)
    );
    let inside = root.join(name);
    let is_folder = inside.is_dir();
    if is_folder && is_absent(&inside.join(".git")) {
        return None;
    }
    let there = if is_folder { inside.as_path() } else { root };
    Some(with_status(Code::NestedRepository, message, there))
}

/// Whether nothing is there; what cannot be looked at may be.
pub(super) fn is_absent(path: &Path) -> bool {
    match fs_err::symlink_metadata(path) {
        Ok(_) => false,
        Err(error) => matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

/// With what git itself says there as the next command.
pub(crate) fn with_status(code: Code, message: String, root: &Path) -> Failure {
    Failure::new(code, message).next(["git", "-C", &root.to_string_lossy(), "status"])
}

fn shown(text: &str) -> String {
    crate::git::error::shown(text.as_bytes())
}

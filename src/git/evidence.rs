//! The evidence of a round: the list of changed files and the diff, from two trees alone.
//!
//! Everything is read from the review store; the working tree, the index and everybody's
//! configuration and attributes are left out of it. List and diff are made by separate git
//! processes and held against each other: a diff that was cut, or that hides a listed file, is no
//! evidence (`EvidenceFailed`), never a smaller change. Tests: `tests/evidence.rs`.

mod apart;
mod blobs;
mod differ;
mod exclusion;
mod list;
mod listing;
mod parts;
mod patch;
mod seen;
mod since;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use self::apart::Apart;
use self::blobs::Facts;
use self::differ::{Differ, Pair, Renames};
use self::list::{ABSENT, Counts, Entry, SUBMODULE};
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::evidence::{ChangedFile, DiffPart, Evidence, UnreviewedKind};
use crate::domain::failure::Failure;
use crate::domain::glob::{Glob, GlobError};
use crate::domain::identity::Pin;
use crate::domain::lines::Since;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::run_spec::ReviewSpec;
use crate::domain::seen::Change;
use crate::git::store::ReviewStore;
use crate::git::{self, Git};
use crate::store::state_folder::is_full;

/// Why there is no evidence.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Git(#[from] git::Error),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    List(#[from] list::Malformed),
    #[error(transparent)]
    Diff(#[from] patch::Mismatch),
    #[error("glob `{text}` of review.exclude {source}")]
    Glob { text: String, source: GlobError },
    #[error("nothing differs between {old} and {new}")]
    Empty { old: Oid, new: Oid },
    #[error("the list of changed files lost {0} while it was divided")]
    Lost(RepoPath),
    #[error("the list of changed files cannot be written: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the receipts have no seed")]
    NoSeed,
    #[error("{0} is not UTF-8")]
    Path(String),
}

/// Makes the evidence of a pin and writes it into `folder`, which is replaced as a whole:
/// `files.json`, `diff.patch` and `parts/001.patch` and on.
///
/// # Errors
/// `EvidenceFailed` whenever the evidence is not surely the whole change; `StateUnwritable` on a full disk.
pub fn make(
    git: &Git,
    store: &ReviewStore,
    pin: &Pin,
    review: &ReviewSpec,
    receipt_seed: &str,
    folder: &Path,
) -> Result<Evidence, Failure> {
    let make = || {
        let pair = Pair {
            old: pin.base_content_tree.clone(),
            new: pin.identity.content_tree.clone(),
        };
        let apart = apart(git, store, &pair)?;
        made(&differ(git, &apart), pair, review, receipt_seed, folder)
    };
    match make() {
        Err(error @ Error::Git(git::Error::NotFetched { .. })) => Err(failed(&error)),
        // What the store holds damaged may be here a second time.
        Err(error @ Error::Git(_)) => {
            store.mended(failed(&error))?;
            make().map_err(|error| failed(&error))
        }
        made => made.map_err(|error| failed(&error)),
    }
}

fn failed(error: &Error) -> Failure {
    let mut message = format!("the evidence could not be made: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    let full = match error {
        Error::Git(error) => error.is_full(),
        Error::Io(error) => is_full(error),
        Error::List(_)
        | Error::Diff(_)
        | Error::Glob { .. }
        | Error::Empty { .. }
        | Error::Lost(_)
        | Error::Json(_)
        | Error::NoSeed
        | Error::Path(_) => false,
    };
    if full {
        return Failure::new(Code::StateUnwritable, message).next(["df", "-h"]);
    }
    let failure = Failure::new(Code::EvidenceFailed, message);
    match error {
        Error::Git(error) => error.helped(failure),
        Error::Io(_)
        | Error::List(_)
        | Error::Diff(_)
        | Error::Glob { .. }
        | Error::Empty { .. }
        | Error::Lost(_)
        | Error::Json(_)
        | Error::NoSeed
        | Error::Path(_) => failure,
    }
}

/// What changed from one content tree to another, as far as reviewers may be shown it; `scratch` is
/// a folder on whose file system there is room for it.
///
/// It is a help beside the round's evidence and never stands for it: where it cannot be made, that is
/// what it says.
#[must_use]
pub fn change_between(
    git: &Git,
    store: &ReviewStore,
    [old, new]: [&Oid; 2],
    review: &ReviewSpec,
    scratch: &Path,
) -> Change {
    let pair = Pair {
        old: old.clone(),
        new: new.clone(),
    };
    globs(&review.exclude)
        .and_then(|globs| {
            let apart = apart(git, store, &pair)?;
            let differ = differ(git, &apart);
            seen::change(&differ, pair, &globs, review.diff_cap, scratch)
        })
        .unwrap_or_else(|error| {
            tracing::warn!(%old, %new, %error, "no diff since an earlier tree");
            Change::Unknown
        })
}

/// What became of the lines of earlier trees. A tree that cannot be read is left out: then nothing
/// is known of its lines, and nothing rests on them.
#[must_use]
pub fn since(git: &Git, store: &ReviewStore, trees: &[Oid], now: &Oid) -> Vec<Since> {
    let of = |tree: &Oid| {
        let pair = Pair {
            old: tree.clone(),
            new: now.clone(),
        };
        let apart = apart(git, store, &pair)?;
        since::of(&differ(git, &apart), tree, now)
    };
    trees
        .iter()
        .filter_map(|tree| {
            of(tree)
                .inspect_err(|error| tracing::warn!(%tree, %error, "no lines of an earlier tree"))
                .ok()
        })
        .collect()
}

fn apart(git: &Git, store: &ReviewStore, pair: &Pair) -> Result<Apart, Error> {
    Ok(Apart::of(git, store, [&pair.old, &pair.new])?)
}

/// What shows a change: from its own objects.
fn differ<'a>(git: &'a Git, apart: &'a Apart) -> Differ<'a> {
    Differ {
        git,
        store: apart.git_dir(),
    }
}

fn made(
    differ: &Differ,
    whole: Pair,
    review: &ReviewSpec,
    seed: &str,
    folder: &Path,
) -> Result<Evidence, Error> {
    if seed.is_empty() {
        return Err(Error::NoSeed);
    }
    let globs = globs(&review.exclude)?;
    let path = folder
        .to_str()
        .ok_or_else(|| Error::Path(folder.display().to_string()))?;
    let all = differ.list(&whole, Renames::None, Counts::Without)?;
    if all.is_empty() {
        let Pair { old, new } = whole;
        return Err(Error::Empty { old, new });
    }
    let renames = Renames::for_list(&all);
    let draft = draft(folder)?;
    let index = draft.path().join("index");
    let halves = exclusion::divide(differ, whole, &all, &globs, &index)?;
    if halves.hidden.is_some() {
        fs_err::remove_file(&index)?;
    }
    let shown = differ.list(&halves.shown, renames, Counts::With)?;
    let hidden = match &halves.hidden {
        Some(pair) => differ.list(pair, renames, Counts::With)?,
        None => Vec::new(),
    };
    nothing_lost(&all, shown.iter().chain(&hidden))?;

    let diff = draft.path().join("diff.patch");
    differ.patch(&halves.shown, renames, new_file(&diff)?)?;
    let ranges = patch::read(&mut io::BufReader::new(open(&diff)?), &shown)?;
    let (parts, diff_sha256) = write_parts(&diff, draft.path(), seed, review.diff_cap)?;

    let facts = blobs::facts(differ, &new_blobs(shown.iter().chain(&hidden)))?;
    let shown = shown.into_iter().zip(ranges);
    let mut files: Vec<ChangedFile> = shown
        .map(|(entry, ranges)| changed(entry, ranges, &facts))
        .collect();
    files.extend(hidden.into_iter().map(|entry| excluded(entry, &facts)));
    files.sort_by(|a, b| (&a.path, &a.old_path).cmp(&(&b.path, &b.old_path)));

    let listing = listing::render(&files)?;
    write(&draft.path().join("files.json"), &listing)?;
    publish(draft, folder)?;
    Ok(Evidence {
        files,
        parts,
        diff_sha256,
        files_sha256: Digest::of(&listing),
        since: Vec::new(),
        folder: path.to_owned(),
    })
}

fn globs(texts: &[String]) -> Result<Vec<Glob>, Error> {
    let parse = |text: &String| {
        Glob::parse(text).map_err(|source| Error::Glob {
            text: text.clone(),
            source,
        })
    };
    texts.iter().map(parse).collect()
}

/// Every path of the list without renames must stand in the final lists, and nothing else.
fn nothing_lost<'a>(all: &[Entry], listed: impl Iterator<Item = &'a Entry>) -> Result<(), Error> {
    let mut wanted: BTreeSet<&RepoPath> = all.iter().map(|entry| &entry.path).collect();
    for entry in listed {
        for path in [Some(&entry.path), entry.old_path.as_ref()]
            .into_iter()
            .flatten()
        {
            if !wanted.remove(path) {
                return Err(Error::Lost(path.clone()));
            }
        }
    }
    match wanted.into_iter().next() {
        Some(path) => Err(Error::Lost(path.clone())),
        None => Ok(()),
    }
}

fn new_blobs<'a>(entries: impl Iterator<Item = &'a Entry>) -> BTreeSet<&'a Oid> {
    entries
        .filter(|entry| entry.new_mode != ABSENT && entry.new_mode != SUBMODULE)
        .map(|entry| &entry.new_oid)
        .collect()
}

fn changed(entry: Entry, ranges: patch::Ranges, facts: &BTreeMap<Oid, Facts>) -> ChangedFile {
    let is_new = entry.has_new_bytes();
    let blob = facts
        .get(&entry.new_oid)
        .filter(|_| entry.new_mode != ABSENT);
    // A file that is gone, or that only moved, brings no bytes that nobody saw.
    let unreviewed = if !is_new {
        None
    } else if entry.new_mode == SUBMODULE {
        Some(UnreviewedKind::Submodule)
    } else if entry.lines.is_none() {
        Some(UnreviewedKind::Binary)
    } else if blob.is_some_and(|facts| facts.is_lfs_pointer) {
        Some(UnreviewedKind::LfsPointer)
    } else {
        None
    };
    let changed_lines = if unreviewed.is_some() {
        EVERY_LINE.to_vec()
    } else {
        ranges
    };
    file(entry, blob, unreviewed, changed_lines)
}

fn excluded(entry: Entry, facts: &BTreeMap<Oid, Facts>) -> ChangedFile {
    let blob = facts
        .get(&entry.new_oid)
        .filter(|_| entry.new_mode != ABSENT);
    file(
        entry,
        blob,
        Some(UnreviewedKind::Excluded),
        EVERY_LINE.to_vec(),
    )
}

/// Of a file that is not shown we do not know which lines changed, so that no finding on it may
/// be believed to be older than the change.
const EVERY_LINE: [(u32, u32); 1] = [(1, u32::MAX)];

fn file(
    entry: Entry,
    blob: Option<&Facts>,
    unreviewed: Option<UnreviewedKind>,
    changed_lines: Vec<(u32, u32)>,
) -> ChangedFile {
    let lines = entry.lines.filter(|_| !entry.is_submodule());
    ChangedFile {
        size: blob.map(|facts| facts.size),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        path: entry.path,
        status: entry.status,
        old_path: entry.old_path,
        old_mode: entry.old_mode,
        new_mode: entry.new_mode,
        unreviewed,
        changed_lines,
    }
}

fn write_parts(
    diff: &Path,
    draft: &Path,
    seed: &str,
    diff_cap: u64,
) -> Result<(Vec<DiffPart>, Digest), Error> {
    let folder = draft.join("parts");
    std::fs::DirBuilder::new().mode(0o700).create(&folder)?;
    let mut source = io::BufReader::new(open(diff)?);
    let made = parts::cut(&mut source, seed, diff_cap, |name, bytes| {
        write(&folder.join(format!("{name}.patch")), bytes)
    })?;
    sync(&folder)?;
    Ok(made)
}

/// How many random letters and digits end the name of a draft.
const RANDOM: usize = 6;
/// How the name begins of what is drafted of the change since an earlier tree.
const SINCE: &str = ".since-";

fn draft_prefix(of: &str) -> String {
    format!(".{of}-")
}

/// Of what a folder beside evidence is a draft that a killed engine left: a round's number, or nothing
/// that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DraftOf<'a> {
    /// The evidence of this round.
    Round(&'a str),
    /// The change since an earlier tree.
    Since,
}

/// What a name says that it is a draft of; `None` for every other name.
pub(crate) fn draft_of(name: &str) -> Option<DraftOf<'_>> {
    let (of, random) = name.split_at_checked(name.len().checked_sub(RANDOM)?)?;
    if !random.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    if of == SINCE {
        return Some(DraftOf::Since);
    }
    let round = of.strip_prefix('.')?.strip_suffix('-')?;
    let is_number = !round.is_empty() && round.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(DraftOf::Round(round))
}

/// An empty folder of ours beside the final one, named for it: what a killed engine leaves of it is
/// known to be its round's.
fn draft(folder: &Path) -> Result<tempfile::TempDir, Error> {
    let parent = folder.parent().unwrap_or(folder);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(parent)?;
    let draft = tempfile::Builder::new()
        .prefix(&draft_prefix(&name))
        .rand_bytes(RANDOM)
        .permissions(std::fs::Permissions::from_mode(0o700))
        .tempdir_in(parent)?;
    Ok(draft)
}

/// Puts the finished folder in its place; what an earlier try left there goes, links unfollowed.
fn publish(draft: tempfile::TempDir, folder: &Path) -> io::Result<()> {
    sync(draft.path())?;
    match fs_err::symlink_metadata(folder) {
        Ok(meta) if meta.is_dir() => fs_err::remove_dir_all(folder)?,
        Ok(_) => fs_err::remove_file(folder)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    fs_err::rename(draft.path(), folder)?;
    // The folder has another name now and is no longer a draft to be removed.
    let _gone = draft.keep();
    folder.parent().map_or(Ok(()), sync)
}

fn new_file(path: &Path) -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = new_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn open(path: &Path) -> io::Result<std::fs::File> {
    Ok(fs_err::File::open(path)?.into_parts().0)
}

fn sync(folder: &Path) -> io::Result<()> {
    open(folder)?.sync_all()
}

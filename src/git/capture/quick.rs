//! A capture that asks git for what differs alone: the same tree as the reference's, sooner.
//!
//! A look of our own (`look`) finds the entries of the user's index that are not surely unchanged, and
//! what no entry explains. Git is given these alone, with the stat data that the user's index has of
//! them and in an index that is as old, and adds them as it would have in a copy of the whole: its rules
//! for what is ignored, converted, executable or a repository of its own are nobody else's. The tree is
//! then that of the other entries and of these.
//!
//! # Invariants
//! - Whatever is not covered, fails, or makes git complain is no answer but the reference's to capture:
//!   refusals are made there alone.
//! - No file is taken for unchanged that git would look at again, whichever of its rules for times it was
//!   built with.
//! - A folder's tree is taken to be there only where the user's index vouches for it, as git takes it;
//!   any other is made by git, which then asks for each object in it.
//!
//! Tests: every hazard of `tests/hazards` is captured both ways, and so is every random round of plain
//! repositories there (`plain_rounds`); the other random rounds have what is left to git.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::digest::Digest;
use crate::git::capture::folders::tree_of;
use crate::git::capture::look::{Look, look};
use crate::git::capture::{Capture, Source};
use crate::git::config::GitConfig;
use crate::git::error::Error;
use crate::git::index::cache_tree::Folders;
use crate::git::index::file::{IndexFile, Line};
use crate::git::index::{TemporaryIndex, UserIndex};
use crate::git::object_id::{RawId, raw};
use crate::git::program::finish;
use crate::git::refuse::Meaning;
use crate::git::uncommitted::{terminated, wanted};
use crate::process::command::Command;

/// More names than git is given at once: it holds each file that it adds against each of them.
const MOST_OTHERS: usize = 2_000;

/// An entry of the tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) mode: &'static [u8],
    pub(super) path: &'a [u8],
    pub(super) id: RawId,
}

/// A capture; `None` where it is the reference's to make.
pub(super) fn capture(source: &Source<'_>) -> Result<Option<Capture>, Meaning> {
    attempt(source).or_else(|error| {
        tracing::debug!(%error, "the working tree is captured by git alone");
        match source.failed(&error) {
            Meaning::Refused(_) => Ok(None),
            unquiet @ Meaning::Unquiet(_) => Err(unquiet),
        }
    })
}

fn attempt(source: &Source<'_>) -> Result<Option<Capture>, Error> {
    if !is_covered(source.config)? {
        return Ok(None);
    }
    let (repo, format) = (source.repo, source.repo.object_format);
    let Some(user) = UserIndex::read(&repo.git_dir)? else {
        return Ok(None);
    };
    let Some(index) = IndexFile::parse(&user.bytes, format) else {
        return Ok(None);
    };
    if !index.lines().iter().all(Line::is_plain) {
        return Ok(None);
    }
    let Some(look) = look(&repo.source_root, &index, format, user.written)? else {
        return Ok(None);
    };
    // What is said of all entries is put together while git looks at a few.
    std::thread::scope(|scope| {
        let said = scope.spawn(|| (index.folders(), index.digest()));
        differing(source, &user, &index, &look, || said.join().ok())
    })
}

/// Has git look at what differs; `said` waits for the index's ids of folders, and the sum of what it lists.
fn differing(
    source: &Source<'_>,
    user: &UserIndex,
    index: &IndexFile<'_>,
    look: &Look,
    said: impl FnOnce() -> Option<(Folders, Digest)>,
) -> Result<Option<Capture>, Error> {
    let format = source.repo.object_format;
    let given = given(index, &look.changed);
    let lines = index.lines();
    let part = index.part(given.iter().map(|number| &lines[*number]));
    let own = TemporaryIndex::of(&part, user, &source.store.temporary())?;
    let command = source.storing(own.command(source.git, &source.repo.source_root));
    let others = wanted(&command, &look.others)?;
    if others.len() > MOST_OTHERS {
        return Ok(None);
    }
    let added = add(&command, &look.changed, &others, &own.path())?;
    let added = added.as_deref().unwrap_or(&part);
    let Some(added) =
        IndexFile::parse(added, format).filter(|it| it.lines().iter().all(Line::is_plain))
    else {
        return Ok(None);
    };
    // Git goes on with what a file of attributes said that it has just taken away; a second process of it
    // does not.
    let is_there = |path: &[u8]| added.lines().iter().any(|line| added.path(line) == path);
    let mut paths = given.iter().map(|number| index.path(&lines[*number]));
    if paths.any(|path| is_attributes(path) && !is_there(path)) {
        return Ok(None);
    }
    let Some(held) = held(index, &given, &added) else {
        return Ok(None);
    };
    let Some((mut known, listing)) = said() else {
        return Ok(None);
    };
    // Nobody asks for the root as git does for each folder in it.
    if known.get(&[][..]) != Some(&raw(source.head_tree)) {
        known.remove(&[][..]);
    }
    let tree = tree_of(&command, format, &known, &held)?;
    Ok(tree.map(|tree| Capture {
        tree,
        index: listing,
    }))
}

/// Whether the configuration has nothing in it that makes git do more than is done here. What attributes
/// say is git's own to read: it has all of them beside it.
fn is_covered(config: &GitConfig) -> Result<bool, Error> {
    // Unlike the others these are on where nothing is said.
    let is_off = |name| Ok::<_, Error>(config.last(name).is_some() && !config.flag(name)?);
    let commands = ["clean", "smudge", "process", "required"];
    let remotes = ["promisor", "partialclonefilter"];
    Ok(!is_off("core.filemode")?
        && !is_off("core.symlinks")?
        && !config.flag("core.ignorecase")?
        && !config.flag("core.precomposeunicode")?
        && !config.flag("core.sparsecheckout")?
        && !config.flag("index.sparse")?
        // A filter may ask git for more of the index than it is given.
        && config.subsections("filter", &commands).is_empty()
        && config.subsections("remote", &remotes).is_empty()
        && config.last("extensions.partialclone").is_none())
}

/// The entries that git is given: what changed, and what it reads in its index when it adds.
fn given(index: &IndexFile<'_>, changed: &[usize]) -> BTreeSet<usize> {
    let mut given: BTreeSet<usize> = changed.iter().copied().collect();
    for (number, line) in index.lines().iter().enumerate() {
        if is_attributes(index.path(line)) {
            given.insert(number);
        }
    }
    given
}

fn is_attributes(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(b".gitattributes")
}

/// Has git add what differs; the bytes of its index then, `None` where nothing does.
fn add(
    command: &Command,
    changed: &[usize],
    others: &[&[u8]],
    index: &Path,
) -> Result<Option<Vec<u8>>, Error> {
    if changed.is_empty() && others.is_empty() {
        return Ok(None);
    }
    if !changed.is_empty() {
        // Without a path it does not ask whether an entry's folder is ignored.
        finish(&command.clone().args(["add", "-u"]))?;
    }
    if !others.is_empty() {
        let command = command
            .clone()
            .args(["--literal-pathspecs", "add", "-A"])
            .args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        finish(&command.stdin(terminated(others)))?;
    }
    Ok(Some(fs_err::read(index)?))
}

/// The entries of the tree in order: those that git was not given, and those that it has now; `None`
/// where both have something at one place.
fn held<'a>(
    index: &'a IndexFile<'_>,
    given: &BTreeSet<usize>,
    added: &'a IndexFile<'_>,
) -> Option<Vec<Held<'a>>> {
    let of = |index: &'a IndexFile<'_>, line: &'a Line| Held {
        mode: line.mode(),
        path: index.path(line),
        id: line.id,
    };
    let mut new = added.lines().iter().map(|line| of(added, line)).peekable();
    let mut held = Vec::with_capacity(index.lines().len() + added.lines().len());
    for (number, line) in index.lines().iter().enumerate() {
        if given.contains(&number) {
            continue;
        }
        let old = of(index, line);
        while let Some(new) = new.next_if(|new| new.path < old.path) {
            held.push(new);
        }
        held.push(old);
    }
    held.extend(new);
    // A file and a folder of one name are told by their order: what lies below comes after it, and
    // whatever comes between begins with the same name.
    let mut files: Vec<&[u8]> = Vec::new();
    for entry in &held {
        while files
            .last()
            .is_some_and(|file| !entry.path.starts_with(file))
        {
            files.pop();
        }
        let is_below = |file: &&[u8]| matches!(entry.path.get(file.len()), None | Some(b'/'));
        if files.iter().any(is_below) {
            return None;
        }
        files.push(entry.path);
    }
    Some(held)
}

//! A temporary copy of the user's index, in which hidden edits are shown.
//!
//! The copy keeps the index's mtime: a later one loses a racily clean edit. Every entry that git
//! was told not to look at is entered again without flags *and without stat data*, so that its file
//! is hashed; clearing the flags alone misses same-size edits. Reading a split index makes git
//! freshen the mtime of its shared half, as every `git status` does; its bytes stay.
//!
//! Two things no such copy sees, because git itself does not when it adds and commits: an edit of the
//! same size that puts the old mtime back within the very second of the entry's ctime, under an index
//! that is younger; and a file that only its attributes convert in another way than before. What is
//! approved is what the user would commit.

pub(crate) mod cache_tree;
pub(crate) mod file;
pub(crate) mod recorded;

use std::collections::HashMap;
use std::fs::FileTimes;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::domain::oid::Oid;
use crate::git::error::{Error, path_of};
use crate::git::index::file::IndexFile;
use crate::git::index::recorded::Written;
use crate::git::program::{Git, finish};
use crate::git::repository::ObjectFormat;
use crate::process::command::Command;

/// One index entry, as `ls-files -v -s -z` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `H`, or what hides it: lower case for assume-unchanged, `S` or `s` for skip-worktree.
    tag: u8,
    /// The mode, as git prints it.
    mode: String,
    /// The object.
    pub(crate) oid: Oid,
    /// 0, or the side of a conflict.
    stage: u8,
    /// The path.
    pub(crate) path: Vec<u8>,
}

impl Entry {
    /// Whether it is a submodule that is in no conflict.
    pub(crate) fn is_gitlink(&self) -> bool {
        self.mode == "160000"
    }
    fn is_hidden(&self) -> bool {
        self.stage == 0 && (self.is_skipped() || self.tag.is_ascii_lowercase())
    }
    fn is_skipped(&self) -> bool {
        self.tag.eq_ignore_ascii_case(&b'S')
    }
    /// The line that enters it anew, with this object.
    fn line(&self, oid: &Oid) -> Vec<u8> {
        let mut line = format!("{} {oid} {}\t", self.mode, self.stage).into_bytes();
        line.extend_from_slice(&self.path);
        line.push(0);
        line
    }
}

/// Whether absent files of flagged entries are absent by the checkout's own rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// Every file of the index should be there.
    Full,
    /// `core.sparseCheckout`: what is flagged and absent stays as it is.
    Sparse,
}

/// The user's index, as it was at one moment.
#[derive(Debug)]
pub(crate) struct UserIndex {
    pub(crate) bytes: Vec<u8>,
    modified: SystemTime,
    /// When git wrote it.
    pub(crate) written: Written,
}

impl UserIndex {
    /// Reads the index of `git_dir`; `None` where there is none.
    pub(crate) fn read(git_dir: &Path) -> io::Result<Option<Self>> {
        let mut index = match fs_err::File::open(git_dir.join("index")) {
            Ok(index) => index,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let meta = index.metadata()?;
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
        index.read_to_end(&mut bytes)?;
        Ok(Some(Self {
            bytes,
            modified: meta.modified()?,
            written: Written::new(meta.mtime()),
        }))
    }
}

/// A temporary index beside one working tree.
#[derive(Debug)]
pub(crate) struct TemporaryIndex {
    folder: tempfile::TempDir,
}

impl TemporaryIndex {
    /// Copies the index of `git_dir`; without one, there is none to copy.
    pub(crate) fn copy(
        git_dir: &Path,
        temporary: &Path,
        format: ObjectFormat,
    ) -> io::Result<(Self, Seed)> {
        let Some(index) = UserIndex::read(git_dir)? else {
            return Ok((Self::empty(temporary)?, Seed::Nothing));
        };
        let file = IndexFile::parse(&index.bytes, format);
        let plain = file.as_ref().map(IndexFile::plain);
        let copy = Self::of(plain.as_ref().unwrap_or(&index.bytes), &index, temporary)?;
        Ok((copy, Seed::Index(file.map(|file| file.listing()))))
    }

    /// One of these bytes, which is as old as the user's.
    pub(crate) fn of(bytes: &[u8], index: &UserIndex, temporary: &Path) -> io::Result<Self> {
        let copy = Self::empty(temporary)?;
        copy.write(bytes, index.modified)?;
        Ok(copy)
    }

    fn write(&self, bytes: &[u8], modified: SystemTime) -> io::Result<()> {
        let mut target = fs_err::File::create(self.path())?;
        target.write_all(bytes)?;
        let times = FileTimes::new().set_modified(modified);
        target.file().set_times(times)
    }

    /// What [`list`] says of it. From here on git believes nothing of it but its entries: where it was not
    /// read here, git writes it first as git itself reads it. Else an entry whose flags say another length
    /// of its name than it has is listed under the one and compared with the disk under the other. One in
    /// two halves and a sparse one are made whole by that, but folders' ids that are not those of the
    /// entries stay, and `git status` overlooks what differs below them.
    pub(crate) fn settle(
        &self,
        seed: Seed,
        command: &Command,
        format: ObjectFormat,
    ) -> Result<Vec<u8>, Error> {
        if let Seed::Index(Some(listing)) = seed {
            return Ok(listing);
        }
        let command = command
            .clone()
            .args(SHOWN_FLAGS)
            .args(["-c", "index.sparse=false"])
            .args(["update-index", "--force-write-index"]);
        finish(&command)?;
        let index = UserIndex::read(self.folder.path())?.ok_or(Error::OddIndex)?;
        let file = IndexFile::parse(&index.bytes, format).ok_or(Error::OddIndex)?;
        self.write(&file.plain(), index.modified)?;
        Ok(file.listing())
    }

    /// One without an entry.
    pub(crate) fn empty(temporary: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("index-")
            .tempdir_in(temporary)?;
        Ok(Self { folder })
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// A git process in `root` that uses this index and never writes beside the user's.
    pub(crate) fn command(&self, git: &Git, root: &Path) -> Command {
        git.command(root)
            .env("GIT_INDEX_FILE", self.path())
            // A split index writes its shared half into the user's git directory; a cache of
            // untracked files is trusted without looking.
            .args(["-c", "core.splitIndex=false"])
            .args(["-c", "core.untrackedCache=false"])
            // It is thrown away: nobody looks at its checksum.
            .args(["-c", "index.skipHash=true"])
    }
}

/// What a temporary index was made from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seed {
    /// The user's index, with what [`list`] would say of it where it could be read here: then the
    /// folders' ids in the copy are right, too.
    Index(Option<Vec<u8>>),
    /// The user has no index: HEAD is read into it.
    Nothing,
}

/// Two names that differ in case alone: with `core.ignoreCase` git takes them for one file, and
/// which of both contents it enters under which name depends on the order of its reading.
pub(crate) fn same_but_for_case(listing: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut seen: HashMap<Vec<u8>, &[u8]> = HashMap::new();
    listing.split(|byte| *byte == 0).find_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let path = &line[tab + 1..];
        let other = *seen.entry(path.to_ascii_lowercase()).or_insert(path);
        (other != path).then_some((other, path))
    })
}

/// Otherwise git hides the flag of a file that is present outside a sparse checkout's patterns, and
/// with it that its stat data cannot be trusted.
const SHOWN_FLAGS: [&str; 2] = ["-c", "sparse.expectFilesOutsideOfPatterns=true"];

/// Lists what is hidden, unmerged or a submodule in the index, with flags as they are stored, and
/// returns the raw listing of everything beside it.
pub(crate) fn list(command: &Command) -> Result<(Vec<Entry>, Vec<u8>), Error> {
    let listing = listing(command)?;
    Ok((remarkable(&listing)?, listing))
}

fn listing(command: &Command) -> Result<Vec<u8>, Error> {
    let command = command
        .clone()
        .args(SHOWN_FLAGS)
        .args(["ls-files", "-v", "-s", "-z"]);
    finish(&command)
}

/// The entries of a listing that are hidden, unmerged or submodules.
pub(crate) fn remarkable(listing: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut entries = Vec::new();
    for line in listing.split(|byte| *byte == 0) {
        if !line.is_empty() && !is_plain(line) {
            entries.push(parse(line).ok_or_else(|| Error::answer("git ls-files", line))?);
        }
    }
    Ok(entries)
}

/// Whether a line is of a file or a link that git looks at: nothing that anybody asks about. An
/// index has tens of thousands of them.
fn is_plain(line: &[u8]) -> bool {
    let tab = line.iter().position(|byte| *byte == b'\t');
    tab.is_some_and(|tab| {
        line.starts_with(b"H 100") && line[..tab].ends_with(b" 0")
            || line.starts_with(b"H 120000 ") && line[..tab].ends_with(b" 0")
    })
}

/// `<tag> <mode> <oid> <stage>\t<path>`.
fn parse(line: &[u8]) -> Option<Entry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
    let [tag] = words.next()?.as_bytes() else {
        return None;
    };
    let mode = words.next()?.to_owned();
    let oid = Oid::parse(words.next()?)?;
    let stage = words.next()?.parse().ok()?;
    Some(Entry {
        tag: *tag,
        mode,
        oid,
        stage,
        path: line[tab + 1..].to_vec(),
    })
}

/// The `--index-info` lines that show what is hidden and where submodules stand.
///
/// `heads` are the submodules whose HEAD is known. A hidden entry whose file is absent is entered
/// again too, so that a hidden deletion shows, except where a sparse checkout leaves it out.
pub(crate) fn corrections(
    root: &Path,
    entries: &[Entry],
    checkout: Checkout,
    heads: &[(Vec<u8>, Oid)],
) -> io::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for entry in entries {
        let head = heads
            .iter()
            .find(|(path, _)| *path == entry.path && entry.stage == 0)
            .map(|(_, head)| head);
        let shows = entry.is_hidden()
            && (checkout == Checkout::Full || !entry.is_skipped() || exists(root, &entry.path)?);
        if shows || head.is_some_and(|head| *head != entry.oid) {
            lines.extend(entry.line(head.unwrap_or(&entry.oid)));
        }
    }
    Ok(lines)
}

fn exists(root: &Path, path: &[u8]) -> io::Result<bool> {
    match fs_err::symlink_metadata(root.join(path_of(path))) {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Enters the lines into the temporary index.
pub(crate) fn enter(command: &Command, lines: Vec<u8>) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let command = command.clone().args(["update-index", "-z", "--index-info"]);
    finish(&command.stdin(lines)).map(drop)
}

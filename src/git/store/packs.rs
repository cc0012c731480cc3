//! The packs of a store: whether one is whole, and setting aside those that are not.
//!
//! Git closes each of their files with a sum of all that stands before it, so that a file that a full disk
//! or a power cut damaged is told by its bytes alone. A process that looks at them could be killed, or find
//! no memory, and would then have said nothing of the pack.

use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use super::place::free_name;
use crate::domain::failure::Failure;
use crate::git::Git;
use crate::git::error::{Error, path_shown};
use crate::git::object_id::ObjectId;
use crate::git::program::finish;
use crate::git::repository::ObjectFormat;
use crate::git::store::place::unusable;

/// What is damaged of a pack.
#[derive(Debug)]
pub(super) struct Damaged {
    /// The pack or a file beside it.
    pub(super) path: PathBuf,
    /// The pack's name, where the pack cannot be read; else what is damaged only helps git to read it.
    name: Option<String>,
}

/// What is damaged in a folder of packs. A pack without an index is not finished, and an index without a
/// pack is nothing to git.
pub(super) fn damaged(folder: &Path, format: ObjectFormat) -> io::Result<Vec<Damaged>> {
    let mut found = Vec::new();
    for file in fs_err::read_dir(folder)? {
        let index = file?.path();
        let name = index.file_stem().and_then(OsStr::to_str);
        let Some(name) = name.filter(|_| index.extension().is_some_and(|kind| kind == "idx"))
        else {
            continue;
        };
        let pack = index.with_extension("pack");
        if !fs_err::exists(&pack)? {
            continue;
        }
        if !is_whole(&index, format)? {
            found.push(Damaged {
                path: pack,
                name: Some(name.to_owned()),
            });
            continue;
        }
        let reverse = index.with_extension("rev");
        if Summed::read(&reverse, format)?.is_some_and(|reverse| !reverse.is_right) {
            found.push(Damaged {
                path: reverse,
                name: None,
            });
        }
    }
    Ok(found)
}

/// Whether an index and its pack are what was written.
pub(super) fn is_whole(index: &Path, format: ObjectFormat) -> io::Result<bool> {
    let Some(packed) = Summed::read(&index.with_extension("pack"), format)? else {
        return Ok(false);
    };
    let Some(index) = Summed::read(index, format)? else {
        return Ok(false);
    };
    // It says which pack it is of.
    Ok(packed.is_right && packed.start == *b"PACK" && index.is_right && index.before == packed.sum)
}

/// A file that ends with the sum of what stands before.
struct Summed {
    start: [u8; 4],
    /// What stands before the sum, as long as one.
    before: Vec<u8>,
    sum: Vec<u8>,
    is_right: bool,
}

impl Summed {
    /// Reads one; `None` where there is none.
    fn read(path: &Path, format: ObjectFormat) -> io::Result<Option<Self>> {
        let mut file = match fs_err::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let width = format.width();
        let mut start = [0; 4];
        let mut sum = ObjectId::sum(format);
        // The last bytes are held back until it is known that more follow.
        let mut held: Vec<u8> = Vec::new();
        let mut room = vec![0; 1 << 16];
        let mut length = 0;
        loop {
            let read = match file.read(&mut room) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if length == 0 {
                let known = read.min(start.len());
                start[..known].copy_from_slice(&room[..known]);
            }
            length += read;
            held.extend_from_slice(&room[..read]);
            // Two of them: what stands before the sum is asked for as well.
            let done = held.len().saturating_sub(2 * width);
            sum.update(&held[..done]);
            held.drain(..done);
        }
        let cut = held.len().saturating_sub(width);
        let (before, end) = held.split_at(cut);
        sum.update(before);
        Ok(Some(Self {
            start,
            before: before.to_vec(),
            sum: end.to_vec(),
            is_right: length > width && sum.finish()[..width] == *end,
        }))
    }
}

/// Moves what is damaged out of a store that nobody else uses, each pack with all files beside it, into a
/// folder that is named like a store that was set aside; and forgets the rounds that it takes with it.
///
/// What cannot be read now is not known to be damaged: then nothing is moved.
///
/// # Errors
/// `StateUnwritable` when something cannot be read or moved.
pub(super) fn set_aside(git: &Git, store: &Path, format: ObjectFormat) -> Result<(), Failure> {
    let folder = store.join("objects/pack");
    let moved = || {
        let found = damaged(&folder, format)?;
        if found.is_empty() {
            return Ok(());
        }
        let aside = free_name(store)?;
        DirBuilder::new().mode(0o700).create(&aside)?;
        let mut names = Vec::new();
        for Damaged { path, name } in found {
            tracing::warn!(path = %path_shown(&path), aside = %path_shown(&aside), "damaged; set aside");
            match name {
                Some(name) => {
                    move_all(&folder, &name, &aside)?;
                    names.extend(name.strip_prefix("pack-").map(str::to_owned));
                }
                None => move_one(&path, &aside)?,
            }
        }
        forget(git, store, &names)
    };
    moved().map_err(|error: Error| unusable(&folder, error))
}

/// Moves the files of a pack; the index first, by which git knows it.
fn move_all(folder: &Path, name: &str, aside: &Path) -> io::Result<()> {
    move_one(&folder.join(format!("{name}.idx")), aside)?;
    for file in fs_err::read_dir(folder)? {
        let path = file?.path();
        if path.file_stem().and_then(OsStr::to_str) == Some(name) {
            move_one(&path, aside)?;
        }
    }
    Ok(())
}

fn move_one(path: &Path, aside: &Path) -> io::Result<()> {
    fs_err::rename(path, aside.join(path.file_name().unwrap_or_default()))
}

/// Drops what holds the rounds that were in these packs and that nothing else has whole: a round that is
/// not there is held by nothing.
fn forget(git: &Git, store: &Path, packs: &[String]) -> Result<(), Error> {
    let records = store.join("run-loop-packs");
    for run in entries(&records)? {
        for record in entries(&run)? {
            let named = fs_err::read_to_string(&record)?;
            if !named
                .lines()
                .any(|line| packs.iter().any(|pack| pack == line))
            {
                continue;
            }
            let relative = record.strip_prefix(&records).map_err(io::Error::other)?;
            let held = store.join("refs/run-loop").join(relative);
            if is_lost(git, store, &held)? {
                tracing::warn!(round = %path_shown(relative), "its snapshot was in a damaged pack");
                for file in [&held, &record] {
                    match fs_err::remove_file(file) {
                        Err(error) if error.kind() != ErrorKind::NotFound => {
                            return Err(error.into());
                        }
                        Ok(()) | Err(_) => {}
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether objects of a snapshot are missing for sure.
fn is_lost(git: &Git, store: &Path, held: &Path) -> Result<bool, Error> {
    let commit = match fs_err::read_to_string(held) {
        Ok(commit) => commit,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let walk = git
        .on(store)
        // What a remote has promised is not lost, and nothing is fetched to know it.
        .args([
            "rev-list",
            "--objects",
            "--quiet",
            "--exclude-promisor-objects",
        ])
        .args([commit.trim_end(), "--not", "--alternate-refs"]);
    match finish(&walk) {
        Ok(_) | Err(Error::Complained { .. }) => Ok(false),
        Err(Error::Failed { status, .. }) => Ok(status.code() == Some(128)),
        Err(error) => Err(error),
    }
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs_err::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

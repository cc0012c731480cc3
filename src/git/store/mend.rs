//! Mending a store in which objects are damaged: a full disk or a power cut leaves files cut short, and git
//! writes nothing that lies there already, whatever it holds.
//!
//! Looked for only when something failed. What lies loose is removed, to be written anew; a store with a
//! damaged pack is marked, and the next run that opens it sets that pack aside (`packs`).

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use flate2::{Decompress, FlushDecompress, Status};

use super::place::{lock_file, put};
use super::{ReviewStore, packs};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::error::path_shown;
use crate::git::object_id::{ObjectId, raw};
use crate::git::repository::ObjectFormat;
use crate::lock::{Locked, Sharing};

/// The file that says that a store is damaged.
pub(super) const MARK: &str = "run-loop-damaged";

/// The longest `<kind> <size>`.
const LONGEST_HEADER: usize = 32;

impl ReviewStore {
    /// Does something that reads and writes objects, and once more where damaged ones were in its way, or
    /// where git failed: a garbage collection in the user's repository takes away what git found there and
    /// did not write here.
    ///
    /// # Errors
    /// The first failure, with what is known of it.
    pub(crate) fn twice<T>(
        &self,
        mut work: impl FnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let failure = match work() {
            Err(failure) => failure,
            done @ Ok(_) => return done,
        };
        let is_gits = matches!(failure.code, Code::GitFailed | Code::SnapshotRefused);
        match self.mended(failure) {
            Ok(()) => work(),
            Err(failure) if is_gits => work().map_err(|_| failure),
            Err(failure) => Err(failure),
        }
    }

    /// Whether what failed is worth a second try: damaged objects were found, and are gone.
    ///
    /// # Errors
    /// The failure, with what is known of it, where a pack is what is damaged.
    pub(crate) fn mended(&self, failure: Failure) -> Result<(), Failure> {
        if tells_of_the_source(failure.code) {
            return Err(failure);
        }
        match self.looked_through() {
            Ok((0, None)) => Err(failure),
            Ok((0, Some(pack))) => {
                let message = format!(
                    "{}; in the review store {} is damaged, and the next run sets it aside",
                    failure.message,
                    path_shown(&pack)
                );
                Err(Failure { message, ..failure })
            }
            Ok((removed, _)) => {
                let store = self.git_dir().display();
                tracing::warn!(%store, removed, "damaged objects of the review store are written anew");
                Ok(())
            }
            Err(error) => {
                tracing::warn!(%error, "the review store could not be looked through");
                Err(failure)
            }
        }
    }

    /// How many loose objects were damaged, and are gone; where there are none, a pack that is.
    fn looked_through(&self) -> io::Result<(usize, Option<PathBuf>)> {
        let lock = self.git_dir().with_extension("build");
        let lock = lock_file(&lock).map_err(|failure| io::Error::other(failure.message))?;
        // Two runs may look at once: the second must not remove what the first wrote anew.
        let _alone = Locked::wait(lock, Sharing::Exclusive)?;
        let removed = self.without_damaged()?;
        let pack = if removed == 0 {
            self.damaged_pack()?
        } else {
            None
        };
        Ok((removed, pack))
    }

    /// Removes the loose objects that are damaged, and counts them.
    fn without_damaged(&self) -> io::Result<usize> {
        let mut removed = 0;
        for folder in fs_err::read_dir(self.objects())? {
            let folder = folder?;
            let name = folder.file_name();
            let Some(start) = name.to_str().filter(|name| name.len() == 2) else {
                continue;
            };
            for file in fs_err::read_dir(folder.path())? {
                let file = file?;
                let rest = file.file_name();
                let rest = rest.to_str().unwrap_or_default();
                // What git has not finished has another name.
                let Some(oid) = Oid::parse(&format!("{start}{rest}")) else {
                    continue;
                };
                if !is_whole(&file.path(), &oid)? {
                    fs_err::remove_file(file.path())?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// A pack that is damaged; the store is marked then.
    fn damaged_pack(&self) -> io::Result<Option<PathBuf>> {
        let found = packs::damaged(&self.objects().join("pack"), self.format)?;
        let Some(damaged) = found.into_iter().next() else {
            return Ok(None);
        };
        let text = format!("{} is damaged\n", path_shown(&damaged.path));
        put(&self.git_dir().join(MARK), Some(text.as_bytes()))?;
        Ok(Some(damaged.path))
    }
}

/// Whether a failure tells what the source or its base is like, so that no object is at fault.
fn tells_of_the_source(code: Code) -> bool {
    [
        Code::NestedRepository,
        Code::DirtySubmodule,
        Code::UnreadableFile,
        Code::FilterNotAllowed,
        Code::OperationInProgress,
        Code::UnbornBranch,
        Code::BaseUnknown,
        Code::BaseNotAncestor,
        Code::NoCommonHistory,
        Code::SourceMoved,
        Code::BaseMoved,
    ]
    .contains(&code)
}

/// Whether a file holds the object that it is named by, whole.
fn is_whole(path: &Path, oid: &Oid) -> io::Result<bool> {
    if !fs_err::symlink_metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut file = BufReader::new(fs_err::File::open(path)?);
    let mut inflate = Decompress::new(true);
    let mut seen = Seen {
        format: ObjectFormat::of(oid),
        header: Vec::new(),
        id: None,
    };
    let mut room = vec![0; 1 << 16];
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let inflated = inflate.decompress(file.fill_buf()?, &mut room, FlushDecompress::None);
        let read = usize::try_from(inflate.total_in() - read).map_err(io::Error::other)?;
        let written = usize::try_from(inflate.total_out() - written).map_err(io::Error::other)?;
        file.consume(read);
        let (Ok(status), Some(())) = (inflated, seen.take(&room[..written])) else {
            return Ok(false);
        };
        if status == Status::StreamEnd {
            let is_right = seen.id.is_some_and(|id| id.finish() == raw(oid));
            return Ok(is_right && file.fill_buf()?.is_empty());
        }
        if read == 0 && written == 0 {
            // It ends before its end.
            return Ok(false);
        }
    }
}

/// An object while its bytes go by.
struct Seen {
    format: ObjectFormat,
    header: Vec<u8>,
    id: Option<ObjectId>,
}

impl Seen {
    /// More of them; `None` where they are no object.
    fn take(&mut self, bytes: &[u8]) -> Option<()> {
        if let Some(id) = &mut self.id {
            id.update(bytes);
            return Some(());
        }
        let end = bytes.iter().position(|byte| *byte == 0);
        self.header
            .extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if self.header.len() > LONGEST_HEADER {
            return None;
        }
        if let Some(end) = end {
            let (kind, size) = std::str::from_utf8(&self.header).ok()?.split_once(' ')?;
            let mut id = ObjectId::new(self.format, kind, size.parse().ok()?);
            id.update(&bytes[end + 1..]);
            self.id = Some(id);
        }
        Some(())
    }
}

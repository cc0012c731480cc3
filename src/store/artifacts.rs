//! Large outputs of a run, each named by its hash.

use std::io;
use std::path::PathBuf;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::job::Stored;
use crate::store::folder::{Access, Folder};
use crate::store::state_folder::{StateFolder, unwritable};

/// How large an artifact may be when it is read back.
const CAP: u64 = 256 * 1024 * 1024;

/// The artifacts of one run: `runs/<id>/artifacts/<sha256>`.
#[derive(Debug)]
pub struct Artifacts {
    folder: Folder,
}

impl Artifacts {
    /// Opens a run's artifacts; the run's folder must be there.
    pub fn open(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        let folder = state
            .run(run)
            .and_then(|run| run.make_child("artifacts", Access::Private));
        folder
            .map(|folder| Self { folder })
            .map_err(|error| unwritable(&state.run_path(run).join("artifacts"), &error))
    }
    /// Where the bytes of this hash lie.
    #[must_use]
    pub fn path(&self, sha256: &Digest) -> PathBuf {
        self.folder.path().join(sha256.as_str())
    }
    /// Stores bytes durably; the same bytes again cost a comparison.
    pub fn put(&self, bytes: &[u8]) -> Result<Stored, Failure> {
        let sha256 = Digest::of(bytes);
        // A damaged file of that name is written anew.
        let there = self
            .folder
            .read(sha256.as_str(), CAP)
            .is_ok_and(|known| known == bytes);
        if !there {
            self.folder
                .write(sha256.as_str(), bytes, Access::Private)
                .map_err(|error| unwritable(&self.folder.path().join(sha256.as_str()), &error))?;
        }
        Ok(Stored {
            sha256,
            bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
        })
    }
    /// Reads bytes back, and checks that they are the ones that were stored.
    pub fn get(&self, sha256: &Digest) -> Result<Vec<u8>, Failure> {
        let path = self.folder.path().join(sha256.as_str());
        let bytes = self.folder.read(sha256.as_str(), CAP).map_err(|error| {
            let what = if error.kind() == io::ErrorKind::NotFound {
                "is missing".to_owned()
            } else {
                format!("cannot be read: {error}")
            };
            damaged(&path, &what)
        })?;
        if Digest::of(&bytes) == *sha256 {
            Ok(bytes)
        } else {
            Err(damaged(&path, "does not hold the bytes of its name"))
        }
    }
}

fn damaged(path: &std::path::Path, what: &str) -> Failure {
    Failure::new(
        Code::JournalFailed,
        format!("the artifact {} {what}", path.display()),
    )
}

//! Which working copies' configurations this user lets run commands: by the hash of the exact
//! bytes, per repository.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::load::FILE_NAME;
use crate::config::yaml::SIZE_CAP;
use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;

/// What is trusted; `trusted.json` in the user's configuration folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trust {
    version: u32,
    trusted: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    repository: String,
    sha256: Digest,
}

impl Trust {
    /// Reads the user's list; none there is an empty list, a damaged one is an error.
    ///
    /// # Errors
    /// When the file is there and cannot be read as a list.
    pub fn read(config_folder: &Path) -> Result<Self, Failure> {
        let path = path(config_folder);
        let bytes = match fs_err::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self {
                    version: 1,
                    trusted: Vec::new(),
                });
            }
            Err(error) => return Err(damaged(&path, &error)),
        };
        let list: Self = serde_json::from_slice(&bytes).map_err(|error| damaged(&path, &error))?;
        if list.version == 1 {
            Ok(list)
        } else {
            Err(damaged(
                &path,
                &format!("version {} is not known", list.version),
            ))
        }
    }
    /// Whether exactly these bytes are trusted for the repository.
    #[must_use]
    pub fn holds(&self, repository: &str, bytes: &[u8]) -> bool {
        let sha256 = Digest::of(bytes);
        self.trusted
            .iter()
            .any(|entry| entry.repository == repository && entry.sha256 == sha256)
    }
    /// Adds the bytes and writes the list.
    ///
    /// # Errors
    /// When the list cannot be written.
    pub fn add(
        mut self,
        config_folder: &Path,
        repository: &str,
        bytes: &[u8],
    ) -> Result<(), Failure> {
        if self.holds(repository, bytes) {
            return Ok(());
        }
        self.trusted.push(Entry {
            repository: repository.to_owned(),
            sha256: Digest::of(bytes),
        });
        let path = path(config_folder);
        let write = || -> std::io::Result<()> {
            fs_err::create_dir_all(config_folder)?;
            let mut file = tempfile::NamedTempFile::new_in(config_folder)?;
            serde_json::to_writer_pretty(&mut file, &self)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|error| {
            Failure::new(
                Code::StateUnwritable,
                format!("{} was not written: {error}", path.display()),
            )
        })
    }
}

fn path(config_folder: &Path) -> PathBuf {
    config_folder.join("trusted.json")
}

fn damaged(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        Code::ConfigInvalid,
        format!(
            "the list of trusted files {} cannot be used: {error}",
            path.display()
        ),
    )
    .next(["rm".to_owned(), path.display().to_string()])
}

/// Reads the working copy's `run-loop.yaml`: a regular file, not through a link, not a FIFO, under
/// the size cap. The reviewed tree can put anything there.
///
/// # Errors
/// When something else lies at its path, or it cannot be read.
pub fn working_copy(source_root: &Path) -> Result<Option<Vec<u8>>, Failure> {
    use rustix::fs::{Mode, OFlags};
    let path = source_root.join(FILE_NAME);
    let refused = |what: &dyn std::fmt::Display| {
        Failure::new(
            Code::ConfigInvalid,
            format!("{} cannot be read: {what}", path.display()),
        )
        .next(["ls".to_owned(), "-l".to_owned(), path.display().to_string()])
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(&path, flags, Mode::empty()) {
        Ok(fd) => std::fs::File::from(fd),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(refused(&"it is a symbolic link")),
        Err(error) => return Err(refused(&error)),
    };
    if !file.metadata().map_err(|error| refused(&error))?.is_file() {
        return Err(refused(&"it is no regular file"));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, so that a file that is too large is seen to be.
    let limit = u64::try_from(SIZE_CAP)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&error))?;
    Ok(Some(bytes))
}

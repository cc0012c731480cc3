//! The configuration that all working trees share, put back as it was (row M-223).

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err::os::unix::fs::OpenOptionsExt as _;

use crate::git::Error;
use crate::git::error::shown;
use crate::git::program::{Git, finish};

/// The shared configuration at one moment.
#[derive(Debug)]
pub(crate) struct SharedConfig {
    git: Git,
    path: PathBuf,
    bytes: Vec<u8>,
    listing: Vec<u8>,
}

impl SharedConfig {
    /// Reads it.
    pub(crate) fn read(git: &Git, common_dir: &Path) -> Result<Self, Error> {
        let path = common_dir.join("config");
        let bytes = fs_err::read(&path)?;
        let listing = listing(git, &path)?;
        Ok(Self {
            git: git.clone(),
            path,
            bytes,
            listing,
        })
    }

    /// Puts back every value under `submodule.`; what others changed meanwhile stays.
    pub(crate) fn restore(&self) -> Result<(), Error> {
        if fs_err::read(&self.path)? == self.bytes {
            return Ok(());
        }
        let before = submodule_values(&self.listing)?;
        let now = submodule_values(&listing(&self.git, &self.path)?)?;
        for name in now.keys().chain(before.keys()) {
            let (old, new) = (before.get(name), now.get(name));
            if old == new {
                continue;
            }
            if new.is_some() {
                self.set(&["--unset-all", name])?;
            }
            for value in old.into_iter().flatten() {
                self.set(&["--add", name, value])?;
            }
        }
        self.put_bytes_back()
    }

    fn set(&self, args: &[&str]) -> Result<(), Error> {
        let folder = self.path.parent().unwrap_or(&self.path);
        let command = self
            .git
            .command(folder)
            .args(["config", "--file"])
            .arg(&self.path)
            .args(args);
        finish(&command).map(drop)
    }

    /// Where the values are all as they were, the file's form may be too: under git's own lock.
    fn put_bytes_back(&self) -> Result<(), Error> {
        let lock = self.path.with_file_name("config.lock");
        let meta = fs_err::metadata(&self.path)?;
        let opened = fs_err::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&lock);
        let mut file = match opened {
            Ok(file) => file,
            // Somebody writes it now; the values are right, only their form may differ.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let written = (|| -> Result<bool, Error> {
            if listing(&self.git, &self.path)? != self.listing {
                return Ok(false);
            }
            file.write_all(&self.bytes)?;
            file.set_permissions(meta.permissions())?;
            file.sync_all()?;
            fs_err::rename(&lock, &self.path)?;
            Ok(true)
        })();
        if !matches!(written, Ok(true)) {
            // Our lock: made above.
            fs_err::remove_file(&lock)?;
        }
        written.map(drop)
    }
}

fn listing(git: &Git, path: &Path) -> Result<Vec<u8>, Error> {
    let folder = path.parent().unwrap_or(path);
    let command = git
        .command(folder)
        .args(["config", "--file"])
        .arg(path)
        .args(["--list", "-z", "--no-includes"]);
    finish(&command)
}

/// The values of each variable of a submodule, in their order.
fn submodule_values(listing: &[u8]) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in listing.split(|byte| *byte == 0) {
        let text = std::str::from_utf8(entry)
            .map_err(|_| Error::answer("git config --list", shown(entry).as_bytes()))?;
        let (name, value) = text.split_once('\n').unwrap_or((text, "true"));
        if name.starts_with("submodule.") {
            values
                .entry(name.to_owned())
                .or_default()
                .push(value.to_owned());
        }
    }
    Ok(values)
}

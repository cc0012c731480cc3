//! The files and folders that stores and their locks are made of: ours alone, and no links.

use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::error::{Error, path_shown};
use crate::store::state_folder::shown_by;

/// Makes a small file hold exactly `bytes`, or not exist; untouched when it is so already.
pub(super) fn put(path: &Path, bytes: Option<&[u8]>) -> std::io::Result<()> {
    let now = match fs_err::read(path) {
        Ok(now) => Some(now),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match (bytes, now) {
        (Some(bytes), Some(now)) if bytes == now => Ok(()),
        (Some(bytes), _) => {
            let folder = path.parent().unwrap_or(path);
            let file = tempfile::NamedTempFile::new_in(folder)?;
            fs_err::write(file.path(), bytes)?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        }
        (None, Some(_)) => fs_err::remove_file(path),
        (None, None) => Ok(()),
    }
}

/// Makes a folder of ours, 0700; one that is a link, another user's or open to others is refused.
pub(super) fn own_folder(path: &Path) -> Result<(), Failure> {
    let make = || DirBuilder::new().mode(0o700).create(path);
    let made = match make() {
        Err(error) if error.kind() == ErrorKind::NotFound => DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(path.parent().unwrap_or(path))
            .and_then(|()| make()),
        made => made,
    };
    match made {
        // Another run may have made it at any moment.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(unusable(path, error)),
        Ok(()) | Err(_) => check_ours(path),
    }
}

/// What is wrong with a folder that others can reach.
const OPEN: &str = "is open to other users";

/// Refuses what is not a folder of ours alone.
pub(super) fn check_ours(path: &Path) -> Result<(), Failure> {
    let meta = fs_err::symlink_metadata(path).map_err(|error| unusable(path, error))?;
    let owner = rustix::process::geteuid().as_raw();
    let wrong = if meta.is_symlink() {
        "is a link"
    } else if !meta.is_dir() {
        "is no folder"
    } else if meta.uid() != owner {
        "belongs to another user"
    } else if meta.mode() & 0o077 != 0 {
        OPEN
    } else {
        return Ok(());
    };
    let message = format!("the folder {} {wrong}", path_shown(path));
    let helps = if wrong == OPEN {
        ["chmod", "go="]
    } else {
        ["ls", "-ld"]
    };
    let words = helps.map(str::to_owned).into_iter();
    Err(Failure::new(Code::StateUnwritable, message)
        .next(words.chain([path.to_string_lossy().into_owned()])))
}

/// Opens a lock's file, which is no link; makes it where it is not there.
pub(super) fn lock_file(path: &Path) -> Result<File, Failure> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or_default();
    File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| unusable(path, error))
}

/// Gives a damaged store another name.
pub(super) fn set_aside(git_dir: &Path) -> Result<PathBuf, Failure> {
    let moved = || {
        let target = free_name(git_dir)?;
        fs_err::rename(git_dir, &target)?;
        Ok(target)
    };
    moved().map_err(|error: std::io::Error| unusable(git_dir, error))
}

/// A name that nothing has, for what is set aside of a store.
pub(super) fn free_name(git_dir: &Path) -> std::io::Result<PathBuf> {
    let mut number = 1_u32;
    loop {
        let mut name = git_dir.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        let target = PathBuf::from(name);
        match fs_err::symlink_metadata(&target) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(error),
            Ok(_) => number += 1,
        }
    }
}

/// That something there cannot be used, and why.
pub(super) fn unusable(path: &Path, error: impl Into<Error>) -> Failure {
    let error = error.into();
    let message = format!("{} cannot be used: {error}", path_shown(path));
    let failure = Failure::new(Code::StateUnwritable, message);
    if let Error::Io(error) = &error {
        return shown_by(failure, path.parent().unwrap_or(path), error);
    }
    error.helped(failure)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::own_folder;

    /// Runs that begin at once all make the folder that none of them has.
    #[test]
    fn all_who_make_a_folder_at_once_have_it() {
        const RUNS: usize = 8;
        let place = tempfile::tempdir().unwrap();
        for number in 0..200 {
            let path = place.path().join(format!("home-{number}/.cache/ours"));
            let begin = Barrier::new(RUNS);
            let run = || {
                begin.wait();
                own_folder(&path)
            };
            std::thread::scope(|scope| {
                let runs: Vec<_> = (0..RUNS).map(|_| scope.spawn(run)).collect();
                for run in runs {
                    run.join().unwrap().unwrap();
                }
            });
        }
    }
}

//! Whole files or none: temporary name, fsync, rename, fsync of the folder.

use std::io;
use std::path::Path;

use crate::store::folder::{Access, Folder};

/// Writes a private file (0600) so that it is there whole and durable, or as it was before.
///
/// The file's folder is trusted as named. Where others can reach the folders on the way, open
/// them with [`Folder`] and use [`Folder::write`].
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, name) = split(path)?;
    Folder::open(folder)?.write(name, bytes, Access::Private)
}

/// Opens a private folder (0700), made durably if nothing is there; a link there is an error.
///
/// Its parent is trusted as named and must be there.
pub fn create_dir(path: &Path) -> io::Result<Folder> {
    let (parent, name) = split(path)?;
    Folder::open(parent)?.make_child(name, Access::Private)
}

fn split(path: &Path) -> io::Result<(&Path, &std::ffi::OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{}: names no file", path.display()),
        )),
    }
}

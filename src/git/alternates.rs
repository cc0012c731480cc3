//! Folders of objects that a repository borrows, in git's own file.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::error::path_of;
use crate::git::quoted::{quote, unquote};

/// The folder itself and every folder it borrows from, directly or not.
///
/// Each is named once: git follows a chain only five deep, and git-lfs only the first level.
pub(crate) fn all(objects: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut todo = vec![fs_err::canonicalize(objects)?];
    while let Some(folder) = todo.pop() {
        if !seen.insert(folder.clone()) {
            continue;
        }
        let text = match fs_err::read(folder.join("info/alternates")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        for line in text.split(|byte| *byte == b'\n') {
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let path = if line.starts_with(b"\"") {
                unquote(line).ok_or_else(|| {
                    io::Error::other(format!(
                        "{}: an alternate that cannot be read",
                        folder.display()
                    ))
                })?
            } else {
                line.to_vec()
            };
            // Relative ones start at the folder that names them.
            todo.push(fs_err::canonicalize(folder.join(path_of(&path)))?);
        }
        found.push(folder);
    }
    Ok(found)
}

/// The file that names these folders.
pub(crate) fn to_bytes(folders: &[PathBuf]) -> Vec<u8> {
    let mut text = Vec::new();
    for folder in folders {
        let bytes = folder.as_os_str().as_bytes();
        if bytes.contains(&b'\n') || bytes.starts_with(b"\"") || bytes.starts_with(b"#") {
            quote(&mut text, bytes);
        } else {
            text.extend_from_slice(bytes);
        }
        text.push(b'\n');
    }
    text
}

//! Folders of objects that a repository borrows, in git's own file.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::git::error::path_of;

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

fn quote(text: &mut Vec<u8>, bytes: &[u8]) {
    text.push(b'"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', *byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
}

/// Git's C-style quotes.
fn unquote(line: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = line.strip_prefix(b"\"")?.iter().copied();
    let mut text = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return bytes.next().is_none().then_some(text),
            b'\\' => match bytes.next()? {
                b'n' => text.push(b'\n'),
                b't' => text.push(b'\t'),
                b'r' => text.push(b'\r'),
                b'a' => text.push(7),
                b'b' => text.push(8),
                b'f' => text.push(12),
                b'v' => text.push(11),
                high @ b'0'..=b'3' => {
                    let octal = |byte: u8| matches!(byte, b'0'..=b'7').then(|| byte - b'0');
                    let (middle, low) = (octal(bytes.next()?)?, octal(bytes.next()?)?);
                    text.push((high - b'0') << 6 | middle << 3 | low);
                }
                other @ (b'"' | b'\\') => text.push(other),
                _ => return None,
            },
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{quote, unquote};

    #[test]
    fn what_is_quoted_is_read_back() {
        for path in [
            &b"/a/b"[..],
            b"/with\nbreak",
            b"/quo\"te\\slash",
            b"/bytes\xff",
        ] {
            let mut text = Vec::new();
            quote(&mut text, path);
            assert_eq!(unquote(&text).as_deref(), Some(path));
        }
        assert_eq!(
            unquote(br#""/caf\303\251""#).as_deref(),
            Some("/café".as_bytes())
        );
        assert_eq!(unquote(br#""/open"#), None);
        assert_eq!(unquote(br#""/a"b"#), None);
    }
}

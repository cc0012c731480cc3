//! What a finished program printed, read back from its capture and checked.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::domain::digest::Digest;
use crate::process::guard::outcome::Captured;

/// How many of the last bytes are also kept in memory, for messages.
const LAST: usize = 4096;

/// What a finished program printed on one of its channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedFile {
    /// Where it lies: all of it, or head, mark and tail.
    pub path: PathBuf,
    /// Bytes that the program printed.
    pub bytes_total: u64,
    /// Bytes that the file lacks; where they were stands a line `[run-loop: N bytes cut]`.
    pub bytes_cut: u64,
    /// All of it, if the file holds all of it, is what the guard wrote, and is no larger than was
    /// asked for: what nobody can use whole is not kept in memory.
    whole: Option<Vec<u8>>,
    /// The last bytes, for messages.
    pub last: Vec<u8>,
    /// Why the capture is not complete, where reading or writing failed, or where the file was
    /// changed since the guard wrote it.
    pub broken: Option<String>,
}

impl CapturedFile {
    /// Whether the file lacks some of the output.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.bytes_cut > 0
    }
    /// The whole output, if it was to be kept in memory and nothing of it is missing.
    #[must_use]
    pub fn whole(&self) -> Option<&[u8]> {
        self.whole.as_deref()
    }
    /// Where the mark stands in a file of this length that lacks some of the output.
    #[must_use]
    pub(crate) fn mark(&self, length: usize) -> Option<std::ops::Range<usize>> {
        let (head, tail) = self.halves()?;
        let mark = head..length.checked_sub(tail)?;
        (mark.start < mark.end).then_some(mark)
    }
    /// Bytes of the program before the mark, and after it.
    fn halves(&self) -> Option<(usize, usize)> {
        let kept = self.bytes_total.checked_sub(self.bytes_cut)?;
        let kept = usize::try_from(kept).ok()?;
        self.is_cut().then_some((kept / 2, kept - kept / 2))
    }
    /// Takes back what was read of it: nobody may keep it.
    pub(crate) fn forget(&mut self, reason: String) {
        *self = Self {
            bytes_total: self.bytes_total,
            broken: Some(reason),
            ..Self::nothing(&self.path)
        };
    }
    /// What stands for the output of a program that never ran.
    #[must_use]
    pub(crate) fn nothing(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            bytes_total: 0,
            bytes_cut: 0,
            whole: None,
            last: Vec::new(),
            broken: None,
        }
    }
    /// What stands for an output that nobody vouches for.
    #[must_use]
    pub(crate) fn lost(path: &Path) -> Self {
        Self {
            broken: Some("its guard is gone, so nobody knows whether it is complete".to_owned()),
            ..Self::nothing(path)
        }
    }
    /// Reads what the guard captured, once, and believes it only if it is what the guard wrote.
    pub(crate) fn read(
        path: &Path,
        captured: &Captured,
        open: impl FnOnce() -> io::Result<Option<fs_err::File>>,
        keep: usize,
    ) -> Self {
        let nothing = Self {
            bytes_total: captured.bytes_total,
            bytes_cut: captured.bytes_cut,
            broken: captured.broken.clone(),
            ..Self::nothing(path)
        };
        match open().and_then(|file| kept(file, captured, keep)) {
            Ok((whole, last)) => Self {
                whole,
                last,
                ..nothing
            },
            Err(error) => Self {
                broken: Some(format!("the captured output cannot be read: {error}")),
                ..nothing
            },
        }
    }
}

/// The whole of the file where it is to be kept, and its last bytes.
fn kept(
    file: Option<fs_err::File>,
    captured: &Captured,
    keep: usize,
) -> io::Result<(Option<Vec<u8>>, Vec<u8>)> {
    let complete = captured.broken.is_none()
        && captured.bytes_cut == 0
        && captured.bytes_total == captured.file_bytes;
    let mut whole = (complete && captured.file_bytes <= keep as u64).then(Vec::new);
    let mut file = file
        .ok_or(io::ErrorKind::NotFound)?
        .take(captured.file_bytes + 1);
    let mut last = Vec::new();
    let (mut hash, mut length) = (Sha256::new(), 0);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hash.update(read);
        length += read.len() as u64;
        if let Some(whole) = &mut whole {
            whole.extend_from_slice(read);
        }
        last.extend_from_slice(read);
        last.drain(..last.len().saturating_sub(LAST));
    }
    if length != captured.file_bytes || Digest::from_hasher(hash) != captured.sha256 {
        return Err(io::Error::other("it was changed since it was captured"));
    }
    if captured.bytes_cut > 0 && captured.broken.is_none() {
        // The tail is the program's, the mark before it is ours.
        let kept = captured.bytes_total - captured.bytes_cut;
        let tail = usize::try_from(kept - kept / 2).unwrap_or(usize::MAX);
        last.drain(..last.len().saturating_sub(tail));
    }
    Ok((whole, last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::capture::Capture;

    /// Captures the pieces, changes the file, and reads it back, to be kept up to 60 bytes.
    fn read_back(cap: usize, pieces: &[u8], change: impl FnOnce(&Path)) -> CapturedFile {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut options = fs_err::OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).open(&path);
        let mut capture = Capture::new(file.unwrap(), cap);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(capture.drain(pieces));
        let captured = capture.finish();
        change(&path);
        CapturedFile::read(&path, &captured, || fs_err::File::open(&path).map(Some), 60)
    }

    #[test]
    fn what_is_small_is_whole_in_memory() {
        let read = read_back(10, b"012345", |_| {});
        assert_eq!(read.whole(), Some(&b"012345"[..]));
        assert_eq!(read.last, b"012345");
    }

    #[test]
    fn what_is_larger_than_asked_for_is_not_kept() {
        let read = read_back(100, &[b'x'; 61], |_| {});
        assert_eq!((read.whole(), &*read.last), (None, &[b'x'; 61][..]));
    }

    #[test]
    fn of_a_cut_output_only_bytes_of_the_program_are_kept() {
        let read = read_back(10, b"0123456789abcdefg", |_| {});
        assert_eq!((read.whole(), &*read.last), (None, &b"cdefg"[..]));
        assert!(read.is_cut());
    }

    /// A cut of as many bytes as its mark has leaves a file as long as the output was.
    #[test]
    fn a_cut_output_is_not_whole_whatever_its_length() {
        for printed in 30..60 {
            let read = read_back(5, &vec![b'x'; printed], |_| {});
            assert!(read.is_cut() && read.whole().is_none(), "{printed}");
        }
    }

    #[test]
    fn a_file_that_was_changed_is_not_believed() {
        for change in [
            |path: &Path| fs_err::write(path, "PASS45").unwrap(),
            |path: &Path| fs_err::write(path, "012345 and more").unwrap(),
            |path: &Path| fs_err::write(path, "0123").unwrap(),
            |path: &Path| fs_err::remove_file(path).unwrap(),
        ] {
            let read = read_back(10, b"012345", change);
            assert_eq!((read.whole(), &*read.last), (None, &b""[..]));
            assert!(read.broken.is_some());
        }
    }
}

//! Output drained into a file of limited size: head and tail, and a mark for what lies between.

use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use fs_err::os::unix::fs::OpenOptionsExt as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};

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
    /// The first bytes, as many as [`crate::process::supervise::Supervision::keep`] asks: never
    /// read back from the file, which other processes of this user could have changed.
    pub first: Vec<u8>,
    /// The last bytes, for messages.
    pub last: Vec<u8>,
    /// Why the capture is not complete, where reading or writing failed.
    pub broken: Option<String>,
}

impl CapturedFile {
    /// Whether the file lacks some of the output.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.bytes_cut > 0
    }
    /// The whole output, if all of it was kept in memory.
    #[must_use]
    pub fn whole(&self) -> Option<&[u8]> {
        let complete = self.broken.is_none() && !self.is_cut();
        (complete && self.bytes_total == self.first.len() as u64).then_some(&self.first)
    }
    /// What stands for the output of a program that never ran.
    #[must_use]
    pub(crate) fn nothing(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            bytes_total: 0,
            bytes_cut: 0,
            first: Vec::new(),
            last: Vec::new(),
            broken: None,
        }
    }
}

/// A capture while the program runs. Memory is bounded by the cap.
#[derive(Debug)]
pub(crate) struct Capture {
    file: fs_err::File,
    head_room: usize,
    tail: VecDeque<u8>,
    tail_room: usize,
    keep: usize,
    captured: CapturedFile,
}

impl Capture {
    /// Makes the file, which must not exist.
    pub(crate) fn create(path: &Path, cap: usize, keep: usize) -> io::Result<Self> {
        let file = fs_err::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)?;
        Ok(Self {
            file,
            head_room: cap / 2,
            tail: VecDeque::new(),
            tail_room: cap - cap / 2,
            keep,
            captured: CapturedFile::nothing(path),
        })
    }

    /// Reads a pipe to its end. It goes on when the file cannot be written: a program must not
    /// hang because our disk is full.
    pub(crate) async fn drain(&mut self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match pipe.read(&mut buffer).await {
                Ok(0) => return,
                Ok(read) => self.take(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.fail("reading", &error),
            }
        }
    }

    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]) {
        self.captured.bytes_total += bytes.len() as u64;
        let first = bytes.len().min(self.keep - self.captured.first.len());
        self.captured.first.extend_from_slice(&bytes[..first]);
        let from = bytes.len().saturating_sub(LAST);
        self.captured.last.extend_from_slice(&bytes[from..]);
        let surplus = self.captured.last.len().saturating_sub(LAST);
        self.captured.last.drain(..surplus);

        let (head, rest) = bytes.split_at(bytes.len().min(self.head_room));
        self.head_room -= head.len();
        self.write(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.tail_room);
        self.tail.drain(..surplus);
        self.captured.bytes_cut += surplus as u64;
    }

    /// Completes the file: mark and tail.
    pub(crate) fn finish(mut self) -> CapturedFile {
        if self.captured.is_cut() {
            let mark = format!("\n[run-loop: {} bytes cut]\n", self.captured.bytes_cut);
            self.write(mark.as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        let (one, two) = tail.as_slices();
        self.write(one);
        self.write(two);
        self.captured
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.captured.broken.is_none()
            && let Err(error) = self.file.write_all(bytes)
        {
            self.fail("writing", &error);
        }
    }

    fn fail(&mut self, doing: &str, error: &io::Error) {
        self.captured
            .broken
            .get_or_insert_with(|| format!("{doing} the output failed: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(cap: usize, pieces: &[&[u8]]) -> (CapturedFile, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut capture = Capture::create(&path, cap, 6).unwrap();
        for piece in pieces {
            capture.take(piece);
        }
        let captured = capture.finish();
        let file = fs_err::read(path).unwrap();
        (captured, file)
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let (captured, file) = captured(10, &[b"01234", b"56789"]);
        assert_eq!(file, b"0123456789");
        assert_eq!((captured.bytes_total, captured.bytes_cut), (10, 0));
        assert_eq!(captured.whole(), None, "only 6 bytes are kept in memory");
    }

    #[test]
    fn what_is_small_is_whole_in_memory() {
        assert_eq!(
            captured(10, &[b"012", b"345"]).0.whole(),
            Some(&b"012345"[..])
        );
    }

    #[test]
    fn head_and_tail_stay_and_the_cut_is_marked() {
        let (captured, file) = captured(10, &[b"0123456", b"789abcdefg"]);
        assert_eq!(file, b"01234\n[run-loop: 7 bytes cut]\ncdefg");
        assert_eq!((captured.bytes_total, captured.bytes_cut), (17, 7));
        assert_eq!(captured.first, b"012345");
        assert_eq!(captured.whole(), None);
    }

    /// A full disk: the program is drained all the same, and its output is not whole.
    #[tokio::test]
    async fn output_that_cannot_be_written_is_drained_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::create(&folder.path().join("out"), 100, 100).unwrap();
        let full = fs_err::OpenOptions::new().write(true).open("/dev/full");
        capture.file = full.unwrap();
        capture.drain(&b"VERDICT: PASS"[..]).await;
        let captured = capture.finish();
        assert_eq!((captured.bytes_total, captured.whole()), (13, None));
        assert!(captured.broken.unwrap().contains("No space left"));
    }

    #[test]
    fn an_existing_file_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs_err::write(&path, "stale").unwrap();
        assert!(Capture::create(&path, 10, 10).is_err());
        assert_eq!(fs_err::read(path).unwrap(), b"stale");
    }
}

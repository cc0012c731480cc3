//! Output drained into a file of limited size: head and tail, and a mark for what lies between.

use std::collections::VecDeque;
use std::io::{self, Write as _};

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::domain::digest::Digest;
use crate::process::guard::outcome::Captured;

/// A capture while the program runs. Memory is bounded by the cap.
#[derive(Debug)]
pub(crate) struct Capture {
    file: fs_err::File,
    written: Sha256,
    head_room: usize,
    tail: VecDeque<u8>,
    tail_room: usize,
    captured: Captured,
}

impl Capture {
    /// A capture into an empty file.
    pub(crate) fn new(file: fs_err::File, cap: usize) -> Self {
        Self {
            file,
            written: Sha256::new(),
            head_room: cap / 2,
            tail: VecDeque::new(),
            tail_room: cap - cap / 2,
            captured: Captured::nothing(),
        }
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
        let (head, rest) = bytes.split_at(bytes.len().min(self.head_room));
        self.head_room -= head.len();
        self.write(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.tail_room);
        self.tail.drain(..surplus);
        self.captured.bytes_cut += surplus as u64;
    }

    /// Completes the file: mark and tail, durable.
    pub(crate) fn finish(mut self) -> Captured {
        if self.captured.bytes_cut > 0 {
            self.write(mark(self.captured.bytes_cut).as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        let (one, two) = tail.as_slices();
        self.write(one);
        self.write(two);
        if self.captured.file_bytes > 0
            && let Err(error) = self.file.sync_data()
        {
            self.fail("writing", &error);
        }
        Captured {
            sha256: Digest::from_hasher(self.written),
            ..self.captured
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.captured.broken.is_some() {
            return;
        }
        match self.file.write_all(bytes) {
            Ok(()) => {
                self.written.update(bytes);
                self.captured.file_bytes += bytes.len() as u64;
            }
            Err(error) => self.fail("writing", &error),
        }
    }

    fn fail(&mut self, doing: &str, error: &io::Error) {
        self.captured
            .broken
            .get_or_insert_with(|| format!("{doing} the output failed: {error}"));
    }
}

/// The line that stands where bytes were cut.
fn mark(bytes_cut: u64) -> String {
    format!("\n[run-loop: {bytes_cut} bytes cut]\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(cap: usize, pieces: &[&[u8]]) -> (Captured, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut capture = Capture::new(fs_err::File::create(&path).unwrap(), cap);
        for piece in pieces {
            capture.take(piece);
        }
        let captured = capture.finish();
        let file = fs_err::read(path).unwrap();
        assert_eq!(captured.file_bytes, file.len() as u64);
        assert_eq!(captured.sha256, Digest::of(&file));
        (captured, file)
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let (captured, file) = captured(10, &[b"01234", b"56789"]);
        assert_eq!(file, b"0123456789");
        assert_eq!((captured.bytes_total, captured.bytes_cut), (10, 0));
    }

    #[test]
    fn head_and_tail_stay_and_the_cut_is_marked() {
        let (captured, file) = captured(10, &[b"0123456", b"789abcdefg"]);
        assert_eq!(file, b"01234\n[run-loop: 7 bytes cut]\ncdefg");
        assert_eq!((captured.bytes_total, captured.bytes_cut), (17, 7));
    }

    /// A full disk: the program is drained all the same, and its output is not whole.
    #[tokio::test]
    async fn output_that_cannot_be_written_is_drained_and_told() {
        let full = fs_err::OpenOptions::new().write(true).open("/dev/full");
        let mut capture = Capture::new(full.unwrap(), 100);
        capture.drain(&b"VERDICT: PASS"[..]).await;
        let captured = capture.finish();
        assert_eq!((captured.bytes_total, captured.file_bytes), (13, 0));
        assert!(captured.broken.unwrap().contains("No space left"));
    }
}

//! Output drained into a file of limited size: head and tail, and a mark for what lies between.
//!
//! No more of it is in memory than one buffer: what is printed beyond the cap goes round in the file,
//! in the place of the tail, and is put in order at the end.

use std::io;

use fs_err::os::unix::fs::FileExt as _;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::domain::digest::Digest;
use crate::process::guard::outcome::Captured;

/// How much is in memory at a time.
const BUFFER: usize = 64 * 1024;

/// A capture while the program runs.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Open for reading, too.
    file: fs_err::File,
    /// How much of the output the file holds at most.
    cap: u64,
    /// How much of that is the head; the tail begins there.
    head: u64,
    /// Of what the file holds, as it was printed.
    written: Sha256,
    /// Of the head alone, once it is there.
    of_head: Sha256,
    is_writable: bool,
    captured: Captured,
}

impl Capture {
    /// A capture into an empty file.
    pub(crate) fn new(file: fs_err::File, cap: usize) -> Self {
        let cap = cap.max(1) as u64;
        Self {
            file,
            cap,
            head: cap / 2,
            written: Sha256::new(),
            of_head: Sha256::new(),
            is_writable: true,
            captured: Captured::nothing(),
        }
    }

    /// Reads a pipe to its end. It goes on when the file cannot be written: a program must not
    /// hang because our disk is full.
    pub(crate) async fn drain(&mut self, mut pipe: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; BUFFER];
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
    fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (at, end) = self.place();
            let room = usize::try_from(end - at).unwrap_or(usize::MAX);
            let (piece, rest) = bytes.split_at(bytes.len().min(room));
            if self.is_writable {
                self.put(piece, at);
            }
            self.captured.bytes_total += piece.len() as u64;
            bytes = rest;
        }
        self.captured.bytes_cut = self.captured.bytes_total.saturating_sub(self.cap);
    }

    /// Where the next byte goes in the file, and where those that follow it end: once the file is full,
    /// they take the place of the oldest ones of the tail.
    fn place(&self) -> (u64, u64) {
        let total = self.captured.bytes_total;
        match total.checked_sub(self.head) {
            None => (total, self.head),
            Some(after) => (self.head + after % (self.cap - self.head), self.cap),
        }
    }

    fn put(&mut self, bytes: &[u8], at: u64) {
        match self.file.write_all_at(bytes, at) {
            // Nothing is cut by now, so these bytes stay; what goes round is hashed at the end.
            Ok(()) if self.captured.file_bytes == at => {
                self.written.update(bytes);
                self.captured.file_bytes += bytes.len() as u64;
                if self.captured.file_bytes == self.head {
                    self.of_head = self.written.clone();
                }
            }
            Ok(()) => {}
            Err(error) => self.fail_to_write(&error),
        }
    }

    /// Completes the file: mark and tail, durable.
    pub(crate) fn finish(mut self) -> Captured {
        if self.is_writable
            && self.captured.bytes_cut > 0
            && let Err(error) = self.put_in_order()
        {
            self.fail_to_write(&error);
        }
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

    /// Puts the mark and, from its oldest byte on, the tail behind all that is there, and moves both
    /// down to the head.
    fn put_in_order(&mut self) -> io::Result<()> {
        let (oldest, _) = self.place();
        let mark = mark(self.captured.bytes_cut);
        self.file.write_all_at(mark.as_bytes(), self.cap)?;
        let mut end = self.cap + mark.len() as u64;
        for (from, to) in [(oldest, self.cap), (self.head, oldest)] {
            self.copy(from, to, end, |_| {})?;
            end += to - from;
        }
        let mut written = self.of_head.clone();
        self.copy(self.cap, end, self.head, |bytes| written.update(bytes))?;
        let length = self.head + end - self.cap;
        self.file.set_len(length)?;
        self.written = written;
        self.captured.file_bytes = length;
        Ok(())
    }

    /// Copies a part of the file to another place of it, which does not lie within that part.
    fn copy(
        &self,
        mut from: u64,
        to: u64,
        mut at: u64,
        mut each: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        while from < to {
            let left = usize::try_from(to - from).unwrap_or(usize::MAX);
            let piece = &mut buffer[..left.min(BUFFER)];
            self.file.read_exact_at(piece, from)?;
            self.file.write_all_at(piece, at)?;
            each(piece);
            from += piece.len() as u64;
            at += piece.len() as u64;
        }
        Ok(())
    }

    /// Nothing more is written. Of an output that is cut the head alone is in order.
    fn fail_to_write(&mut self, error: &io::Error) {
        self.is_writable = false;
        if self.captured.file_bytes >= self.cap {
            self.captured.file_bytes = self.head;
            self.written = self.of_head.clone();
        }
        // What cannot be cut off is more than is told, and is seen by whoever reads it.
        self.file.set_len(self.captured.file_bytes).ok();
        self.fail("writing", error);
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

    /// A new file as a guard opens it.
    fn file(path: &std::path::Path) -> fs_err::File {
        let mut options = fs_err::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.open(path).unwrap()
    }

    fn captured(cap: usize, pieces: &[&[u8]]) -> (Captured, Vec<u8>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let mut capture = Capture::new(file(&path), cap);
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

    /// However the pieces fall: the first bytes, the mark, and the last bytes in their order.
    #[test]
    fn whatever_is_printed_in_whatever_pieces_is_kept_in_its_order() {
        let printed: Vec<u8> = (0..60).map(|n| b'!' + n).collect();
        for cap in [1, 2, 7, 10] {
            for length in 0..printed.len() {
                for piece in [1, 3, 64] {
                    let output = &printed[..length];
                    let pieces: Vec<&[u8]> = output.chunks(piece).collect();
                    let (captured, file) = captured(cap, &pieces);
                    let cut = length.saturating_sub(cap);
                    let expected = if cut == 0 {
                        output.to_vec()
                    } else {
                        let (head, tail) = (&output[..cap / 2], &output[cap / 2 + cut..]);
                        [head, mark(cut as u64).as_bytes(), tail].concat()
                    };
                    assert_eq!(file, expected, "{length} in {piece}s, cap {cap}");
                    assert_eq!(captured.bytes_cut, cut as u64);
                    assert_eq!(captured.bytes_total, length as u64);
                }
            }
        }
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

//! Reading many blobs from one `git cat-file --batch`, each piece by piece.
//!
//! Nothing is ever held whole: a piece is at most [`PIECE`] bytes, cut after a line's end where
//! there is one, else between two characters. Each blob is held against its id, which git does not do.

use std::io::{BufRead, BufReader, Read as _};

use tokio_util::sync::CancellationToken;

use crate::checks::error::Error;
use crate::checks::git;
use crate::domain::oid::Oid;
use crate::git::object_id::{ObjectId, raw};
use crate::git::repository::ObjectFormat;
use crate::process::command::Command;

/// The most that is held of a blob.
pub(crate) const PIECE: usize = 1024 * 1024;

const WHAT: &str = "cat-file";

/// Takes the blobs, in the order they were asked for.
pub(crate) trait Sink {
    /// Blob number `index` of the list begins; it has so many bytes.
    fn begin(&mut self, index: usize, size: u64);
    /// Its next piece; `last` says that the blob ends with it. An empty blob is one empty piece.
    fn piece(&mut self, bytes: &[u8], last: bool);
}

/// Reads every blob of the list into the sink.
///
/// # Errors
/// When git fails, an object is missing, no blob or not what its id stands for, or the token is
/// cancelled.
pub(crate) fn read(
    base: &Command,
    blobs: &[Oid],
    stop: &CancellationToken,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    if blobs.is_empty() {
        return Ok(());
    }
    let list: String = blobs.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
    let streamed = base
        .clone()
        .args(["cat-file", "--batch", "--buffer"])
        .stdin(list)
        .stream(|pipe| {
            let mut reader = BufReader::with_capacity(64 * 1024, pipe);
            let mut piece = Vec::new();
            for (index, oid) in blobs.iter().enumerate() {
                one(&mut reader, oid, index, stop, &mut piece, sink)?;
            }
            Ok::<(), Error>(())
        })?;
    git::expect_clean(WHAT, streamed.status, &streamed.stderr)
}

fn one(
    reader: &mut impl BufRead,
    oid: &Oid,
    index: usize,
    stop: &CancellationToken,
    piece: &mut Vec<u8>,
    sink: &mut dyn Sink,
) -> Result<(), Error> {
    let mut left = header(reader, oid)?;
    let mut id = ObjectId::new(ObjectFormat::of(oid), "blob", left);
    sink.begin(index, left);
    piece.clear();
    loop {
        if stop.is_cancelled() {
            return Err(Error::Stopped);
        }
        let room = (PIECE - piece.len()) as u64;
        let want = room.min(left);
        let known = piece.len();
        let read = reader.by_ref().take(want).read_to_end(piece)? as u64;
        if read < want {
            return Err(answer("the end of its output inside a blob"));
        }
        id.update(&piece[known..]);
        left -= read;
        if left == 0 {
            sink.piece(piece, true);
            break;
        }
        let cut = cut(piece);
        sink.piece(&piece[..cut], false);
        piece.drain(..cut);
    }
    if id.finish() != raw(oid) {
        return Err(answer(&format!("other bytes than {oid} stands for")));
    }
    let mut end = [0];
    reader.read_exact(&mut end)?;
    if end == [b'\n'] {
        Ok(())
    } else {
        Err(answer("no line end after a blob"))
    }
}

/// The size that `<oid> blob <size>` names.
fn header(reader: &mut impl BufRead, oid: &Oid) -> Result<u64, Error> {
    let mut line = Vec::new();
    reader.by_ref().take(256).read_until(b'\n', &mut line)?;
    let text = String::from_utf8_lossy(&line);
    let size = text
        .strip_prefix(oid.as_str())
        .and_then(|rest| rest.strip_prefix(" blob "))
        .and_then(|rest| rest.strip_suffix('\n'))
        .and_then(|size| size.parse().ok());
    size.ok_or_else(|| answer(text.trim_end()))
}

fn answer(found: &str) -> Error {
    Error::GitAnswer {
        what: WHAT,
        found: found.to_owned(),
    }
}

/// Where a full piece is cut: after its last line, else before its last character.
fn cut(piece: &[u8]) -> usize {
    if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
        return end + 1;
    }
    let start = piece
        .iter()
        .rev()
        .take(4)
        .position(|byte| byte & 0xc0 != 0x80)
        .map_or(piece.len(), |back| piece.len() - 1 - back);
    if start == 0 { piece.len() } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A blob is read for what its id stands for.
    #[test]
    fn other_bytes_than_the_ids_are_no_blob() {
        struct Nobody;
        impl Sink for Nobody {
            fn begin(&mut self, _: usize, _: u64) {}
            fn piece(&mut self, _: &[u8], _: bool) {}
        }
        let oid = Oid::parse("ce013625030ba8dba906f756967f9e9ca394464a").unwrap();
        let read = |text: &str| {
            let answer = format!("{oid} blob {}\n{text}\n", text.len());
            let (stop, mut piece) = (CancellationToken::new(), Vec::new());
            one(
                &mut answer.as_bytes(),
                &oid,
                0,
                &stop,
                &mut piece,
                &mut Nobody,
            )
        };
        read("hello\n").unwrap();
        let error = read("hallo\n").unwrap_err().to_string();
        assert!(error.contains("other bytes than ce0136"), "{error}");
    }

    #[test]
    fn a_piece_is_cut_after_a_line_or_before_a_character() {
        assert_eq!(cut(b"one\ntwo"), 4);
        assert_eq!(cut(b"one\n"), 4);
        assert_eq!(cut("aé".as_bytes()), 1);
        assert_eq!(cut(&[0x80; 9]), 9);
        assert_eq!(cut(b"a"), 1);
    }
}

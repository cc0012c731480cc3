//! Cutting the diff into parts that each end with a receipt.

use std::io::{self, BufRead};

use sha2::{Digest as _, Sha256};

use crate::domain::digest::{Digest, hex};
use crate::domain::evidence::DiffPart;

/// The most bytes that a part has, its receipt included.
pub(super) const PART_BYTES: usize = 100_000;
/// Room for the lines at a part's end.
const TAIL_BYTES: usize = 200;

/// Cuts a diff: hands each part's name and bytes to `write`; returns the parts and the hash of
/// the whole diff.
///
/// Parts end at ends of lines. A line that is longer than a part is split, and a line of its own
/// says so before the receipt. Without those closing lines the parts, put together, are the diff.
pub(super) fn cut(
    diff: &mut impl BufRead,
    seed: &str,
    diff_cap: u64,
    mut write: impl FnMut(&str, &[u8]) -> io::Result<()>,
) -> io::Result<(Vec<DiffPart>, Digest)> {
    let mut parts: Vec<DiffPart> = Vec::new();
    let mut hasher = Sha256::new();
    let (mut total, mut fits) = (0_u64, true);
    pieces(diff, |piece| {
        hasher.update(piece.bytes);
        let receipt = receipt(seed, &piece.name);
        let mut bytes = piece.closed();
        bytes.extend_from_slice(format!("receipt {} {receipt}\n", piece.name).as_bytes());
        write(&piece.name, &bytes)?;
        let size = bytes.len() as u64;
        total += size;
        fits &= total <= diff_cap;
        parts.push(DiffPart {
            name: piece.name,
            receipt,
            bytes: size,
            in_prompt: fits,
        });
        Ok(())
    })?;
    Ok((parts, Digest::from_hasher(hasher)))
}

/// A piece of a diff that is not longer than a part may be.
pub(super) struct Piece<'a> {
    /// Its number, `001` and on.
    pub(super) name: String,
    /// Its bytes: whole lines where no line is longer than a part.
    pub(super) bytes: &'a [u8],
    /// The number of the piece after it.
    next: Option<String>,
}

impl Piece<'_> {
    /// Its bytes, and a line that says so where they end within one.
    pub(super) fn closed(&self) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        if !bytes.ends_with(b"\n") {
            let note = match &self.next {
                None => "has no newline".to_owned(),
                Some(next) => format!("goes on in part {next}"),
            };
            bytes.extend_from_slice(format!("\n[the line above {note}]\n").as_bytes());
        }
        bytes
    }
}

/// Hands a diff out piece by piece. Put together they are the diff.
pub(super) fn pieces(
    diff: &mut impl BufRead,
    mut each: impl FnMut(Piece<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = Vec::new();
    let mut number = 0;
    while fill(diff, &mut rest, PART_BYTES - TAIL_BYTES)? {
        let length = cut_at(&rest, PART_BYTES - TAIL_BYTES);
        number += 1;
        each(Piece {
            name: name(number),
            bytes: &rest[..length],
            next: (length < rest.len()).then(|| name(number + 1)),
        })?;
        rest.drain(..length);
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("{number:03}")
}

/// What proves that a part was opened: nobody can compute it without the seed.
fn receipt(seed: &str, name: &str) -> String {
    let mut hasher = Sha256::new();
    for field in ["run-loop receipt", seed, name] {
        hasher.update((field.len() as u64).to_be_bytes());
        hasher.update(field);
    }
    hex(&hasher.finalize()[..16])
}

/// Fills the buffer to more than `size` bytes, so that a cut can see whether more follows.
fn fill(source: &mut impl BufRead, buffer: &mut Vec<u8>, size: usize) -> io::Result<bool> {
    while buffer.len() <= size {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let taken = chunk.len().min(size + 1 - buffer.len());
        buffer.extend_from_slice(&chunk[..taken]);
        source.consume(taken);
    }
    Ok(!buffer.is_empty())
}

/// Where to cut: all of it if it fits, else after the last whole line, else between characters.
fn cut_at(bytes: &[u8], most: usize) -> usize {
    if bytes.len() <= most {
        return bytes.len();
    }
    if let Some(newline) = bytes[..most].iter().rposition(|byte| *byte == b'\n') {
        return newline + 1;
    }
    // A character has at most three continuation bytes; more is no text.
    let is_start = |at: &usize| bytes[*at] & 0b1100_0000 != 0b1000_0000;
    (most - 3..=most).rev().find(is_start).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut_all(diff: &[u8], cap: u64) -> (Vec<DiffPart>, Vec<Vec<u8>>, Digest) {
        let mut files = Vec::new();
        let (parts, digest) = cut(&mut io::Cursor::new(diff), "seed", cap, |_, bytes| {
            files.push(bytes.to_vec());
            Ok(())
        })
        .unwrap();
        (parts, files, digest)
    }

    /// Takes the closing lines away by their text alone.
    fn payload(file: &[u8]) -> &[u8] {
        let line_start = |end: usize| {
            file[..end]
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |n| n + 1)
        };
        let receipt = line_start(file.len() - 1);
        if receipt == 0 {
            return &[];
        }
        let note = line_start(receipt - 1);
        if file[note..receipt].starts_with(b"[the line above ") {
            &file[..note - 1]
        } else {
            &file[..receipt]
        }
    }

    fn check(diff: &[u8]) {
        let (parts, files, digest) = cut_all(diff, 200_000);
        let joined: Vec<u8> = files
            .iter()
            .flat_map(|file| payload(file).to_vec())
            .collect();
        assert!(joined == diff, "nothing is lost");
        assert_eq!(digest, Digest::of(diff));
        for (part, file) in parts.iter().zip(&files) {
            assert!(file.len() <= PART_BYTES);
            assert_eq!(part.bytes, file.len() as u64);
            let last = format!("receipt {} {}\n", part.name, part.receipt);
            assert!(file.ends_with(last.as_bytes()));
        }
    }

    #[test]
    fn cuts_between_lines() {
        let diff = "+0123456789 0123456789\n".repeat(50_000);
        let (parts, files, _) = cut_all(diff.as_bytes(), 200_000);
        check(diff.as_bytes());
        assert!(files.iter().all(|file| payload(file).ends_with(b"\n")));
        assert_eq!(parts[0].name, "001");
        let shown: Vec<bool> = parts.iter().map(|part| part.in_prompt).collect();
        assert_eq!(shown[..3], [true, true, false]);
        assert!(!shown[3..].contains(&true));
    }

    #[test]
    fn splits_a_long_line_visibly_between_characters() {
        let diff = format!("+a\n+{}\n+b\n", "é".repeat(180_000));
        check(diff.as_bytes());
        let (_, files, _) = cut_all(diff.as_bytes(), 0);
        assert!(files.len() >= 4);
        assert!(files.iter().all(|file| std::str::from_utf8(file).is_ok()));
        assert!(
            String::from_utf8_lossy(&files[1]).contains("\n[the line above goes on in part 003]\n")
        );
    }

    #[test]
    fn sizes_at_the_limit_lose_nothing() {
        for extra in 0..8 {
            let size = PART_BYTES - TAIL_BYTES - 4 + extra;
            check(&vec![b'x'; size]);
            check(&[vec![b'x'; size], b"\n".to_vec()].concat());
            check(&[vec![0x80; size], b"\n".to_vec()].concat());
        }
        check(b"");
    }

    #[test]
    fn receipts_differ_by_part_and_by_seed() {
        assert_ne!(receipt("a", "001"), receipt("a", "002"));
        assert_ne!(receipt("a", "001"), receipt("b", "001"));
        assert_eq!(receipt("a", "001").len(), 32);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn nothing_is_ever_lost(
            lines in proptest::collection::vec((0_usize..120_000, any::<u8>()), 0..6),
        ) {
            let diff: Vec<u8> = lines
                .iter()
                .flat_map(|(size, byte)| [vec![*byte; *size], b"\n".to_vec()].concat())
                .collect();
            check(&diff);
        }
    }
}

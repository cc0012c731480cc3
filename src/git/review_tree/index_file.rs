//! An index as git reads it, made of what we know of a tree's files.
//!
//! Version 2, the one that every git and every library knows, with the stat data that the last
//! look took down: so an agent's `git status` reads no file that nobody changed.

use std::io::{self, Write};

use sha1::Digest as _;

use super::content::{Content, Kind};
use super::stamp::{Known, Moment};
use crate::git::repository::ObjectFormat;

/// The longest path whose length an entry can tell; a longer one ends at its NUL.
const LONGEST: usize = 0xfff;

/// Bytes that are put together before they are hashed and written: they stay where the processor has them.
const PIECE: usize = 1 << 16;

/// Writes an index with these entries; `known` has one for each of them.
pub(super) fn write(
    into: impl Write,
    format: ObjectFormat,
    content: &Content,
    known: &[Known],
    device: [u8; 4],
) -> io::Result<()> {
    let mut into = Summed::new(into, format);
    let entries = content.entries();
    let mut index = Vec::with_capacity(2 * PIECE);
    index.extend_from_slice(b"DIRC");
    index.extend_from_slice(&2_u32.to_be_bytes());
    index.extend_from_slice(&low(entries.len() as u64));
    for (entry, known) in entries.iter().zip(known) {
        let start = index.len();
        let stamp = &known.stamp;
        let (mode, is_file) = match entry.kind {
            Kind::File => (0o100_644_u32, true),
            Kind::Executable => (0o100_755, true),
            Kind::Link => (0o120_000, true),
            // Git compares nothing of it but whose HEAD it is.
            Kind::Submodule => (0o160_000, false),
        };
        if is_file {
            for Moment { seconds, nanos } in [stamp.changed, stamp.modified] {
                index.extend_from_slice(&low(seconds.cast_unsigned()));
                index.extend_from_slice(&nanos.to_be_bytes());
            }
            index.extend_from_slice(&device);
            index.extend_from_slice(&low(stamp.inode));
            index.extend_from_slice(&mode.to_be_bytes());
            index.extend_from_slice(&stamp.owner.to_be_bytes());
            index.extend_from_slice(&stamp.group.to_be_bytes());
            index.extend_from_slice(&low(stamp.size.cast_unsigned()));
        } else {
            index.extend_from_slice(&[0; 24]);
            index.extend_from_slice(&mode.to_be_bytes());
            index.extend_from_slice(&[0; 12]);
        }
        index.extend_from_slice(&entry.id[..format.width()]);
        let path = content.path(entry);
        let length = u16::try_from(path.len().min(LONGEST)).unwrap_or(u16::MAX);
        index.extend_from_slice(&length.to_be_bytes());
        index.extend_from_slice(path);
        // One to eight NULs, to a multiple of eight.
        let length = index.len() - start;
        index.resize(start + length + 8 - length % 8, 0);
        if index.len() >= PIECE {
            into.write(&index)?;
            index.clear();
        }
    }
    into.write(&index)?;
    into.finish()
}

/// What writes bytes, and their sum at the end.
struct Summed<W> {
    into: W,
    sum: Sum,
}

enum Sum {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl<W: Write> Summed<W> {
    fn new(into: W, format: ObjectFormat) -> Self {
        let sum = match format {
            ObjectFormat::Sha1 => Sum::Sha1(sha1::Sha1::new()),
            ObjectFormat::Sha256 => Sum::Sha256(sha2::Sha256::new()),
        };
        Self { into, sum }
    }
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.sum {
            Sum::Sha1(sum) => sum.update(bytes),
            Sum::Sha256(sum) => sum.update(bytes),
        }
        self.into.write_all(bytes)
    }
    fn finish(mut self) -> io::Result<()> {
        match self.sum {
            Sum::Sha1(sum) => self.into.write_all(&sum.finalize()),
            Sum::Sha256(sum) => self.into.write_all(&sum.finalize()),
        }
    }
}

/// The lower half of a number: all that an index has room for.
fn low(number: u64) -> [u8; 4] {
    let [.., a, b, c, d] = number.to_be_bytes();
    [a, b, c, d]
}

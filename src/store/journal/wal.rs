//! Tells a torn end of the write-ahead log from damage in its middle.
//!
//! `SQLite` reads the log up to its first bad frame and forgets the rest: right for the end that
//! a crash tore off, silent loss for a bit that flipped in the middle. Frames are written in
//! order, so a bad frame with frames of the same log after it is no torn end, and the run is
//! refused. (A power cut may reorder the writes of the last commit: refused too, since the run
//! that is refused can be started again, and a NOT PASS that is lost cannot.) A bad *last* frame
//! is taken for torn: nobody acted on a commit that was not durable.
//! Format: `SQLite`'s file format, section 4.1 "WAL File Format".

use std::io;

use crate::store::folder::Folder;
use crate::store::journal::WAL;
use crate::store::journal::error::Error;

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;
/// How large a log may be: `SQLite` starts it over at a thousand pages, but for one commit.
const CAP: u64 = 1024 * 1024 * 1024;

/// Checks the log of a journal that nobody writes to.
pub(super) fn check(folder: &Folder) -> Result<(), Error> {
    match folder.read(WAL, CAP) {
        Ok(bytes) if is_sound(&bytes) => Ok(()),
        Ok(_) => Err(Error::Wal),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::Open(error)),
    }
}

/// Whether everything before the last frame is whole.
fn is_sound(bytes: &[u8]) -> bool {
    let Some((header, frames)) = bytes.split_at_checked(HEADER) else {
        return true;
    };
    let Some(wal) = Wal::read(header) else {
        // The header is synced before the first frame is written.
        return frames.len() < FRAME_HEADER;
    };
    let mut sum = wal.sum;
    let mut whole = true;
    for frame in frames.chunks_exact(FRAME_HEADER + wal.page) {
        let (head, page) = frame.split_at(FRAME_HEADER);
        let ours = head[8..16] == wal.salt;
        if !whole && ours {
            return false;
        }
        sum = checksum(wal.big, sum, &head[..8]);
        sum = checksum(wal.big, sum, page);
        // Frames of another salt are what is left of the log before it was started over.
        whole = whole && ours && head[16..24] == stored(sum);
    }
    true
}

struct Wal {
    /// Whether checksums read words with the big end first.
    big: bool,
    page: usize,
    salt: [u8; 8],
    sum: (u32, u32),
}

impl Wal {
    fn read(header: &[u8]) -> Option<Self> {
        let word = |at: usize| -> Option<u32> {
            let bytes = header.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        let big = match word(0)? {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let sum = checksum(big, (0, 0), &header[..24]);
        if header[24..32] != stored(sum) {
            return None;
        }
        Some(Self {
            big,
            page: usize::try_from(word(8)?).ok()?,
            salt: header[16..24].try_into().ok()?,
            sum,
        })
    }
}

fn checksum(big: bool, (mut first, mut second): (u32, u32), bytes: &[u8]) -> (u32, u32) {
    let word = |bytes: &[u8]| {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if big {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    };
    for pair in bytes.chunks_exact(8) {
        first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
        second = second.wrapping_add(word(&pair[4..])).wrapping_add(first);
    }
    (first, second)
}

fn stored((first, second): (u32, u32)) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_be_bytes());
    bytes[4..].copy_from_slice(&second.to_be_bytes());
    bytes
}

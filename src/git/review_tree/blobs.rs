//! The bytes of the files that a slot lacks: read from the store once for all slots of a round.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Mutex;

use super::content::Id;
use super::{Error, locked};
use crate::domain::digest::hex;
use crate::git::Git;
use crate::git::error;
use crate::git::program::finish_into;
use crate::git::repository::ObjectFormat;

/// Blobs that are read at once. Where a slot lacks no more, they are kept for the others too.
pub(super) const FETCHED: usize = 2_000;

/// Where a blob's bytes lie.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bytes {
    start: u64,
    pub(super) length: u64,
}

/// Blobs, in a file without a name that nobody else can open.
#[derive(Debug)]
pub(super) struct Blobs {
    file: std::fs::File,
    places: Mutex<HashMap<Id, Bytes>>,
}

impl Blobs {
    /// No blob yet.
    pub(super) fn new(temporary: &Path) -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile_in(temporary)?,
            places: Mutex::default(),
        })
    }

    /// Reads those of these blobs that were not read before.
    pub(super) fn fetch(
        &self,
        git: &Git,
        store: &Path,
        format: ObjectFormat,
        ids: &[Id],
    ) -> Result<(), Error> {
        let mut places = locked(&self.places);
        let ids: Vec<_> = ids.iter().filter(|id| !places.contains_key(*id)).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut asked = String::new();
        for id in &ids {
            asked.push_str(&hex(&id[..format.width()]));
            asked.push('\n');
        }
        let mut file = self.file.try_clone()?;
        let start = file.seek(SeekFrom::End(0))?;
        let command = git.on(store).args(["cat-file", "--batch", "--buffer"]);
        finish_into(&command.stdin(asked.as_bytes()), self.file.try_clone()?)?;
        file.seek(SeekFrom::Start(start))?;
        let mut answers = BufReader::new(file);
        let mut at = start;
        let mut line = Vec::new();
        for (id, asked) in ids.iter().zip(asked.lines()) {
            line.clear();
            let header = answers.read_until(b'\n', &mut line)?;
            let length = length_of(&line, asked)
                .ok_or_else(|| error::Error::answer("git cat-file --batch", &line))?;
            let start = at + u64::try_from(header).map_err(io::Error::other)?;
            // The bytes, and the end of a line after them.
            at = start + length + 1;
            answers.seek_relative(i64::try_from(length).map_err(io::Error::other)?)?;
            let mut end = [0];
            answers.read_exact(&mut end)?;
            if end != *b"\n" {
                return Err(error::Error::answer("git cat-file --batch", &end).into());
            }
            places.insert(**id, Bytes { start, length });
        }
        Ok(())
    }

    /// Where the bytes of a blob that was fetched lie.
    pub(super) fn find(&self, id: &Id) -> Result<Bytes, Error> {
        let found = locked(&self.places).get(id).copied();
        found.ok_or_else(|| Error::Doubt("a blob was not read".to_owned()))
    }

    /// Shows all bytes of a blob, piece after piece.
    pub(super) fn each(
        &self,
        bytes: Bytes,
        mut show: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let (mut at, mut left) = (bytes.start, bytes.length);
        while left > 0 {
            let piece = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            self.file.read_exact_at(&mut buffer[..piece], at)?;
            show(&buffer[..piece])?;
            let piece = u64::try_from(piece).map_err(io::Error::other)?;
            at += piece;
            left -= piece;
        }
        Ok(())
    }
}

/// `<id> blob <length>\n`, for the id that was asked for.
fn length_of(line: &[u8], asked: &str) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?;
    let rest = line.strip_prefix(asked)?.strip_prefix(" blob ")?;
    rest.strip_suffix('\n')?.parse().ok()
}

//! Objects that are files of their own, inflated and checked here. Those in packs are left to git.
//!
//! libgit2 1.9 reads no object of ours: it never comes back from a file that is cut short (its issue
//! 7342; a full disk leaves such ones), and one wrong byte in a pack's index ends the process that asked.

use std::io::{BufReader, ErrorKind, Read as _};
use std::path::PathBuf;

use flate2::bufread::ZlibDecoder;
use git2::ObjectType;

use super::super::{Object, Unsure};
use super::opening::{Opened, left, plain_or_absent};
use crate::domain::oid::Oid;

/// The longest `<kind> <size>\0`.
const LONGEST_HEADER: usize = 32;
/// Larger ones are left to git, in a process of its own.
const LARGEST: u64 = 256 << 20;

impl Opened {
    /// Reads an object. Its id is computed again, and another one refused.
    pub(super) fn read(&self, oid: &Oid) -> Result<Object, Unsure> {
        let (path, mut stream, kind, size) = self.start(oid)?;
        let mut bytes = Vec::new();
        // One byte more than there should be.
        stream.by_ref().take(size + 1).read_to_end(&mut bytes)?;
        let found = git2::Oid::hash_object(kind, &bytes)?;
        if bytes.len() as u64 != size || found.to_string() != oid.as_str() {
            return Err(left(&path, "a damaged object"));
        }
        Ok(Object {
            oid: oid.clone(),
            kind: kind.str().to_owned(),
            bytes,
        })
    }

    /// The size that a blob's file says.
    pub(super) fn blob_size(&self, oid: &Oid) -> Result<u64, Unsure> {
        let (path, _, kind, size) = self.start(oid)?;
        if kind == ObjectType::Blob {
            Ok(size)
        } else {
            Err(left(&path, "an object that is no blob"))
        }
    }

    fn start(&self, oid: &Oid) -> Result<Started, Unsure> {
        let (folder, name) = oid.as_str().split_at(2);
        for objects in &self.objects {
            let path = objects.join(folder).join(name);
            // A pipe in an object's place would hold this process until somebody writes to it.
            plain_or_absent(&path)?;
            let file = match fs_err::File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error.into()),
            };
            let mut stream = ZlibDecoder::new(BufReader::new(file));
            let mut header = Vec::new();
            while header.last() != Some(&0) {
                let mut byte = [0];
                stream.read_exact(&mut byte)?;
                header.extend(byte);
                if header.len() > LONGEST_HEADER {
                    return Err(left(&path, "a damaged object"));
                }
            }
            let (kind, size) = kind_and_size(&header)
                .filter(|(_, size)| *size <= LARGEST)
                .ok_or_else(|| left(&path, "an object of another form"))?;
            return Ok((path, stream, kind, size));
        }
        Err(Unsure::question(oid.as_str(), "no file of its own"))
    }
}

type Started = (
    PathBuf,
    ZlibDecoder<BufReader<fs_err::File>>,
    ObjectType,
    u64,
);

fn kind_and_size(header: &[u8]) -> Option<(ObjectType, u64)> {
    let text = std::str::from_utf8(header.strip_suffix(b"\0")?).ok()?;
    let (kind, size) = text.split_once(' ')?;
    let kind = match kind {
        "commit" => ObjectType::Commit,
        "tree" => ObjectType::Tree,
        "blob" => ObjectType::Blob,
        "tag" => ObjectType::Tag,
        _ => return None,
    };
    let digits = size.bytes().all(|byte| byte.is_ascii_digit());
    Some((kind, size.parse().ok().filter(|_| digits)?))
}

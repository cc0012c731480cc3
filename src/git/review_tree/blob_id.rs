//! The id of a blob, computed from its bytes: git does not do it when it reads an object, so what it
//! prints for an id, or checks out, need not be what the id stands for.

use sha2::Digest as _;

use super::content::Id;
use crate::git::repository::ObjectFormat;

/// A blob's id while its bytes go by.
#[derive(Debug)]
pub(super) enum BlobId {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl BlobId {
    /// That of a blob of this length.
    pub(super) fn new(format: ObjectFormat, length: u64) -> Self {
        let mut id = match format {
            ObjectFormat::Sha1 => Self::Sha1(sha1::Sha1::default()),
            ObjectFormat::Sha256 => Self::Sha256(sha2::Sha256::default()),
        };
        id.update(format!("blob {length}\0").as_bytes());
        id
    }
    /// More of its bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(sum) => sum.update(bytes),
            Self::Sha256(sum) => sum.update(bytes),
        }
    }
    /// Whether they are those that an id stands for.
    pub(super) fn is(self, id: &Id) -> bool {
        match self {
            Self::Sha1(sum) => sum.finalize()[..] == id[..20],
            Self::Sha256(sum) => sum.finalize()[..] == id[..],
        }
    }
}

//! The id of an object, computed from its bytes: git does not do it when it reads one, so what it
//! prints for an id, or checks out, need not be what the id stands for.

use sha2::Digest as _;

use crate::domain::oid::Oid;
use crate::git::repository::ObjectFormat;

/// The bytes of an object id; those of a short one are followed by zeros.
pub(crate) type RawId = [u8; 32];

/// An object's id while its bytes go by.
#[derive(Debug)]
pub(crate) enum ObjectId {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
}

impl ObjectId {
    /// That of an object of this kind (git's name for it) and length.
    pub(crate) fn new(format: ObjectFormat, kind: &str, length: u64) -> Self {
        let mut id = Self::sum(format);
        id.update(format!("{kind} {length}\0").as_bytes());
        id
    }
    /// The sum of bytes that are no object: what closes git's own files.
    pub(crate) fn sum(format: ObjectFormat) -> Self {
        match format {
            ObjectFormat::Sha1 => Self::Sha1(sha1::Sha1::default()),
            ObjectFormat::Sha256 => Self::Sha256(sha2::Sha256::default()),
        }
    }
    /// That of a whole object.
    pub(crate) fn of(format: ObjectFormat, kind: &str, bytes: &[u8]) -> RawId {
        let mut id = Self::new(format, kind, bytes.len() as u64);
        id.update(bytes);
        id.finish()
    }
    /// More of its bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(sum) => sum.update(bytes),
            Self::Sha256(sum) => sum.update(bytes),
        }
    }
    /// The id, when all of them went by.
    pub(crate) fn finish(self) -> RawId {
        let mut id = [0; 32];
        match self {
            Self::Sha1(sum) => id[..20].copy_from_slice(&sum.finalize()),
            Self::Sha256(sum) => id.copy_from_slice(&sum.finalize()),
        }
        id
    }
}

/// The bytes of an id.
pub(crate) fn raw(oid: &Oid) -> RawId {
    // Its digits are hexadecimal: an `Oid` holds no others.
    parse(oid.as_str().as_bytes()).unwrap_or_default()
}

/// The hexadecimal digits of an id's bytes.
pub(crate) fn digits(id: &[u8]) -> String {
    each_digit(id).map(char::from).collect()
}

/// The same, one after the other.
pub(crate) fn each_digit(id: &[u8]) -> impl Iterator<Item = u8> {
    id.iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| b"0123456789abcdef"[usize::from(digit)])
}

/// The bytes of hexadecimal digits; `None` where they are no full id.
pub(crate) fn parse(digits: &[u8]) -> Option<RawId> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if !matches!(digits.len(), 40 | 64) {
        return None;
    }
    let mut id = [0; 32];
    for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(id)
}

//! The one byte form of a promoted JSON file: pretty, keys in the type's order, one final newline.
//!
//! One value has one form, so a hash of the bytes is a hash of the value, and an edited file shows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::digest::Digest;

/// Why bytes are no promoted file of the expected type.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Torn, not JSON, another schema, or with unknown, missing or repeated fields.
    #[error("not a file of this kind: {0}")]
    Invalid(#[from] serde_json::Error),
    /// The value is right and its form is not: somebody edited it, or another program wrote it.
    #[error("not in the form that run-loop writes")]
    NotCanonical,
}

/// The canonical bytes of a value.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads canonical bytes; every other form of the same value is refused.
pub fn from_bytes<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    let value: T = serde_json::from_slice(bytes)?;
    if to_bytes(&value)? != bytes {
        return Err(Error::NotCanonical);
    }
    Ok(value)
}

/// The hash of a value's canonical bytes.
pub fn digest<T: Serialize>(value: &T) -> Result<Digest, Error> {
    Ok(Digest::of(&to_bytes(value)?))
}

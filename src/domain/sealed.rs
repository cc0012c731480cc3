//! Content with the digest of itself: a flipped bit in its file makes nothing else of it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;

/// Content as it lies in its file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed<T> {
    content: T,
    /// Of the content as JSON.
    sha256: Digest,
}

/// The content as the bytes of its file.
///
/// # Errors
/// When it cannot be said in JSON.
pub fn seal<T: Serialize>(content: &T) -> serde_json::Result<Vec<u8>> {
    let sha256 = Digest::of(&serde_json::to_vec(content)?);
    serde_json::to_vec(&Sealed { content, sha256 })
}

/// The content that the bytes of a file hold.
///
/// # Errors
/// Why they hold none that can be believed.
pub fn unseal<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let sealed: Sealed<T> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let content = serde_json::to_vec(&sealed.content).map_err(|error| error.to_string())?;
    if Digest::of(&content) == sealed.sha256 {
        Ok(sealed.content)
    } else {
        Err("its checksum does not fit".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever bit flips, the content is the same one or none.
    #[test]
    fn a_flipped_bit_makes_nothing_else_of_it() {
        let content = ("PASS".to_owned(), Some(1_234_u64), vec![true, false]);
        let whole = seal(&content).unwrap();
        assert_eq!(unseal(&whole), Ok(content.clone()));
        for bit in 0..whole.len() * 8 {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(read) = unseal::<(String, Option<u64>, Vec<bool>)>(&flipped) {
                assert_eq!(read, content, "bit {bit}");
            }
        }
    }
}

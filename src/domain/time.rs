//! Time and randomness as data: the core is handed both and has none of its own.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A moment, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// A moment from milliseconds since the Unix epoch.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }
    /// Milliseconds since the Unix epoch.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0
    }
    /// The moment `millis` milliseconds later; saturates.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
    /// The moment `seconds` later; saturates.
    #[must_use]
    pub fn plus_seconds(self, seconds: u64) -> Self {
        let millis = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Timestamp {
    /// In UTC, as RFC 3339 with seconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.0}"),
            Err(_) => write!(f, "{} ms since 1970", self.0),
        }
    }
}

/// What every input carries: when it was taken, and fresh randomness for what is minted from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamp {
    /// When the input was taken.
    pub at: Timestamp,
    /// 32 random bytes; nonces, receipts and ids are derived from them.
    pub seed: [u8; 32],
}

impl Stamp {
    /// 32 bytes that only the holder of this stamp can compute, different for every `salt`.
    #[must_use]
    pub fn derive(&self, salt: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.at.as_millis().to_be_bytes());
        hash.update(salt.as_bytes());
        hash.finalize().into()
    }
    /// 32 lower-case hexadecimal digits derived from the stamp: a nonce or a receipt.
    #[must_use]
    pub fn derive_hex(&self, salt: &str) -> String {
        crate::domain::digest::hex(&self.derive(salt)[..16])
    }
}

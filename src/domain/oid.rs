//! Full git object ids.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::digest::{Digest, is_lower_hex};

/// A full git object id: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Oid(String);

impl From<Digest> for Oid {
    /// The id of 64 digits that these are, in a repository that names objects by SHA-256.
    fn from(digest: Digest) -> Self {
        Self(digest.as_str().to_owned())
    }
}

impl Oid {
    /// Reads a full object id; an abbreviation is `None` (scenario S12).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        (matches!(text.len(), 40 | 64) && is_lower_hex(text)).then(|| Self(text.to_owned()))
    }
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// The first 12 digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a full object id"))
    }
}

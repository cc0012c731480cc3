//! Paths inside a repository: bytes, since git promises no encoding.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path inside a repository, as git stores it: bytes, `/` between components.
///
/// JSON form: a string when the bytes are UTF-8, else `{"path": lossy, "path_b64": exact}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// A path from git's bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// The path as text, where the bytes are UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
    /// The exact bytes in base64, for `path_b64`.
    #[must_use]
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.0)
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

/// For people: control characters, quotes and bytes that are not UTF-8 are escaped, so that a
/// hostile name cannot write to a terminal or end a line.
impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                if c.is_control() || c == '\\' || is_invisible(c) {
                    write!(f, "{}", c.escape_unicode())?;
                } else {
                    write!(f, "{c}")?;
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Bidirectional controls and zero-width characters: they change what a reader sees.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.as_str() {
            return serializer.serialize_str(text);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("path", &String::from_utf8_lossy(&self.0))?;
        map.serialize_entry("path_b64", &self.to_base64())?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PathVisitor)
    }
}

struct PathVisitor;

impl<'de> Visitor<'de> for PathVisitor {
    type Value = RepoPath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path, or an object with `path_b64`")
    }
    fn visit_str<E: de::Error>(self, text: &str) -> Result<RepoPath, E> {
        Ok(RepoPath::from(text))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RepoPath, A::Error> {
        let mut exact = None;
        while let Some((key, value)) = map.next_entry::<String, String>()? {
            match key.as_str() {
                "path" => {}
                "path_b64" => exact = Some(STANDARD.decode(value).map_err(de::Error::custom)?),
                other => return Err(de::Error::unknown_field(other, &["path", "path_b64"])),
            }
        }
        exact
            .map(RepoPath)
            .ok_or_else(|| de::Error::missing_field("path_b64"))
    }
}

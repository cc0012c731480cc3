//! Taking secrets out of what agents hand over and tell.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::agent::environment::Variables;

/// What stands where a secret stood.
const MARK: &[u8] = b"[redacted]";

/// Values shorter than this are no keys, and would take ordinary words out of texts.
const SHORTEST: usize = 8;

/// Whether a variable's name says that it holds a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    words.iter().any(|word| name.contains(word))
}

/// The values that may not be shown.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// The values of these variables, where they are set.
    #[must_use]
    pub fn named<'a>(names: impl IntoIterator<Item = &'a String>, ours: &Variables) -> Self {
        let mut values: Vec<Vec<u8>> = names
            .into_iter()
            .filter_map(|name| ours.get(OsStr::new(name)))
            .map(|value| value.as_bytes().trim_ascii().to_vec())
            .filter(|value| value.len() >= SHORTEST)
            .collect();
        // The longest first: one may hold another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { values }
    }

    /// The bytes without the values.
    #[must_use]
    pub fn taken_out(&self, bytes: Vec<u8>) -> Vec<u8> {
        let mut bytes = bytes;
        for value in &self.values {
            let finder = |rest: &[u8]| rest.windows(value.len()).position(|part| part == value);
            let Some(first) = finder(&bytes) else {
                continue;
            };
            let mut clean = bytes[..first].to_vec();
            let mut rest = &bytes[first..];
            while let Some(at) = finder(rest) {
                clean.extend_from_slice(&rest[..at]);
                clean.extend_from_slice(MARK);
                rest = &rest[at + value.len()..];
            }
            clean.extend_from_slice(rest);
            bytes = clean;
        }
        bytes
    }

    /// Takes the values out of files that a job left. One that holds none stays as it is, since
    /// its guard vouches for its bytes.
    pub(crate) fn taken_out_of_files(&self, paths: &[&Path]) {
        if self.values.is_empty() {
            return;
        }
        for path in paths {
            let Ok(bytes) = fs_err::read(path) else {
                continue;
            };
            let clean = self.taken_out(bytes.clone());
            if clean != bytes && fs_err::write(path, clean).is_err() {
                // Better no file than one that shows a key.
                drop(fs_err::remove_file(path));
            }
        }
    }

    /// The text without the values.
    #[must_use]
    pub fn taken_out_of_text(&self, text: &str) -> String {
        let bytes = self.taken_out(text.as_bytes().to_vec());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_goes_and_nothing_else() {
        let ours: Variables = [
            ("A_KEY", "sk-0123456789"),
            ("LONGER", "sk-0123456789-and-more"),
            ("SHORT", "abc"),
            ("OTHER", "not-named-at-all"),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
        let names = ["A_KEY", "LONGER", "SHORT", "UNSET"].map(str::to_owned);
        let secrets = Secrets::named(&names, &ours);
        assert_eq!(
            secrets.taken_out_of_text(
                "abc sk-0123456789-and-more, sk-0123456789sk-0123456789 not-named-at-all"
            ),
            "abc [redacted], [redacted][redacted] not-named-at-all"
        );
        assert_eq!(secrets.taken_out(b"nothing".to_vec()), b"nothing");
    }
}

//! Git's effective configuration, read once per measurement.

use std::collections::BTreeSet;

use crate::domain::digest::Digest;
use crate::git::error::Error;
use crate::git::program::finish;
use crate::process::command::Command;

/// The effective configuration in git's order: later entries win.
#[derive(Debug, Clone, Default)]
pub struct GitConfig {
    entries: Vec<ConfigEntry>,
}

#[derive(Debug, Clone)]
struct ConfigEntry {
    /// Whether it stands in the repository's own files, or in files that these include.
    local: bool,
    name: String,
    value: Vec<u8>,
}

impl GitConfig {
    /// Asks git; `command` says where.
    ///
    /// # Errors
    /// When git fails.
    pub fn read(command: &Command) -> Result<Self, Error> {
        let command = command
            .clone()
            .args(["config", "--list", "-z", "--show-scope"]);
        let answer = finish(&command)?;
        let mut entries = Vec::new();
        let mut fields = answer.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            let cut = entry.iter().position(|byte| *byte == b'\n');
            // A name alone is a switch that is on.
            let (name, value) = cut.map_or((entry, &b"true"[..]), |cut| {
                (&entry[..cut], &entry[cut + 1..])
            });
            entries.push(ConfigEntry {
                local: matches!(scope, b"local" | b"worktree"),
                name: String::from_utf8_lossy(name).into_owned(),
                value: value.to_vec(),
            });
        }
        Ok(Self { entries })
    }

    /// For tests: a configuration that nobody wrote down.
    #[cfg(test)]
    pub(crate) fn from_entries(entries: &[(&str, &str)]) -> Self {
        let own = |(name, value): &(&str, &str)| ConfigEntry {
            local: true,
            name: (*name).to_owned(),
            value: value.as_bytes().to_vec(),
        };
        Self {
            entries: entries.iter().map(own).collect(),
        }
    }

    /// The value that counts; section and key are lower case, as git prints them.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&[u8]> {
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.name == name)
            .map(|entry| entry.value.as_slice())
    }

    /// Whether a switch is on.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.last(name).is_some_and(|value| {
            let text = String::from_utf8_lossy(value).to_ascii_lowercase();
            match text.as_str() {
                "true" | "yes" | "on" => true,
                "" | "false" | "no" | "off" => false,
                number => number.parse::<i64>().is_ok_and(|number| number != 0),
            }
        })
    }

    /// The digest of what stands in the repository's own configuration, in its order.
    #[must_use]
    pub fn local_digest(&self) -> Digest {
        let mut bytes = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.local) {
            bytes.extend_from_slice(entry.name.as_bytes());
            bytes.push(b'\n');
            bytes.extend_from_slice(&entry.value);
            bytes.push(0);
        }
        Digest::of(&bytes)
    }

    /// The middle parts of `section.<name>.<key>`, for any of the keys.
    #[must_use]
    pub fn subsections(&self, section: &str, keys: &[&str]) -> BTreeSet<String> {
        self.entries
            .iter()
            .filter_map(|entry| {
                let rest = entry.name.strip_prefix(section)?.strip_prefix('.')?;
                let (middle, key) = rest.rsplit_once('.')?;
                keys.contains(&key).then(|| middle.to_owned())
            })
            .collect()
    }
}

//! Git's effective configuration, read once per measurement.

use std::collections::BTreeSet;

use crate::git::error::Error;
use crate::git::program::finish;
use crate::process::command::Command;

/// The effective configuration in git's order: later entries win.
#[derive(Debug, Clone, Default)]
pub struct GitConfig {
    entries: Vec<(String, Vec<u8>)>,
}

impl GitConfig {
    /// Asks git; `command` says where.
    ///
    /// # Errors
    /// When git fails.
    pub fn read(command: &Command) -> Result<Self, Error> {
        let answer = finish(&command.clone().args(["config", "--list", "-z"]))?;
        let entries = answer
            .split(|byte| *byte == 0)
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                let cut = entry.iter().position(|byte| *byte == b'\n');
                // A name alone is a switch that is on.
                let (name, value) = cut.map_or((entry, &b"true"[..]), |cut| {
                    (&entry[..cut], &entry[cut + 1..])
                });
                (String::from_utf8_lossy(name).into_owned(), value.to_vec())
            })
            .collect();
        Ok(Self { entries })
    }

    /// The value that counts; section and key are lower case, as git prints them.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&[u8]> {
        self.entries
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_slice())
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

    /// The middle parts of `section.<name>.<key>`, for any of the keys.
    #[must_use]
    pub fn subsections(&self, section: &str, keys: &[&str]) -> BTreeSet<String> {
        self.entries
            .iter()
            .filter_map(|(name, _)| {
                let rest = name.strip_prefix(section)?.strip_prefix('.')?;
                let (middle, key) = rest.rsplit_once('.')?;
                keys.contains(&key).then(|| middle.to_owned())
            })
            .collect()
    }

    /// Every value of every `section.<name>.<key>`.
    pub fn section(&self, section: &str) -> impl Iterator<Item = (&str, &[u8])> {
        let prefix = format!("{section}.");
        self.entries
            .iter()
            .filter(move |(name, _)| name.starts_with(&prefix))
            .map(|(name, value)| (name.as_str(), value.as_slice()))
    }
}

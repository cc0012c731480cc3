//! Git's effective configuration, read once per measurement.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::digest::Digest;
use crate::git::error::{Error, shown};
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
    /// Section and key in lower case; what lies between is bytes, in whatever encoding.
    name: Vec<u8>,
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
                name: name.to_vec(),
                value: value.to_vec(),
            });
        }
        Ok(Self { entries })
    }

    /// For tests: a configuration that nobody wrote down.
    #[cfg(test)]
    pub(crate) fn from_entries<'a>(entries: impl Iterator<Item = (&'a [u8], &'a str)>) -> Self {
        let own = |(name, value): (&[u8], &str)| ConfigEntry {
            local: true,
            name: name.to_vec(),
            value: value.as_bytes().to_vec(),
        };
        Self {
            entries: entries.map(own).collect(),
        }
    }

    /// The value that counts; section and key are lower case, as git prints them.
    #[must_use]
    pub fn last(&self, name: impl AsRef<[u8]>) -> Option<&[u8]> {
        let name = name.as_ref();
        self.entries
            .iter()
            .rev()
            .find(|entry| entry.name == name)
            .map(|entry| entry.value.as_slice())
    }

    /// Whether a switch is on.
    ///
    /// # Errors
    /// `NoSwitch` for a value that git takes for none: it ends there, and so do we.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        let Some(value) = self.last(name) else {
            return Ok(false);
        };
        switch(value).ok_or_else(|| Error::NoSwitch {
            name: name.to_owned(),
            value: shown(value),
        })
    }

    /// Whether a switch is on anywhere, whatever comes after it; a value that is no switch counts, since
    /// git is not known to take it for off.
    #[must_use]
    pub(crate) fn is_ever_on(&self, name: impl AsRef<[u8]>) -> bool {
        let name = name.as_ref();
        let mut named = self.entries.iter().filter(|entry| entry.name == name);
        named.any(|entry| switch(&entry.value) != Some(false))
    }

    /// The digest of what stands in the repository's own configuration, in its order, without what a branch
    /// is said to follow: `git push -u` and `git switch` write that in any working tree of the repository,
    /// and nothing of a review depends on it.
    #[must_use]
    pub fn local_digest(&self) -> Digest {
        let mut bytes = Vec::new();
        let local = self.entries.iter().filter(|entry| entry.local);
        for entry in local.filter(|entry| !self.is_followed(entry)) {
            bytes.extend_from_slice(&entry.name);
            bytes.push(b'\n');
            bytes.extend_from_slice(&entry.value);
            bytes.push(0);
        }
        Digest::of(&bytes)
    }

    /// A short digest of each key that [`Self::local_digest`] is of.
    pub(crate) fn local_parts(&self) -> BTreeMap<String, String> {
        let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let local = self.entries.iter().filter(|entry| entry.local);
        for entry in local.filter(|entry| !self.is_followed(entry)) {
            let values = all.entry(without_key(&shown(&entry.name))).or_default();
            values.extend_from_slice(&entry.value);
            values.push(0);
        }
        let digests = all.into_iter();
        digests
            .map(|(name, values)| (name, Digest::of(&values).as_str()[..16].to_owned()))
            .collect()
    }

    /// Whether an entry says what a branch follows: a branch of this repository or of a remote whose address
    /// stands in the configuration, and is digested there. An address in its place would be one that
    /// nothing else tells.
    fn is_followed(&self, entry: &ConfigEntry) -> bool {
        let Some(rest) = entry.name.strip_prefix(b"branch.") else {
            return false;
        };
        let Some(end) = rest.iter().rposition(|byte| *byte == b'.') else {
            return false;
        };
        match &rest[end + 1..] {
            b"merge" | b"rebase" => true,
            b"remote" | b"pushremote" => {
                let url = [b"remote.", &entry.value[..], b".url"].concat();
                let mut digested = self.entries.iter().filter(|entry| entry.local);
                entry.value == b"." || digested.any(|entry| entry.name == url)
            }
            _ => false,
        }
    }

    /// The middle parts of `section.<name>.<key>`, for any of the keys.
    #[must_use]
    pub fn subsections(&self, section: &str, keys: &[&str]) -> BTreeSet<Vec<u8>> {
        self.entries
            .iter()
            .filter_map(|entry| {
                let rest = entry.name.strip_prefix(section.as_bytes())?;
                let rest = rest.strip_prefix(b".")?;
                let end = rest.iter().rposition(|byte| *byte == b'.')?;
                let (middle, key) = (&rest[..end], &rest[end + 1..]);
                let is_asked = keys.iter().any(|asked| asked.as_bytes() == key);
                is_asked.then(|| middle.to_vec())
            })
            .collect()
    }
}

/// A name without who logs in with what, where it holds an address: it is told to people.
fn without_key(name: &str) -> String {
    let Some((before, address)) = name.split_once("://") else {
        return name.to_owned();
    };
    let end = address.find('/').unwrap_or(address.len());
    match address[..end].rfind('@') {
        Some(at) => format!("{before}://{}", &address[at + 1..]),
        None => name.to_owned(),
    }
}

/// A value as git reads a switch; `None` for what it takes for none.
fn switch(value: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(value).ok()?.to_ascii_lowercase();
    match text.as_str() {
        "true" | "yes" | "on" => Some(true),
        "" | "false" | "no" | "off" => Some(false),
        number => is_not_zero(number),
    }
}

/// Whether a number is not 0: with white space before it, a sign, `0x` or `0` in front of other digits
/// than decimal ones, and a unit after it. Git's numbers have 31 bits, and what is larger is none.
fn is_not_zero(text: &str) -> Option<bool> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (digits, unit) = match text.strip_suffix(['k', 'm', 'g']) {
        Some(digits) => (digits, text.strip_prefix(digits)?),
        None => (text, ""),
    };
    let (digits, base) = match digits.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    // `from_str_radix` would take a second sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let number = i64::from_str_radix(digits, base).ok()?;
    let factor = match unit {
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => 1,
    };
    let number = number.checked_mul(factor)?;
    (number <= i64::from(i32::MAX)).then_some(number != 0)
}

#[cfg(test)]
mod tests {
    use super::{GitConfig, switch};

    /// Each was asked of `git config --type=bool`.
    #[test]
    fn switches_are_read_as_git_reads_them() {
        for on in [
            "true",
            "YES",
            "On",
            "1",
            "-1",
            "+1",
            "0x1",
            "0X1f",
            "01",
            "1k",
            "2M",
            "1g",
            " 1",
            "\t7",
            "2147483647",
            "-0x1",
        ] {
            assert_eq!(switch(on.as_bytes()), Some(true), "{on:?}");
        }
        for off in ["", "false", "No", "OFF", "0", "-0", "0x0", "00", "0k", "0G"] {
            assert_eq!(switch(off.as_bytes()), Some(false), "{off:?}");
        }
        for none in [
            "maybe",
            "1 ",
            "1kk",
            "k",
            "0x",
            "08",
            "--1",
            "+-1",
            "1.0",
            "2g",
            "2147483648",
            "0b1",
            "true ",
            "99999999999999999999",
        ] {
            assert_eq!(switch(none.as_bytes()), None, "{none:?}");
        }
        assert_eq!(switch(b"\xff"), None);
    }

    /// U34: what moved is told by its keys, and by nothing that somebody logs in with.
    #[test]
    fn keys_of_the_configuration_have_a_digest_each() {
        let parts = |entries: &[(&str, &str)]| {
            let entries = entries.iter();
            let entries = entries.map(|(name, value)| (name.as_bytes(), *value));
            GitConfig::from_entries(entries).local_parts()
        };
        let before = parts(&[
            ("alias.st", "status"),
            ("url.https://me:key@h/x.insteadof", "y"),
        ]);
        let names: Vec<&str> = before.keys().map(String::as_str).collect();
        assert_eq!(names, ["alias.st", "url.https://h/x.insteadof"]);
        let again = parts(&[("alias.st", "stash"), ("branch.a.merge", "refs/heads/a")]);
        assert_ne!(before["alias.st"], again["alias.st"]);
        assert_eq!(again.len(), 1, "what a branch follows is no part of it");
        let twice = parts(&[("alias.st", "sta"), ("alias.st", "tus")]);
        assert_ne!(twice["alias.st"], before["alias.st"]);
    }

    /// `git push -u` beside a run, and what an agent could put in its place.
    #[test]
    fn what_a_branch_follows_is_not_digested_and_addresses_are() {
        let digest = |entries: &[(&str, &str)]| {
            let entries = entries
                .iter()
                .map(|(name, value)| (name.as_bytes(), *value));
            GitConfig::from_entries(entries).local_digest()
        };
        let origin = ("remote.origin.url", "https://example.invalid/x.git");
        let plain = digest(&[origin]);
        for entry in [
            ("branch.a.b.remote", "origin"),
            ("branch.a.remote", "."),
            ("branch.a.pushremote", "origin"),
            ("branch.a.merge", "refs/heads/a"),
            ("branch.a.rebase", "true"),
        ] {
            assert_eq!(digest(&[origin, entry]), plain, "{entry:?}");
        }
        for entry in [
            ("branch.a.remote", "https://example.invalid/other.git"),
            ("branch.a.pushremote", "nowhere"),
            ("branch.a.mergeoptions", "-s ours"),
            ("branch.autosetupmerge", "always"),
            ("remote.origin.pushurl", "https://example.invalid/other.git"),
            ("core.hookspath", "x"),
        ] {
            assert_ne!(digest(&[origin, entry]), plain, "{entry:?}");
        }
        // An address of the user's own file is digested nowhere.
        let mut elsewhere =
            GitConfig::from_entries([origin].map(|(n, v)| (n.as_bytes(), v)).into_iter());
        elsewhere.entries[0].local = false;
        let plain = elsewhere.local_digest();
        let follows = [("branch.a.remote", "origin")].map(|(n, v)| (n.as_bytes(), v));
        let follows = GitConfig::from_entries(follows.into_iter());
        elsewhere.entries.extend(follows.entries);
        assert_ne!(elsewhere.local_digest(), plain);
    }
}

//! Secrets: a maintained list of rules as data, a scan over bytes, and hiding what was found.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::checks::rule::Rule;
use crate::domain::severity::Severity;

pub(crate) mod assigned;
pub(crate) mod stream;
#[cfg(test)]
mod tests;

const EMBEDDED: &str = include_str!("rules/secrets.yaml");

/// How many bytes before a keyword a match may begin, and where the longest one ends.
pub(crate) const BEFORE: usize = 128;
/// How many bytes after a keyword are looked at: a private key of 8,192 bits fits.
pub(crate) const AFTER: usize = 8 * 1024;

/// Fewer different bytes than this are a placeholder, not a secret.
const DIFFERENT_BYTES: usize = 6;

/// The list as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    version: u32,
    rules: Vec<RuleEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleEntry {
    id: String,
    title: String,
    severity: Severity,
    keywords: Vec<String>,
    pattern: String,
    except: Option<String>,
}

/// Why the embedded list cannot be used; a build whose tests ran has none of these.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum Error {
    #[error("the embedded list of secret rules does not parse: {0}")]
    Yaml(String),
    #[error("the embedded list of secret rules has version {0}")]
    Version(u32),
    #[error("a pattern of the embedded list of secret rules does not compile: {0}")]
    Pattern(String),
}

#[derive(Debug)]
struct SecretRule {
    entry: RuleEntry,
    pattern: Regex,
    except: Option<Regex>,
}

/// Everything that is taken for a secret.
#[derive(Debug)]
pub(crate) struct SecretRules {
    rules: Vec<SecretRule>,
    keywords: Regex,
}

/// A secret found in some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// Which rule found it.
    pub(crate) rule: usize,
    /// Where the secret begins.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
}

impl SecretRules {
    /// The embedded list, compiled once.
    pub(crate) fn embedded() -> Result<&'static Self, Error> {
        static RULES: OnceLock<Result<SecretRules, Error>> = OnceLock::new();
        RULES
            .get_or_init(|| Self::parse(EMBEDDED))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let file: RuleFile =
            serde_yaml::from_str(text).map_err(|error| Error::Yaml(error.to_string()))?;
        if file.version != 1 {
            return Err(Error::Version(file.version));
        }
        let mut words: Vec<String> = file
            .rules
            .iter()
            .flat_map(|rule| rule.keywords.iter().map(|word| regex::escape(word)))
            .collect();
        words.sort();
        words.dedup();
        let rules = file
            .rules
            .into_iter()
            .map(|entry| {
                Ok(SecretRule {
                    pattern: compile(&entry.pattern)?,
                    except: entry.except.as_deref().map(compile).transpose()?,
                    entry,
                })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Self {
            rules,
            keywords: compile(&words.join("|"))?,
        })
    }

    /// The rules, for findings and the report.
    pub(crate) fn rules(&'static self) -> impl Iterator<Item = Rule> {
        (0..self.rules.len()).filter_map(|index| self.rule(index))
    }

    /// One rule by the index of a hit.
    pub(crate) fn rule(&'static self, index: usize) -> Option<Rule> {
        let entry = &self.rules.get(index)?.entry;
        Some(Rule {
            id: &entry.id,
            severity: entry.severity,
            blocking: entry.severity >= Severity::High,
            title: &entry.title,
        })
    }

    /// Every secret, by where it begins; of two that overlap, the worse one.
    pub(crate) fn find(&self, bytes: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        for (from, to) in self.suspicious(bytes) {
            let text = &bytes[..to];
            for (index, rule) in self.rules.iter().enumerate() {
                rule.matches(text, from, |start, end| {
                    hits.push(Hit {
                        rule: index,
                        start,
                        end,
                    });
                });
            }
        }
        self.worst_of_overlapping(hits)
    }

    /// Stretches around keywords, merged where they touch, so that no byte is scanned twice.
    fn suspicious(&self, bytes: &[u8]) -> Vec<(usize, usize)> {
        let mut stretches: Vec<(usize, usize)> = Vec::new();
        for word in self.keywords.find_iter(bytes) {
            let from = word.start().saturating_sub(BEFORE);
            let to = word.end().saturating_add(AFTER).min(bytes.len());
            match stretches.last_mut() {
                Some(last) if from <= last.1 => last.1 = to,
                Some(_) | None => stretches.push((from, to)),
            }
        }
        stretches
    }

    fn worst_of_overlapping(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        let severity = |hit: &Hit| self.rules.get(hit.rule).map(|rule| rule.entry.severity);
        hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end), hit.rule));
        let mut kept: Vec<Hit> = Vec::with_capacity(hits.len());
        for hit in hits {
            match kept.last_mut() {
                Some(last) if hit.start < last.end => {
                    if severity(&hit) > severity(last) {
                        *last = hit;
                    }
                }
                Some(_) | None => kept.push(hit),
            }
        }
        kept
    }

    /// The text with every secret replaced by the name of its rule.
    pub(crate) fn redact(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for hit in self.find(bytes) {
            out.extend_from_slice(&bytes[from..hit.start]);
            let name = self
                .rules
                .get(hit.rule)
                .map_or("secret", |rule| rule.entry.id.as_str());
            out.extend_from_slice(format!("[redacted: {name}]").as_bytes());
            from = hit.end;
        }
        out.extend_from_slice(&bytes[from..]);
        String::from_utf8_lossy(&out).into_owned()
    }
}

impl SecretRule {
    fn matches(&self, text: &[u8], from: usize, mut found: impl FnMut(usize, usize)) {
        let mut at = from;
        while let Some(captures) = self.pattern.captures_at(text, at) {
            let Some(whole) = captures.get(0) else { return };
            let secret = captures.name("secret").unwrap_or(whole);
            let dummy = self
                .except
                .as_ref()
                .is_some_and(|except| except.is_match(secret.as_bytes()));
            if !dummy && !is_placeholder(secret.as_bytes()) {
                found(secret.start(), secret.end());
            }
            at = whole.end().max(at + 1);
            if at > text.len() {
                return;
            }
        }
    }
}

/// Whether the bytes after the rule's own prefix hardly vary (`ghp_xxxxxxxx`, `AKIA00000000`).
pub(crate) fn is_placeholder(secret: &[u8]) -> bool {
    let tail = &secret[secret.len() / 4..];
    let mut seen = [false; 256];
    for byte in tail {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() < DIFFERENT_BYTES
}

fn compile(pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .map_err(|error| Error::Pattern(error.to_string()))
}

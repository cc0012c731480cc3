//! Findings on their way to claims: grouped, capped, and weighed with what the policy allows.

use std::collections::BTreeMap;

use crate::checks::rule::{self, Rule};
use crate::domain::finding::Claim;
use crate::domain::glob::Glob;
use crate::domain::path::RepoPath;
use crate::domain::policy::AllowFinding;
use crate::domain::severity::Severity;

/// Findings of one rule in one file that block are listed one by one up to here.
const LISTED: usize = 20;
/// Groups (a rule in a file) that are listed; the rest is counted.
const GROUPS: usize = 400;

/// One thing that a rule found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The rule.
    pub(crate) rule: Rule,
    /// The file.
    pub(crate) path: Option<RepoPath>,
    /// First and last line.
    pub(crate) lines: Option<(u32, u32)>,
    /// What exactly, in a few words that quote nothing of the file.
    pub(crate) detail: String,
    /// What whoever is to mend it is told besides; perhaps nothing.
    pub(crate) more: String,
    /// Whether it stood there before the change.
    pub(crate) pre_existing: bool,
}

impl Found {
    /// A finding about a whole file.
    pub(crate) fn file(rule: Rule, path: &RepoPath, detail: impl Into<String>) -> Self {
        Self {
            rule,
            path: Some(path.clone()),
            lines: None,
            detail: detail.into(),
            more: String::new(),
            pre_existing: false,
        }
    }
    /// A finding in a line.
    pub(crate) fn line(rule: Rule, path: &RepoPath, line: u32, detail: impl Into<String>) -> Self {
        Self {
            lines: Some((line, line)),
            ..Self::file(rule, path, detail)
        }
    }
}

/// Findings of one rule in one file.
#[derive(Debug)]
struct Group {
    allowed: bool,
    listed: Vec<Found>,
    more: usize,
}

/// Collects findings; memory is bounded however many there are.
#[derive(Debug)]
pub(crate) struct Findings {
    allowed: Vec<(String, Glob)>,
    groups: BTreeMap<(Option<RepoPath>, &'static str, bool), Group>,
    /// Findings in groups beyond the limit.
    unlisted: Unlisted,
}

/// Findings that are only counted. They keep their weight: the worst of them stands for all.
#[derive(Debug, Default)]
struct Unlisted {
    count: usize,
    worst: Option<Severity>,
    blocking: bool,
}

impl Findings {
    /// An empty collection under what the policy allows; a glob that cannot be read allows nothing.
    pub(crate) fn new(allowed: &[AllowFinding]) -> Self {
        let allowed = allowed.iter().filter_map(|allow| {
            let glob = Glob::parse(&allow.paths).ok()?;
            Some((allow.rule.clone(), glob))
        });
        Self {
            allowed: allowed.collect(),
            groups: BTreeMap::new(),
            unlisted: Unlisted::default(),
        }
    }

    /// Adds a finding.
    pub(crate) fn push(&mut self, found: Found) {
        let allowed = self.allows(&found);
        let harmless = allowed || found.pre_existing;
        let blocks = found.rule.blocking && !harmless;
        let severity = if harmless {
            Severity::Info
        } else {
            found.rule.severity
        };
        let key = (found.path.clone(), found.rule.id, found.pre_existing);
        // What may block is not crowded out by what cannot.
        let limit = if blocks || severity >= Severity::Medium {
            2 * GROUPS
        } else {
            GROUPS
        };
        if self.groups.len() >= limit && !self.groups.contains_key(&key) {
            self.unlisted.count += 1;
            self.unlisted.worst = self.unlisted.worst.max(Some(severity));
            self.unlisted.blocking |= blocks;
            return;
        }
        let group = self.groups.entry(key).or_insert_with(|| Group {
            allowed,
            listed: Vec::new(),
            more: 0,
        });
        let room = if blocks { LISTED } else { 1 };
        if group.listed.len() < room {
            group.listed.push(found);
        } else {
            group.more += 1;
        }
    }

    fn allows(&self, found: &Found) -> bool {
        let Some(path) = &found.path else {
            return false;
        };
        let matches =
            |(rule, glob): &(String, Glob)| rule == found.rule.id && glob.matches(path.as_bytes());
        self.allowed.iter().any(matches)
    }

    /// The claims, the worst first, then by path and line.
    pub(crate) fn claims(&self) -> Vec<Claim> {
        let mut claims: Vec<Claim> = self
            .groups
            .values()
            .flat_map(|group| {
                let last = group.listed.len().saturating_sub(1);
                group.listed.iter().enumerate().map(move |(index, found)| {
                    claim(
                        found,
                        group.allowed,
                        if index == last { group.more } else { 0 },
                    )
                })
            })
            .chain(self.unlisted_claim())
            .collect();
        claims.sort_by(|a, b| {
            (b.blocking, b.severity, &a.path, a.line)
                .cmp(&(a.blocking, a.severity, &b.path, b.line))
        });
        claims
    }

    fn unlisted_claim(&self) -> Option<Claim> {
        let Unlisted {
            count,
            worst,
            blocking,
        } = self.unlisted;
        worst.map(|severity| Claim {
            title: format!("{}: {count} further findings", rule::SUPPRESSED.id),
            severity,
            blocking,
            path: None,
            line: None,
            end_line: None,
            body: "The change has more findings than are listed. Mend the listed ones first."
                .to_owned(),
            pre_existing: false,
            blob: None,
        })
    }
}

fn claim(found: &Found, allowed: bool, more: usize) -> Claim {
    let rule = found.rule;
    let mut body = if found.detail.is_empty() {
        format!("Rule `{}`: {}.", rule.id, rule.title)
    } else {
        format!("Rule `{}`: {}: {}.", rule.id, rule.title, found.detail)
    };
    if found.pre_existing {
        body.push_str(" It stood there before this change.");
    }
    if more > 0 {
        body = format!("{body} And {more} more of this kind in this file.");
    }
    if !found.more.is_empty() {
        body = format!("{body}\n\n{}", found.more);
    }
    let what = if rule.id == rule::COMMAND.id {
        &found.detail
    } else {
        rule.title
    };
    let mut title = format!("{}: {what}", rule.id);
    if allowed {
        title.push_str(" (allowed by policy)");
    }
    Claim {
        title,
        severity: if allowed {
            Severity::Info
        } else {
            rule.severity
        },
        blocking: rule.blocking && !allowed && !found.pre_existing,
        path: found.path.clone(),
        line: found.lines.map(|lines| lines.0),
        end_line: found.lines.map(|lines| lines.1),
        body,
        pre_existing: found.pre_existing,
        blob: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rule: Rule, number: usize) -> Found {
        Found::file(rule, &RepoPath::from(format!("f{number}").as_str()), "")
    }

    /// However many harmless findings come first, a later one keeps its weight.
    #[test]
    fn findings_beyond_the_limit_keep_their_weight() {
        for rule in [rule::INVISIBLE, rule::BIDI] {
            let mut findings = Findings::new(&[]);
            for number in 0..3 * GROUPS {
                findings.push(found(rule::WHITESPACE, number));
            }
            findings.push(found(rule, 1));
            assert!(findings.claims()[0].blocks(Severity::Medium), "{}", rule.id);

            let mut findings = Findings::new(&[]);
            for number in 0..2 * GROUPS {
                findings.push(found(rule::VERY_LARGE, number));
            }
            findings.push(found(rule, 9 * GROUPS));
            let claims = findings.claims();
            let unlisted = claims.iter().find(|c| c.title.contains("further")).unwrap();
            assert_eq!(
                (unlisted.severity, unlisted.blocking),
                (rule.severity, rule.blocking)
            );
        }
    }

    #[test]
    fn what_blocks_is_listed_and_the_rest_is_counted() {
        let mut findings = Findings::new(&[]);
        for line in 1..=50 {
            let path = RepoPath::from("a");
            findings.push(Found::line(rule::BIDI, &path, line, ""));
            findings.push(Found::line(rule::WHITESPACE, &path, line, ""));
        }
        let claims = findings.claims();
        assert_eq!(claims.len(), LISTED + 1);
        assert!(
            claims[LISTED - 1]
                .body
                .ends_with("And 30 more of this kind in this file.")
        );
        assert!(claims[LISTED].body.contains("And 49 more"));
    }
}

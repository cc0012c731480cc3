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
    /// Findings in groups beyond the limit: of those that block, and of the others.
    unlisted: (usize, usize),
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
            unlisted: (0, 0),
        }
    }

    /// Adds a finding.
    pub(crate) fn push(&mut self, found: Found) {
        let allowed = self.allows(&found);
        let blocks = found.rule.blocking && !allowed && !found.pre_existing;
        let key = (found.path.clone(), found.rule.id, found.pre_existing);
        // What blocks is never crowded out by what does not.
        let full = self.groups.len() >= GROUPS && !self.groups.contains_key(&key);
        if full && !(blocks && self.groups.len() < 2 * GROUPS) {
            let unlisted = &mut self.unlisted;
            *(if blocks {
                &mut unlisted.0
            } else {
                &mut unlisted.1
            }) += 1;
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
            .chain(self.unlisted_claims())
            .collect();
        claims.sort_by(|a, b| {
            (b.blocking, b.severity, &a.path, a.line)
                .cmp(&(a.blocking, a.severity, &b.path, b.line))
        });
        claims
    }

    fn unlisted_claims(&self) -> impl Iterator<Item = Claim> {
        let of = |count: usize, blocking: bool| {
            (count > 0).then(|| Claim {
                title: format!("{}: {count} further findings", rule::SUPPRESSED.id),
                severity: if blocking {
                    Severity::High
                } else {
                    Severity::Info
                },
                blocking,
                path: None,
                line: None,
                end_line: None,
                body: "The change has more findings than are listed. Mend the listed ones first."
                    .to_owned(),
                pre_existing: false,
            })
        };
        of(self.unlisted.0, true)
            .into_iter()
            .chain(of(self.unlisted.1, false))
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
    let mut title = format!("{}: {}", rule.id, rule.title);
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
    }
}

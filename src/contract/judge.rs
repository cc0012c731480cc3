//! Whether a decoded block answers *this* job and earns its verdict.

use std::collections::{BTreeSet, HashMap};

use crate::contract::markdown::{Report, VERDICT_TAG};
use crate::contract::text::excerpt;
use crate::contract::verdict::{self, Covered, Decoded, Place, Said};
use crate::contract::{Expect, TextFile, form};
use crate::domain::evidence::{ChangedFile, Evidence, FileStatus};
use crate::domain::finding::Claim;
use crate::domain::job::{ItemState, Prior, Review};
use crate::domain::path::RepoPath;
use crate::domain::verdict::{Coverage, Verdict};

/// Up to this many changed files, a PASS names each of them; above, the receipts suffice.
pub(crate) const COVERAGE_CAP: usize = 200;

/// Reads a report under `contract: json`.
pub(super) fn review(report: &Report, expect: &Expect<'_>) -> Result<Review, Vec<String>> {
    let json = form::block(report, VERDICT_TAG)?;
    let mut problems = Vec::new();
    let decoded = verdict::decode(&json, &mut problems);
    form::check_nonce(&decoded.nonce, expect.nonce, &mut problems);
    if decoded.tree != expect.tree.as_str() {
        problems.push("`tree` is not the one in the prompt".to_owned());
    }
    prior_problems(&decoded, expect, &mut problems);
    let unmet = decoded
        .plan
        .iter()
        .filter(|answer| answer.state == ItemState::NotMet)
        .map(|answer| verdict::unmet(Some(answer.item), &answer.note));
    let findings: Vec<Claim> = decoded
        .findings
        .iter()
        .cloned()
        .chain(unmet)
        .map(|said| claim(&said, expect))
        .collect();
    let mut unread = receipt_problems(&decoded, expect.evidence);
    unread.extend(coverage_problems(&decoded, expect.evidence));
    let coverage = if unread.is_empty() {
        Coverage::Full
    } else {
        Coverage::None
    };
    let unanswered = unanswered(&decoded, expect);
    if decoded.verdict == Some(Verdict::Pass) {
        problems.append(&mut unread);
        for item in &unanswered {
            problems.push(format!(
                "the verdict is PASS, but `plan` does not answer acceptance item {item}"
            ));
        }
        for finding in findings
            .iter()
            .filter(|finding| finding.blocks(expect.fail_on))
        {
            problems.push(format!(
                "the verdict is PASS, but the finding {} blocks; say NOT PASS, or lower the \
                 finding if it was rated too high",
                excerpt(&finding.title)
            ));
        }
    }
    match decoded.verdict {
        Some(verdict) if problems.is_empty() => Ok(Review {
            verdict,
            receipts: right_receipts(&decoded, expect.evidence),
            summary: decoded.summary,
            findings,
            prior: located(decoded.prior, expect),
            plan: decoded.plan,
            unanswered,
            coverage,
        }),
        Some(_) | None => Err(problems),
    }
}

/// What is wrong with the words on earlier findings: one that is mistaken for another says nothing of the
/// one that was meant.
fn prior_problems(decoded: &Decoded, expect: &Expect<'_>, problems: &mut Vec<String>) {
    let mut told = BTreeSet::new();
    for prior in &decoded.prior {
        let finding = prior.finding;
        if !expect.prior.contains_key(&finding) {
            problems.push(format!(
                "`prior` names {finding}, which is none of the earlier findings in the prompt"
            ));
        } else if !told.insert(finding) {
            problems.push(format!("`prior` names {finding} twice"));
        }
    }
}

/// The words on earlier findings, with what lies where each of these points.
fn located(prior: Vec<Prior>, expect: &Expect<'_>) -> Vec<Prior> {
    let here = |finding| {
        let path = expect.prior.get(&finding)?.as_ref()?;
        Some((expect.text_at)(path)?.blob)
    };
    let prior = prior.into_iter();
    prior
        .map(|said| Prior {
            blob: here(said.finding),
            ..said
        })
        .collect()
}

/// Which acceptance items of the plan nothing is said of.
fn unanswered(decoded: &Decoded, expect: &Expect<'_>) -> Vec<u32> {
    let answered: BTreeSet<u32> = decoded.plan.iter().map(|answer| answer.item).collect();
    expect.items.difference(&answered).copied().collect()
}

/// What is wrong with the receipts; never says what would be right.
fn receipt_problems(decoded: &Decoded, evidence: &Evidence) -> Vec<String> {
    let mut problems = Vec::new();
    if evidence.parts.is_empty() {
        problems.push("no part of the diff was shown, so nothing can pass".to_owned());
    }
    let shown: HashMap<&str, &str> = decoded
        .receipts
        .iter()
        .map(|(part, receipt)| (part.as_str(), receipt.as_str()))
        .collect();
    for part in &evidence.parts {
        match shown.get(part.name.as_str()) {
            None => problems.push(format!("the receipt of part {} is missing", part.name)),
            Some(receipt) if *receipt != part.receipt || receipt.is_empty() => {
                problems.push(format!(
                    "the receipt of part {} is not the one at its end",
                    part.name
                ));
            }
            Some(_) => {}
        }
    }
    for (part, _) in &decoded.receipts {
        if !evidence.parts.iter().any(|known| known.name == *part) {
            problems.push(format!(
                "`receipts` names part {}, which does not exist",
                excerpt(part)
            ));
        }
    }
    problems
}

fn right_receipts(decoded: &Decoded, evidence: &Evidence) -> u32 {
    let right = evidence.parts.iter().filter(|part| {
        decoded
            .receipts
            .iter()
            .any(|(name, receipt)| *name == part.name && *receipt == part.receipt)
    });
    u32::try_from(right.count()).unwrap_or(u32::MAX)
}

fn coverage_problems(decoded: &Decoded, evidence: &Evidence) -> Vec<String> {
    let mut problems = Vec::new();
    if evidence.files.is_empty() {
        problems.push("the change has no files, so nothing can pass".to_owned());
    }
    let files = Files::new(evidence);
    let mut read = vec![None; evidence.files.len()];
    for Covered { path, read: said } in &decoded.coverage {
        match files.find(path) {
            // Whoever says both has not read it.
            Found::File(nth) => {
                if let Some(entry) = read.get_mut(nth) {
                    *entry = Some(entry.unwrap_or(true) && *said);
                }
            }
            Found::OldPath => {}
            Found::Nothing => {
                problems.push(format!(
                    "`coverage` names {}, which the change does not touch",
                    shown(path)
                ));
            }
        }
    }
    let all_named = evidence.files.len() <= COVERAGE_CAP;
    for (file, read) in evidence.files.iter().zip(read) {
        if read == Some(false) {
            problems.push(format!(
                "the verdict is PASS, but `coverage` says that {} was not read",
                file.path
            ));
        } else if read.is_none() && all_named {
            problems.push(format!("`coverage` does not name {}", file.path));
        }
    }
    problems
}

fn shown(place: &Place) -> String {
    match place {
        Place::Text(text) => excerpt(text),
        Place::Exact(path) => excerpt(&path.to_string()),
    }
}

/// The changed files by every way to name them.
struct Files<'e> {
    exact: HashMap<&'e [u8], usize>,
    /// As [`RepoPath`] is shown to people and in prompts; for names that cannot be text.
    displayed: HashMap<String, usize>,
    old: Vec<&'e RepoPath>,
}

enum Found {
    File(usize),
    /// Where a renamed file came from: nothing to read there.
    OldPath,
    Nothing,
}

impl<'e> Files<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        let files = || evidence.files.iter().enumerate();
        Self {
            exact: files()
                .map(|(nth, file)| (file.path.as_bytes(), nth))
                .collect(),
            displayed: files()
                .map(|(nth, file)| (file.path.to_string(), nth))
                .collect(),
            old: evidence
                .files
                .iter()
                .filter_map(|file| file.old_path.as_ref())
                .collect(),
        }
    }
    fn find(&self, place: &Place) -> Found {
        let (bytes, text) = match place {
            Place::Text(text) => (text.as_bytes(), Some(text)),
            Place::Exact(path) => (path.as_bytes(), None),
        };
        let by_name = || text.and_then(|text| self.displayed.get(text));
        if let Some(nth) = self.exact.get(bytes).or_else(by_name) {
            Found::File(*nth)
        } else if self.old.iter().any(|path| path.as_bytes() == bytes) {
            Found::OldPath
        } else {
            Found::Nothing
        }
    }
}

/// A finding as a claim of the run; "pre-existing" only if it is believed.
pub(super) fn claim(said: &Said, expect: &Expect<'_>) -> Claim {
    let path = said
        .place
        .as_ref()
        .map(|place| path_of(place, expect.evidence));
    let here = path
        .as_ref()
        .and_then(|path| cited(path, said.line, said.end_line, expect));
    let believed = said.pre_existing
        && here.is_some()
        && path
            .as_ref()
            .is_some_and(|path| unchanged(path, said.line, said.end_line, expect));
    Claim {
        title: said.title.clone(),
        severity: said.severity,
        blocking: said.blocking,
        path,
        line: said.line,
        end_line: said.end_line,
        body: said.body.clone(),
        pre_existing: believed,
        blob: here.map(|file| file.blob),
    }
}

/// The file that is cited, where the cited lines exist in it.
fn cited(
    path: &RepoPath,
    line: Option<u32>,
    end_line: Option<u32>,
    expect: &Expect<'_>,
) -> Option<TextFile> {
    let file = (expect.text_at)(path)?;
    let exist = match (line, end_line) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some(first), last) => {
            let last = last.unwrap_or(first);
            1 <= first && first <= last && last <= file.lines
        }
    };
    exist.then_some(file)
}

fn path_of(place: &Place, evidence: &Evidence) -> RepoPath {
    let text = match place {
        Place::Exact(path) => return path.clone(),
        Place::Text(text) => text,
    };
    let exact = RepoPath::from(text.as_str());
    // Only an escape, which has a backslash, is shown otherwise than it is.
    if !text.contains('\\') || evidence.files.iter().any(|file| file.path == exact) {
        return exact;
    }
    let displayed = evidence
        .files
        .iter()
        .find(|file| file.path.to_string() == *text);
    displayed.map_or(exact, |file| file.path.clone())
}

/// Whether the cited lines, which exist, are as they were at the base (scenarios C11, S26).
fn unchanged(
    path: &RepoPath,
    line: Option<u32>,
    end_line: Option<u32>,
    expect: &Expect<'_>,
) -> bool {
    let Some(first) = line else {
        return false;
    };
    let last = end_line.unwrap_or(first);
    let changed = expect.evidence.files.iter().find(|file| file.path == *path);
    changed.is_none_or(|file| untouched(file, first, last))
}

fn untouched(file: &ChangedFile, first: u32, last: u32) -> bool {
    let by_lines = match file.status {
        FileStatus::Modified | FileStatus::Renamed | FileStatus::ModeChanged => true,
        FileStatus::Added | FileStatus::Deleted | FileStatus::TypeChanged => false,
    };
    // Without counted lines (binary, excluded) an empty list does not mean that nothing changed.
    let counted = file.unreviewed.is_none() && file.added.is_some();
    let disjoint = |(from, to): &(u32, u32)| last < *from || *to < first;
    by_lines && counted && file.changed_lines.iter().all(disjoint)
}

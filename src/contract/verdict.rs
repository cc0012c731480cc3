//! The verdict block's JSON, version 1, decoded with every fault named.

use std::collections::HashSet;

use crate::contract::form;
use crate::contract::json::Json;
use crate::contract::markdown::is_blank;
use crate::contract::object::Object;
use crate::contract::text::{cut, excerpt};
use crate::domain::finding::Disposition;
use crate::domain::id::FindingId;
use crate::domain::job::{ItemState, PlanAnswer, Prior};
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;
use crate::domain::verdict::Verdict;

/// How many findings, notes on earlier findings, or plan items a report may hold.
pub(super) const LIST_CAP: usize = 500;
/// Characters of a title.
pub(super) const TITLE_CAP: usize = 300;
/// Characters of a summary, a body or a note.
pub(super) const TEXT_CAP: usize = 20_000;
/// What may become of an earlier finding.
pub(super) const DISPOSITIONS: [&str; 8] = [
    "open",
    "fixed",
    "refuted",
    "withdrawn",
    "upheld",
    "sustained",
    "overruled",
    "deferred",
];
/// How far an item of the plan is done.
pub(super) const PLAN_STATES: [&str; 3] = ["met", "not met", "deviated"];

/// What a block says, whether or not it is whole.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) nonce: String,
    pub(super) tree: String,
    pub(super) verdict: Option<Verdict>,
    pub(super) summary: String,
    pub(super) receipts: Vec<(String, String)>,
    pub(super) coverage: Vec<Covered>,
    pub(super) findings: Vec<Said>,
    pub(super) prior: Vec<Prior>,
    pub(super) plan: Vec<PlanAnswer>,
}

/// One file of the coverage.
#[derive(Debug)]
pub(super) struct Covered {
    pub(super) path: Place,
    pub(super) read: bool,
}

/// A file as a report names it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// As text: the path itself, or the way it is shown where it cannot be text.
    Text(String),
    /// The exact bytes (`path_b64`).
    Exact(RepoPath),
}

/// A finding as said; whether "pre-existing" is believed is decided elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) title: String,
    pub(super) severity: Severity,
    pub(super) blocking: bool,
    pub(super) place: Option<Place>,
    pub(super) line: Option<u32>,
    pub(super) end_line: Option<u32>,
    pub(super) body: String,
    pub(super) pre_existing: bool,
}

/// Decodes a block; every fault is added to `problems`.
pub(super) fn decode(json: &Json, problems: &mut Vec<String>) -> Decoded {
    let known = [
        "version", "nonce", "tree", "verdict", "summary", "receipts", "coverage", "findings",
        "prior", "plan",
    ];
    let Some(block) = Object::open(json, "the block", &known, problems) else {
        return Decoded::default();
    };
    let mut decoded = Decoded {
        nonce: form::head(&block, problems),
        tree: block.text("tree", TITLE_CAP, problems),
        verdict: verdict(&block, problems),
        summary: block.text("summary", TEXT_CAP, problems),
        receipts: receipts(&block, problems),
        ..Decoded::default()
    };
    for (at, entry) in block.list("coverage", usize::MAX, problems) {
        decoded.coverage.extend(covered(entry, &at, problems));
    }
    for (at, entry) in block.list("findings", LIST_CAP, problems) {
        decoded.findings.push(finding(entry, &at, problems));
    }
    for (at, entry) in block.list("prior", LIST_CAP, problems) {
        decoded.prior.extend(prior(entry, &at, problems));
    }
    for (at, entry) in block.list("plan", LIST_CAP, problems) {
        decoded.plan.extend(plan_item(entry, &at, problems));
    }
    decoded
}

fn verdict(block: &Object<'_>, problems: &mut Vec<String>) -> Option<Verdict> {
    match block.get("verdict").and_then(Json::as_text) {
        Some("PASS") => Some(Verdict::Pass),
        Some("NOT PASS") => Some(Verdict::NotPass),
        other => {
            let found = other
                .map(|word| format!(", not {}", excerpt(word)))
                .unwrap_or_default();
            problems.push(format!("`verdict` must be \"PASS\" or \"NOT PASS\"{found}"));
            None
        }
    }
}

fn receipts(block: &Object<'_>, problems: &mut Vec<String>) -> Vec<(String, String)> {
    let Some(json) = block.get("receipts") else {
        return Vec::new();
    };
    if !matches!(json, Json::Object(_)) {
        problems.push(format!(
            "`receipts` must be an object of part names and receipts, not {}",
            json.kind()
        ));
    }
    let mut receipts: Vec<(String, String)> = Vec::new();
    let mut seen = HashSet::new();
    for (part, receipt) in json.members() {
        if !seen.insert(part) {
            problems.push(format!("`receipts` names part {} twice", excerpt(part)));
        }
        if let Some(text) = receipt.as_text() {
            receipts.push((part.clone(), text.to_owned()));
        } else {
            problems.push(format!(
                "the receipt of part {} must be text",
                excerpt(part)
            ));
        }
    }
    receipts
}

fn covered(json: &Json, at: &str, problems: &mut Vec<String>) -> Option<Covered> {
    let entry = Object::open(json, at, &["path", "path_b64", "how"], problems)?;
    let path = entry.place(problems);
    let how = entry.get("how").and_then(Json::as_text);
    if path.is_none() && entry.get("path_b64").is_none() {
        problems.push(format!("`{at}` names no `path`"));
    }
    let read = match how {
        Some("read") => true,
        Some("not-read") => false,
        _ => {
            problems.push(format!("`{at}.how` must be \"read\" or \"not-read\""));
            return None;
        }
    };
    Some(Covered { path: path?, read })
}

/// Decodes a finding. Whatever is wrong with it, there is a claim: what cannot be read is taken for
/// the worst that may have been meant.
pub(super) fn finding(json: &Json, at: &str, problems: &mut Vec<String>) -> Said {
    let known = [
        "title",
        "severity",
        "blocking",
        "path",
        "path_b64",
        "line",
        "end_line",
        "body",
        "pre_existing",
    ];
    let Some(entry) = Object::open(json, at, &known, problems) else {
        return Said {
            title: json
                .as_text()
                .map_or_else(|| "unreadable finding".to_owned(), one_line),
            severity: Severity::High,
            blocking: true,
            place: None,
            line: None,
            end_line: None,
            body: String::new(),
            pre_existing: false,
        };
    };
    let title = one_line(&entry.text("title", TITLE_CAP, problems));
    if title.is_empty() && entry.get("title").is_some() {
        problems.push(format!("`{at}.title` is empty"));
    }
    let severity = severity(&entry, problems);
    let said_blocking = json.all("blocking").any(|flag| *flag != Json::Bool(false));
    entry.flag("blocking", problems);
    let pre_existing = entry.flag("pre_existing", problems)
        && json
            .all("pre_existing")
            .all(|flag| *flag == Json::Bool(true));
    let line = entry.line("line", problems);
    let end_line = entry.line("end_line", problems);
    if end_line.is_some() && line.is_none_or(|line| end_line < Some(line)) {
        problems.push(format!(
            "`{at}.end_line` stands before `line`, or without it"
        ));
    }
    Said {
        title: if title.is_empty() {
            "untitled finding".to_owned()
        } else {
            title
        },
        severity: severity.unwrap_or(Severity::High),
        blocking: said_blocking || severity.is_none(),
        place: entry.place(problems),
        line,
        end_line,
        body: entry.text("body", TEXT_CAP, problems),
        pre_existing,
    }
}

/// The severity, the worst one if there are several; none if any of them cannot be read.
fn severity(entry: &Object<'_>, problems: &mut Vec<String>) -> Option<Severity> {
    let words = entry
        .json
        .all("severity")
        .map(|word| Severity::parse(word.as_text()?));
    let worst = words
        .collect::<Option<Vec<_>>>()
        .and_then(|all| all.into_iter().max());
    if worst.is_none() {
        problems.push(format!(
            "`{}.severity` must be \"critical\", \"high\", \"medium\", \"low\" or \"info\"",
            entry.at
        ));
    }
    worst
}

fn prior(json: &Json, at: &str, problems: &mut Vec<String>) -> Option<Prior> {
    let known = ["finding", "disposition", "note"];
    let entry = Object::open(json, at, &known, problems)?;
    let id = entry.get("finding").and_then(Json::as_text);
    let finding = id.and_then(FindingId::parse);
    if finding.is_none() {
        problems.push(format!(
            "`{at}.finding` must be the id of an earlier finding, like \"F-3\""
        ));
    }
    entry.word("disposition", &DISPOSITIONS, problems);
    let note = entry.optional_text("note", problems).to_owned();
    let word = entry.get("disposition").and_then(Json::as_text);
    Some(Prior {
        finding: finding?,
        disposition: word.and_then(Disposition::parse)?,
        note,
        blob: None,
    })
}

fn plan_item(json: &Json, at: &str, problems: &mut Vec<String>) -> Option<PlanAnswer> {
    let entry = Object::open(json, at, &["item", "state", "note"], problems)?;
    let item = entry.get("item").and_then(item);
    if item.is_none() {
        problems.push(format!(
            "`{at}.item` must be the number of an item of the plan"
        ));
    }
    entry.word("state", &PLAN_STATES, problems);
    let note = entry.optional_text("note", problems).to_owned();
    let word = entry.get("state").and_then(Json::as_text);
    let state = word.and_then(ItemState::parse);
    if state == Some(ItemState::Deviated) && is_blank(&note) {
        problems.push(format!("`{at}.note` must say why the change deviates"));
    }
    Some(PlanAnswer {
        item: item?,
        state: state?,
        note,
    })
}

/// The number of an acceptance item.
pub(super) fn item(json: &Json) -> Option<u32> {
    let Json::Natural(item) = json else {
        return None;
    };
    u32::try_from(*item).ok()
}

/// The claim that an acceptance item is not met: it blocks, whatever the verdict says.
pub(super) fn unmet(item: Option<u32>, note: &str) -> Said {
    let item = item.map_or_else(String::new, |item| format!(" {item}"));
    Said {
        title: format!("acceptance item{item} of the plan is not met"),
        severity: Severity::High,
        blocking: true,
        place: None,
        line: None,
        end_line: None,
        body: cut(note, TEXT_CAP),
        pre_existing: false,
    }
}

/// Whether a word means that an item is not met, however it is spelt.
pub(super) fn is_unmet(word: &str) -> bool {
    let letters: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
    matches!(letters.to_lowercase().as_str(), "notmet" | "unmet")
}

/// White space of any kind becomes one space; what is too long is cut with a mark.
fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= TITLE_CAP {
        return words;
    }
    words.chars().take(TITLE_CAP).chain(['…']).collect()
}

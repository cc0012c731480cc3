//! What an invalid report claims all the same: claims never vanish.

use std::collections::{BTreeSet, HashSet};

use crate::contract::json::{self, Json};
use crate::contract::markdown::{Report, verdict_bodies};
use crate::contract::text::Mark;
use crate::contract::verdict::{self, Said};
use crate::contract::{Expect, judge, line};
use crate::domain::finding::{Claim, Disposition};
use crate::domain::id::FindingId;

/// What is kept of an invalid report.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Whether it clearly says NOT PASS.
    pub(super) not_pass: bool,
    pub(super) claims: Vec<Claim>,
    /// Earlier findings that it says still hold.
    pub(super) open: BTreeSet<FindingId>,
    /// The claims as text: the same claim in two blocks counts once.
    seen: HashSet<String>,
}

/// Decodes what can be decoded, from every block that was meant as a verdict.
///
/// Echoed quotations of the prompt say nothing: the reviewed change may hold blocks of its own.
pub(super) fn salvage(report: &Report, expect: &Expect<'_>) -> Kept {
    let text = Mark::of(expect.nonce).strip(report.text());
    let mut kept = Kept {
        not_pass: line::says_not_pass(&text),
        ..Kept::default()
    };
    for body in verdict_bodies(&text) {
        kept.not_pass |= has_not_pass(&body);
        decode(&body, expect, &mut kept);
    }
    // JSON without the tag is this job's only if it knows the job's nonce.
    for json in values(&text) {
        let ours = json
            .all("nonce")
            .any(|nonce| nonce.as_text() == Some(expect.nonce));
        if ours && !expect.nonce.is_empty() {
            take(&json, Trust::Whole, expect, &mut kept);
        }
    }
    kept
}

/// Whether the text decoded is what was sent, or a piece that was closed by us.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trust {
    Whole,
    Torn,
}

fn decode(body: &str, expect: &Expect<'_>, kept: &mut Kept) {
    if let Ok(json) = Json::parse(body) {
        take(&json, Trust::Whole, expect, kept);
    } else if let Some(json) = Json::parse_torn(body.trim_end()) {
        take(&json, Trust::Torn, expect, kept);
    } else {
        for json in values(body) {
            take(&json, Trust::Torn, expect, kept);
        }
    }
}

/// Takes the verdict and the findings of a block, or the finding that a loose object is.
fn take(json: &Json, trust: Trust, expect: &Expect<'_>, kept: &mut Kept) {
    kept.not_pass |= json
        .all("verdict")
        .any(|word| word.as_text().is_some_and(line::is_refusal));
    for list in json.all("findings") {
        let single = matches!(list, Json::Object(_) | Json::Text(_)).then_some(list);
        for entry in list.elements().iter().chain(single) {
            keep(entry, trust, expect, kept);
        }
    }
    for list in json.all("plan") {
        for entry in list.elements() {
            let mut words = entry.all("state").filter_map(Json::as_text);
            if words.any(verdict::is_unmet) {
                let item = entry.all("item").find_map(verdict::item);
                let note = entry.all("note").find_map(Json::as_text);
                let said = verdict::unmet(item, note.unwrap_or_default());
                keep_said(&said, expect, kept);
            }
        }
    }
    for list in json.all("prior") {
        for entry in list.elements() {
            let mut words = entry.all("disposition").filter_map(Json::as_text);
            if words.any(still_holds) {
                let ids = entry.all("finding").filter_map(Json::as_text);
                kept.open.extend(ids.filter_map(FindingId::parse));
            }
        }
    }
    let is_finding = |name| json.all(name).next().is_some();
    if is_finding("title") && (is_finding("severity") || is_finding("body")) {
        keep(json, trust, expect, kept);
    }
}

/// Whether a word means that an earlier finding still holds, however it is spelt.
fn still_holds(word: &str) -> bool {
    let word = word.trim().to_lowercase();
    Disposition::parse(&word).is_some_and(Disposition::holds)
}

fn keep(json: &Json, trust: Trust, expect: &Expect<'_>, kept: &mut Kept) {
    let mut said: Said = verdict::finding(json, "finding", &mut Vec::new());
    // A torn number may be another line.
    said.pre_existing &= trust == Trust::Whole;
    keep_said(&said, expect, kept);
}

fn keep_said(said: &Said, expect: &Expect<'_>, kept: &mut Kept) {
    let claim = judge::claim(said, expect);
    if kept.seen.insert(format!("{claim:?}")) {
        kept.claims.push(claim);
    }
}

/// The objects that can be read somewhere in a text, outermost first.
fn values(text: &str) -> Vec<Json> {
    let mut found = Vec::new();
    let mut at = 0;
    for object in json::objects(text) {
        if object.start < at {
            continue;
        }
        if let Some(json) = text
            .get(object.clone())
            .and_then(|object| Json::parse(object).ok())
        {
            found.push(json);
            at = object.end;
        }
    }
    found
}

/// `"verdict": "NOT PASS"` in so many words, wherever the block was torn.
fn has_not_pass(body: &str) -> bool {
    body.split("\"verdict\"").skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix(':').map(str::trim_start);
        let word = value.and_then(|value| value.strip_prefix('"')?.split('"').next());
        word.is_some_and(line::is_refusal)
    })
}

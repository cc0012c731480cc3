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
    for said in json.all("prior") {
        keep_open(said, expect, kept);
    }
    // What stands under another name than `findings` is one all the same.
    for (_, value) in json.members() {
        loose(value, trust, expect, kept);
    }
    if is_finding(json) {
        keep(json, trust, expect, kept);
    }
}

/// Takes every object that reads as a finding, however deep it lies.
fn loose(json: &Json, trust: Trust, expect: &Expect<'_>, kept: &mut Kept) {
    if is_finding(json) {
        keep(json, trust, expect, kept);
    }
    let members = json.members().iter().map(|(_, value)| value);
    for value in json.elements().iter().chain(members) {
        loose(value, trust, expect, kept);
    }
}

fn is_finding(json: &Json) -> bool {
    let has = |name| json.all(name).next().is_some();
    has("title") && (has("severity") || has("body"))
}

/// Takes what is said of earlier findings, in whatever form. What is not clearly said to be settled still
/// holds: of a finding that was not shown, one that was is meant, and nobody knows which.
fn keep_open(said: &Json, expect: &Expect<'_>, kept: &mut Kept) {
    match said {
        // A pair is one word on one finding; whatever names a finding each is several.
        Json::List(entries) if entries.iter().all(stands_alone) => {
            for entry in entries {
                keep_open(entry, expect, kept);
            }
        }
        Json::List(words) => {
            let words: Vec<&str> = words.iter().filter_map(Json::as_text).collect();
            keep_said_open(&words.join(" "), expect, kept);
        }
        Json::Object(members) if said.all("finding").next().is_some() => {
            let word = |name| said.all(name).filter_map(Json::as_text);
            let ids: Vec<&str> = word("finding").collect();
            let mut words = word("disposition").peekable();
            let settled = words.peek().is_some() && words.all(is_settled);
            if !settled && !members.is_empty() {
                keep_ids(ids.into_iter().filter_map(id), expect, kept);
            }
        }
        Json::Object(members) => {
            for (name, value) in members {
                let value = value.as_text().unwrap_or_default();
                keep_said_open(&format!("{name} {value}"), expect, kept);
            }
        }
        Json::Text(text) => keep_said_open(text, expect, kept),
        Json::Null | Json::Bool(_) | Json::Natural(_) | Json::Number => {}
    }
}

/// Whether an entry needs no other one to be about a finding.
fn stands_alone(entry: &Json) -> bool {
    entry
        .as_text()
        .is_none_or(|text| words(text).any(|word| id(word).is_some()))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || ",;:".contains(c));
    words.filter(|word| !word.is_empty())
}

/// The same of a text that names a finding and says something of it.
fn keep_said_open(text: &str, expect: &Expect<'_>, kept: &mut Kept) {
    let mut rest = words(text).filter(|word| id(word).is_none());
    let settled = rest.next().is_some_and(is_settled) && rest.next().is_none();
    let about = words(text).any(|word| id(word).is_some() || holds(word));
    if about && !settled {
        keep_ids(words(text).filter_map(id), expect, kept);
    }
}

fn keep_ids(ids: impl Iterator<Item = FindingId>, expect: &Expect<'_>, kept: &mut Kept) {
    let (shown, others): (Vec<_>, Vec<_>) = ids.partition(|id| expect.prior.contains_key(id));
    if shown.is_empty() || !others.is_empty() {
        kept.open.extend(expect.prior.keys());
    }
    kept.open.extend(shown);
}

/// The id of a finding, however it is spelt: `F-3`, `f-03`, `#3`.
fn id(word: &str) -> Option<FindingId> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let digits = word.trim_start_matches(['F', 'f']);
    let digits = digits.trim_start_matches(['-', '_', '#']);
    digits.parse().ok().map(FindingId)
}

/// Whether a word means that an earlier finding does not hold any more.
fn is_settled(word: &str) -> bool {
    disposition(word).is_some_and(|said| !said.holds())
}

/// Whether it means that one still does.
fn holds(word: &str) -> bool {
    disposition(word).is_some_and(Disposition::holds)
}

fn disposition(word: &str) -> Option<Disposition> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    Disposition::parse(&word.to_lowercase())
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

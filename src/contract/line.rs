//! `contract: line`: one verdict line and the nonce, for agents that cannot write JSON, and people.

use crate::contract::markdown::Report;
use crate::contract::text::{cut, excerpt};
use crate::contract::{Expect, claims};
use crate::domain::finding::Claim;
use crate::domain::job::Review;
use crate::domain::severity::Severity;
use crate::domain::verdict::{Coverage, Verdict};

const PASS: &str = "VERDICT: PASS";
const NOT_PASS: &str = "VERDICT: NOT PASS";
/// Characters of the summary that is taken from the report's first paragraph.
const SUMMARY_CAP: usize = 1_000;
/// Characters of the title of what a NOT PASS finds, which is its first line.
const TITLE_CAP: usize = 120;
/// Characters of the text of it.
const BODY_CAP: usize = 20_000;
/// Words that take back a PASS wherever they stand (scenario T-174).
const DOUBTS: [&str; 18] = [
    "not pass",
    "not a pass",
    "no pass",
    "not approve",
    "n't approve",
    "cannot approve",
    "not an approval",
    "don't merge",
    "not merge",
    "not be merged",
    "verdict: fail",
    "does not pass",
    // What the prompt asks to be said of acceptance items and of earlier findings.
    "not met",
    "unmet",
    "still holds",
    "still open",
    "not fixed",
    "not mended",
];

/// Reads a report under `contract: line`.
pub(super) fn review(report: &Report, expect: &Expect<'_>) -> Result<Review, Vec<String>> {
    let paragraphs = report.paragraphs();
    let mut problems = Vec::new();
    let verdict = verdict_line(report, &paragraphs, &mut problems);
    check_nonce(report, &paragraphs, expect.nonce, &mut problems);
    if verdict == Some(Verdict::Pass) {
        let kept = claims::salvage(report, expect);
        if kept.not_pass || !kept.claims.is_empty() || !kept.open.is_empty() {
            problems.push("the verdict line says PASS, but a block claims otherwise".to_owned());
        }
        let text = report.text().to_lowercase();
        if let Some(doubt) = DOUBTS.iter().find(|doubt| text.contains(*doubt)) {
            problems.push(format!(
                "the verdict line says PASS, but the text says {doubt:?}"
            ));
        }
    }
    match verdict {
        Some(verdict) if problems.is_empty() => Ok(Review {
            verdict,
            summary: summary(&paragraphs, expect.nonce),
            findings: refusal(verdict, report, expect.nonce).into_iter().collect(),
            prior: Vec::new(),
            plan: Vec::new(),
            unanswered: Vec::new(),
            coverage: Coverage::None,
            receipts: 0,
        }),
        Some(_) | None => Err(problems),
    }
}

/// What a NOT PASS in this form finds: its text, whole, which somebody can answer. It has no place, and
/// blocks.
fn refusal(verdict: Verdict, report: &Report, nonce: &str) -> Option<Claim> {
    if verdict == Verdict::Pass {
        return None;
    }
    let lines = report.text().split('\n');
    let told = lines.filter(|line| !is_about_verdict(line) && nonce_of(line) != Some(nonce));
    let told: Vec<&str> = told.map(str::trim_end).collect();
    let body = told.join("\n");
    let body = body.trim();
    let mut lines = body.lines().map(bare);
    let title = lines.find(|line| !line.is_empty())?;
    Some(Claim {
        title: cut(title, TITLE_CAP),
        severity: Severity::High,
        blocking: true,
        path: None,
        line: None,
        end_line: None,
        body: cut(body, BODY_CAP),
        pre_existing: false,
        blob: None,
    })
}

/// Whether a text says NOT PASS on a line of its own, however it is dressed up.
pub(super) fn says_not_pass(text: &str) -> bool {
    text.split('\n').any(|line| {
        let bare = bare(line).to_ascii_uppercase();
        let rest = bare
            .strip_prefix("VERDICT")
            .map(|rest| rest.trim_start_matches(['*', '_', '`', ' ']));
        rest.and_then(|rest| rest.strip_prefix([':', '=']))
            .is_some_and(is_refusal)
    })
}

/// Whether a word given as verdict clearly refuses, in whatever spelling.
pub(super) fn is_refusal(word: &str) -> bool {
    let letters = word.chars().filter(char::is_ascii_alphabetic);
    let letters: String = letters.map(|c| c.to_ascii_uppercase()).collect();
    [
        "NOTPASS",
        "NOTPASSED",
        "NOTAPPROVED",
        "FAIL",
        "FAILED",
        "REJECT",
        "REJECTED",
        "REQUESTCHANGES",
        "CHANGESREQUESTED",
        "REQUESTEDCHANGES",
        "NEEDSCHANGES",
        "NEEDSWORK",
        "BLOCK",
        "BLOCKED",
        "NO",
    ]
    .contains(&letters.as_str())
}

fn verdict_line(
    report: &Report,
    paragraphs: &[Vec<&str>],
    problems: &mut Vec<String>,
) -> Option<Verdict> {
    let lines = report.text().split('\n');
    let about: Vec<&str> = lines.filter(|line| is_about_verdict(line)).collect();
    let [line] = about.as_slice() else {
        problems.push(if about.is_empty() {
            format!("the report has no line `{PASS}` or `{NOT_PASS}`")
        } else {
            format!(
                "the report has {} lines with a verdict; exactly one counts",
                about.len()
            )
        });
        return None;
    };
    let verdict = match line.trim_end() {
        PASS => Verdict::Pass,
        NOT_PASS => Verdict::NotPass,
        other => {
            problems.push(format!(
                "the verdict line must be exactly `{PASS}` or `{NOT_PASS}`, not {}",
                excerpt(other)
            ));
            return None;
        }
    };
    let Some(paragraph) = paragraphs.iter().find(|lines| lines.contains(line)) else {
        problems.push("the verdict line stands in a quote, a list or a block".to_owned());
        return None;
    };
    // "I cannot say" above a line turns its meaning round.
    let alone = |line: &&str| is_about_verdict(line) || nonce_of(line).is_some();
    if verdict == Verdict::Pass && !paragraph.iter().all(alone) {
        problems.push("leave a blank line before and after the verdict line".to_owned());
    }
    Some(verdict)
}

fn is_about_verdict(line: &str) -> bool {
    let bare = bare(line).to_ascii_uppercase();
    let rest = bare
        .strip_prefix("VERDICT")
        .map(|rest| rest.trim_start_matches(['*', '_', '`', ' ']));
    rest.is_some_and(|rest| rest.starts_with([':', '=', '-', '–', '—']) || rest.starts_with("IS "))
        || bare.contains(PASS)
        || bare.contains(NOT_PASS)
}

/// A line without its Markdown clothes.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_whitespace() || "*_`#>~|-+\"'.!".contains(c))
}

fn check_nonce(report: &Report, paragraphs: &[Vec<&str>], nonce: &str, problems: &mut Vec<String>) {
    let mut shown = paragraphs
        .iter()
        .flatten()
        .filter_map(|line| nonce_of(line))
        .peekable();
    if shown.peek().is_none() {
        let quoted = report.text().contains(nonce);
        problems.push(if quoted {
            "the nonce must stand alone on its line, outside quotes and blocks".to_owned()
        } else {
            "the report has no line with the nonce of the prompt".to_owned()
        });
    } else if !shown.all(|found| found == nonce) {
        problems.push("the nonce is not the one in the prompt".to_owned());
    }
}

/// The nonce on a line that holds nothing else: `Nonce: <hex>`, or the digits alone.
fn nonce_of(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let digits = line.strip_prefix("Nonce:").map_or(line, str::trim_start);
    let hex = digits.len() >= 8 && crate::domain::digest::is_lower_hex(digits);
    (hex || digits.len() < line.len()).then_some(digits)
}

fn summary(paragraphs: &[Vec<&str>], nonce: &str) -> String {
    let told = paragraphs.iter().map(|lines| {
        let told = lines
            .iter()
            .filter(|line| !is_about_verdict(line) && nonce_of(line) != Some(nonce));
        told.copied().collect::<Vec<_>>().join(" ")
    });
    let first = told
        .into_iter()
        .find(|paragraph| !paragraph.is_empty())
        .unwrap_or_default();
    cut(&first, SUMMARY_CAP)
}

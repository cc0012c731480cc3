//! Reads the report of a review.

use crate::contract::markdown::Report;
use crate::contract::{Expect, claims, judge, line, text};
use crate::domain::agent::Contract;
use crate::domain::job::{Reading, Review};

/// How long a report may be.
pub const REPORT_CAP: usize = 1024 * 1024;
/// How many problems are told; an agent that reads twenty has enough to mend.
const PROBLEM_CAP: usize = 20;

/// Reads a report: a verdict only if the whole report fulfils the contract.
///
/// A PASS needs everything that [`Expect`] names. A NOT PASS needs no receipts and no coverage; its
/// [`Review::coverage`] is `Full` only if it shows them all the same, and without that it must not
/// become a PASS by threshold.
///
/// Whatever is wrong, the claims that can be decoded are kept in [`Reading::Invalid`]. Its `claimed`
/// is `NOT PASS` or nothing: a PASS that does not count is not worth a word.
#[must_use]
pub fn read(report: &[u8], expect: &Expect<'_>) -> Reading {
    let lossy = String::from_utf8_lossy(report);
    let report_text = Report::new(&lossy);
    if report_text.is_blank() {
        return Reading::Silent;
    }
    let mut problems = Vec::new();
    if report.len() > REPORT_CAP {
        problems.push(format!(
            "the report has {} bytes; at most {REPORT_CAP} are read",
            report.len()
        ));
    }
    if std::str::from_utf8(report).is_err() {
        problems.push("the report is not UTF-8".to_owned());
    }
    if expect.nonce.is_empty() {
        problems.push("the job has no nonce, so nothing can answer it".to_owned());
    }
    if problems.is_empty() {
        match verdict(&report_text, expect) {
            Ok(review) => return Reading::Review(review),
            Err(found) => problems = found,
        }
    }
    if problems.len() > PROBLEM_CAP {
        let more = problems.len() - PROBLEM_CAP;
        problems.truncate(PROBLEM_CAP);
        problems.push(format!("and {more} more problems like these"));
    }
    let kept = claims::salvage(&report_text, expect);
    Reading::Invalid {
        problems: problems.iter().map(|p| text::inline(p)).collect(),
        claimed: kept
            .not_pass
            .then_some(crate::domain::verdict::Verdict::NotPass),
        claims: kept.claims,
    }
}

fn verdict(report: &Report, expect: &Expect<'_>) -> Result<Review, Vec<String>> {
    match expect.contract {
        Contract::Json => judge::review(report, expect),
        Contract::Line => line::review(report, expect),
    }
}

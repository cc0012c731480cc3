//! Reads the report of a review.

use crate::contract::markdown::Report;
use crate::contract::{Expect, claims, form, judge, line};
use crate::domain::agent::Contract;
use crate::domain::job::{Reading, Review};

pub use crate::contract::form::REPORT_CAP;

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
    let mut problems = form::problems(report, expect.nonce);
    if problems.is_empty() {
        match verdict(&report_text, expect) {
            Ok(review) => return Reading::Review(review),
            Err(found) => problems = found,
        }
    }
    let kept = claims::salvage(&report_text, expect);
    Reading::Invalid {
        problems: form::told(problems),
        claimed: kept
            .not_pass
            .then_some(crate::domain::verdict::Verdict::NotPass),
        claims: kept.claims,
        open: kept.open.into_iter().collect(),
    }
}

fn verdict(report: &Report, expect: &Expect<'_>) -> Result<Review, Vec<String>> {
    match expect.contract {
        Contract::Json => judge::review(report, expect),
        Contract::Line => line::review(report, expect),
    }
}

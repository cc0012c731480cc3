//! Reads the report of a job that is no review.
//!
//! # Invariants
//!
//! - What cannot be read says nothing: a finding whose answer or ruling is invalid stays as it was.
//! - No report speaks about a finding that its job was not asked about, or twice about one.

mod decode;

use std::collections::BTreeSet;

use crate::contract::form;
use crate::contract::markdown::{ANSWERS_TAG, CHALLENGE_TAG, RULINGS_TAG, Report};
use crate::contract::text::Mark;
use crate::domain::id::FindingId;
use crate::domain::job::{Reading, Reply, Role};

/// What a report of a job that is no review must show to count.
#[derive(Clone, Copy)]
pub struct ExpectReply<'a> {
    /// What the job was asked for.
    pub role: Role,
    /// The job's nonce: lower-case hexadecimal.
    pub nonce: &'a str,
    /// The findings it was asked about; none for a job that is not asked about any.
    pub findings: &'a [FindingId],
    /// Those of them on which nobody rules: they cannot be refuted.
    pub unruled: &'a BTreeSet<FindingId>,
}

impl std::fmt::Debug for ExpectReply<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExpectReply")
            .field("role", &self.role)
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

/// Reads a report: a reply only if the whole report fulfils the contract.
///
/// What a plan, a refinement or an implementation says is its text, unless it repeats its prompt.
/// The others end with one block of their kind, as strict as the block of a review; their answers
/// may leave out findings, which then stay as they are. A review is not read here.
#[must_use]
pub fn read(report: &[u8], expect: &ExpectReply<'_>) -> Reading {
    let lossy = String::from_utf8_lossy(report);
    let text = Report::new(&lossy);
    if text.is_blank() {
        return Reading::Silent;
    }
    let problems = form::problems(report, expect.nonce);
    let read = if problems.is_empty() {
        reply(&text, expect)
    } else {
        Err(problems)
    };
    match read {
        Ok(reply) => Reading::Reply { reply },
        Err(problems) => Reading::Invalid {
            problems: form::told(problems),
            claimed: None,
            claims: Vec::new(),
            open: Vec::new(),
        },
    }
}

fn reply(report: &Report, expect: &ExpectReply<'_>) -> Result<Reply, Vec<String>> {
    let block = |tag| form::block(report, tag);
    match expect.role {
        Role::Plan | Role::Refine | Role::Implement => text(report, expect),
        Role::Challenge => decode::challenge(&block(CHALLENGE_TAG)?, expect),
        Role::Correct | Role::Comply => decode::answers(&block(ANSWERS_TAG)?, expect),
        Role::Readjudicate | Role::Arbitrate => decode::rulings(&block(RULINGS_TAG)?, expect),
        Role::Review => Err(vec!["a review answers with a verdict".to_owned()]),
    }
}

/// A text counts as it is, and an echo of the prompt is no text of the agent's.
fn text(report: &Report, expect: &ExpectReply<'_>) -> Result<Reply, Vec<String>> {
    if report.text().contains(Mark::of(expect.nonce).as_str()) {
        return Err(vec![
            "the report repeats its prompt; write only your own text".to_owned(),
        ]);
    }
    Ok(Reply::Text)
}

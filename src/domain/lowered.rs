//! Claims that would block by their words and do not: late wishes, and what was dismissed before
//! (design, section 4, Convergence).
//!
//! The rules are held twice: when a claim is taken into the ledger, and before anything is promoted.
//! Whatever is not known lowers nothing.

use serde::{Deserialize, Serialize};

use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::FindingId;
use crate::domain::job::{Ended, JobOutcome, Reading, Review};
use crate::domain::lines::Since;
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::domain::slot::{Slot, SlotName};

/// Why a finding does not block, where its words alone would.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case", deny_unknown_fields)]
pub enum Lowered {
    /// Its slot had given two completed reports, and the lines are as they were at the last one.
    Late,
    /// It was withdrawn or overruled before, on the same bytes.
    Dismissed {
        /// The finding that was.
        finding: FindingId,
    },
}

impl Lowered {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Late => "advisory",
            Self::Dismissed { .. } => "dismissed before",
        }
    }
}

/// How many completed reports a slot gives before its new findings may be late.
pub const REPORTS: usize = 2;

/// What is known when a report is judged.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The slot.
    pub slot: &'a Slot,
    /// The tree under review.
    pub tree: &'a Oid,
    /// What became of the lines of earlier trees.
    pub since: &'a [Since],
    /// The trees of the completed reports that the very agent gave in earlier rounds by the same plan,
    /// oldest first.
    pub reports: &'a [&'a Oid],
    /// The findings of the slot, of other jobs than the report's.
    pub findings: &'a [Earlier<'a>],
}

/// A finding of before.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// The ruling that took its force, where one did.
    pub ruled: Option<Disposition>,
    /// Whether the very agent that reports raised it: a ruling holds for the agent that was ruled on, and
    /// another one of the slot says it anew.
    pub own: bool,
}

/// Whether a job's report is completed: valid, of an agent that ended well, and it read everything.
#[must_use]
pub fn is_completed(outcome: &JobOutcome) -> bool {
    let ended = matches!(outcome.ended, Ended::Exited { code: 0 });
    match &outcome.reading {
        Reading::Review(review) => ended && review.is_whole(),
        Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => false,
    }
}

/// Whether a review says of a finding that it was wrong, with a reason, and nothing else.
#[must_use]
pub fn is_taken_back(finding: FindingId, said: &Review) -> bool {
    let mut words = said
        .prior
        .iter()
        .filter(|prior| prior.finding == finding)
        .peekable();
    words.peek().is_some()
        && words.all(|prior| {
            prior.disposition == Disposition::Withdrawn && !prior.note.trim().is_empty()
        })
}

/// Whether a review says of a finding, in so many words, that it does not hold any more.
#[must_use]
pub fn says_mended(finding: FindingId, said: &Review) -> bool {
    let words = said.prior.iter().filter(|prior| prior.finding == finding);
    let mut words = words.peekable();
    words.peek().is_some() && words.all(|prior| !prior.disposition.holds())
}

/// What a review says became of a finding of before, where it says so in so many words: that it was wrong, or
/// that it is mended.
#[must_use]
pub fn said_settled(finding: FindingId, said: &Review) -> Option<Disposition> {
    let mut words = said.prior.iter().filter(|it| it.finding == finding);
    let wrong = words.all(|it| it.disposition == Disposition::Withdrawn);
    says_mended(finding, said).then_some(if wrong {
        Disposition::Withdrawn
    } else {
        Disposition::Fixed
    })
}

impl Known<'_> {
    /// Why a claim of a valid report does not block, if it does not.
    #[must_use]
    pub fn lowers(&self, claim: &Claim, review: &Review) -> Option<Lowered> {
        // What `checks` finds is no opinion, and nobody is lenient with oneself.
        if !self.slot.is_reader() || self.slot.name == SlotName::self_review() {
            return None;
        }
        if let Some(finding) = self.dismissed(claim) {
            return Some(Lowered::Dismissed { finding });
        }
        self.is_late(claim, review).then_some(Lowered::Late)
    }
    /// The dismissed finding that a claim repeats on the same bytes: an overruling lapses when the
    /// blob changes that it was made on.
    fn dismissed(&self, claim: &Claim) -> Option<FindingId> {
        let newest = self.findings.iter().rfind(|earlier| {
            let finding = earlier.finding;
            earlier.own && claim.is_again(&finding.claim) && finding.lowered.is_none()
        })?;
        match newest.ruled? {
            Disposition::Withdrawn | Disposition::Overruled => Some(newest.finding.id),
            Disposition::Open
            | Disposition::Fixed
            | Disposition::Refuted
            | Disposition::Upheld
            | Disposition::Sustained
            | Disposition::Deferred => None,
        }
    }
    fn is_late(&self, claim: &Claim, review: &Review) -> bool {
        let [.., last] = self.reports else {
            return false;
        };
        self.reports.len() >= REPORTS
            && claim.severity < Severity::High
            // Whoever says in so many words that it blocks is believed.
            && !claim.blocking
            && self.is_untouched_since(claim, last)
            && self.is_new(claim)
            && self.rests_on_nothing_earlier(review)
    }
    /// Whether the cited lines exist and are as they were in an earlier tree.
    fn is_untouched_since(&self, claim: &Claim, tree: &Oid) -> bool {
        let (Some(path), Some(first), Some(last)) = (&claim.path, claim.line, claim.last_line())
        else {
            return false;
        };
        if claim.blob.is_none() {
            return false;
        }
        let mut since = self.since.iter();
        tree == self.tree
            || since
                .find(|since| since.tree == *tree)
                .is_some_and(|since| since.is_unchanged(path, first, last))
    }
    /// Whether the slot never said this before.
    fn is_new(&self, claim: &Claim) -> bool {
        let mut findings = self.findings.iter();
        !findings.any(|earlier| claim.is_called_like(&earlier.finding.claim))
    }
    /// Whether the report says of all that its slot wanted before that it is done: else its NOT PASS
    /// may rest on that, in other words and at another line.
    fn rests_on_nothing_earlier(&self, review: &Review) -> bool {
        self.findings
            .iter()
            .filter(|earlier| earlier.finding.blocking)
            .all(|earlier| earlier.ruled.is_some() || says_mended(earlier.finding.id, review))
    }
}

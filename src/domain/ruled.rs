//! For what a ruling on a finding holds, and what a report says of findings of before.
//!
//! The engine goes by these rules when it judges, and the permit when it checks what was judged. They stand
//! once, since they are about what was said alone. What they rest on is found twice, each by itself: the
//! engine knows a ruling by the ledger that it writes, and the permit believes nothing but the report of a
//! job that may rule ([`Ledger::ruling`]). So is whether a finding was said to be mended, and by what a slot
//! passes: there the engine has what it settled, and the permit the reports.

use crate::domain::agent::Contract;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::job::{Job, JobOutcome, Reading};
use crate::domain::lowered::{Lowered, is_completed, said_settled};
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::domain::slot::SlotName;
use crate::domain::verdict::Verdict;

/// A job that raised a finding, or ruled on it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The job.
    pub job: JobId,
    /// The content that it was asked on, where that is known.
    pub content: Option<&'a Oid>,
}

/// What a run knows of its findings, from whatever it takes it.
pub trait Ledger {
    /// Every finding of the run, in the order of their numbers.
    fn ledger(&self) -> &[Finding];
    /// The ruling that took a finding's force, where one did.
    fn ruling(&self, finding: &Finding) -> Option<Asked<'_>>;
    /// The review that raised a finding.
    fn raising(&self, finding: &Finding) -> Option<Asked<'_>>;

    /// Whether the ruling that took a finding's force was made on this content.
    fn is_ruled_on(&self, finding: &Finding, content: &Oid) -> bool {
        self.ruling(finding).and_then(|by| by.content) == Some(content)
    }
    /// Whether the ruling on a finding holds for what is said on a content, where this lies at its place:
    /// it was made there; or the bytes are those that the finding was raised on, and the ruling was made on
    /// that content, or dismissed the same before. A ruling on what the creator had mended says nothing of
    /// what it was.
    fn is_ruled_here(&self, finding: &Finding, content: &Oid, blob: Option<&Oid>) -> bool {
        let Some(on) = self.ruling(finding).and_then(|by| by.content) else {
            return false;
        };
        let dismissed = Some(Lowered::Dismissed {
            finding: finding.id,
        });
        let same_bytes = blob.is_some() && blob == finding.claim.blob.as_ref();
        let raised_there = |it: &Finding| self.raising(it).and_then(|by| by.content) == Some(on);
        // By this ruling: one that lapsed is not brought back by what it dismissed, nor by the very claim
        // that is judged here.
        let again = || {
            let mut all = self.ledger().iter();
            all.any(|it| it.lowered == dismissed && raised_there(it))
        };
        on == content || (same_bytes && (raised_there(finding) || again()))
    }
    /// The earlier blocking findings of which a report on this content, valid or not, says that they still
    /// hold, of whatever slot, and which no ruling settled here.
    fn kept_open(&self, job: &Job, reading: &Reading, content: &Oid) -> Vec<&Finding> {
        let open = self.said_open(job, reading);
        let unruled = |it: &&Finding| !self.is_ruled_here(it, content, reading.blob_of(it.id));
        open.filter(unruled).collect()
    }
    /// The earlier findings that a report on this content called open and that a ruling answers: one that
    /// was made since; or also one of before, where that is all that a NOT PASS says. What was settled is
    /// not opened by a word.
    fn answered(&self, job: &Job, reading: &Reading, content: Option<&Oid>) -> Vec<&Finding> {
        let Some(content) = content else {
            return Vec::new();
        };
        let alone = match reading {
            // Nobody is lenient with oneself.
            Reading::Review(said) => {
                let own_work = job.slot == SlotName::self_review();
                said.verdict == Verdict::NotPass && said.findings.is_empty() && !own_work
            }
            Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent => false,
        };
        let rules = |it: &&Finding| {
            let here = self.is_ruled_here(it, content, reading.blob_of(it.id));
            here && (alone || self.ruling(it).is_some_and(|by| by.job > job.id))
        };
        self.said_open(job, reading).filter(rules).collect()
    }
    /// Whether a ruling answers what a report spoke of and does not answer the report itself: it was about
    /// another slot's finding, or was there before, so that the report was given in spite of it. Whoever
    /// spoke so is asked again.
    fn speaks_besides(&self, job: &Job, reading: &Reading, content: Option<&Oid>) -> bool {
        let anew = |it: &Finding| self.ruling(it).is_some_and(|by| by.job > job.id);
        let mut answered = self.answered(job, reading, content).into_iter();
        answered.any(|it| it.slot != job.slot || !anew(it))
    }
    /// What a whole report that ends with NOT PASS says became of a finding that its slot raised on other
    /// content: a PASS says so as a whole. It lifts no bar, there or here: it is no ruling.
    fn settled_besides(
        &self,
        job: &Job,
        outcome: &JobOutcome,
        content: Option<&Oid>,
        finding: &Finding,
    ) -> Option<Disposition> {
        let Reading::Review(said) = &outcome.reading else {
            return None;
        };
        let (content, raised) = (content?, self.raising(finding)?.content?);
        let counts = is_completed(outcome)
            && said.verdict == Verdict::NotPass
            && finding.slot == job.slot
            && raised != content;
        counts.then(|| said_settled(finding.id, said)).flatten()
    }
    /// The blocking findings that a report calls open, where its word on them counts.
    fn said_open(&self, job: &Job, reading: &Reading) -> impl Iterator<Item = &Finding> {
        let (open, job) = (reading.still_open(), job.clone());
        let all = self.ledger().iter();
        all.filter(move |it| it.blocking && job.may_speak_of(it) && open.contains(&it.id))
    }
    /// Whether a report refuses and names nothing that could be settled: no finding of its own that blocks or
    /// that it could pass by, and none of before.
    fn refuses_unnamed(&self, reading: &Reading, contract: Contract, fail_on: Severity) -> bool {
        let refuses = match reading {
            Reading::Review(review) => {
                // None of its findings blocks: that passes, where everything was read.
                let passes = !review.findings.is_empty() && contract.is_covered(review);
                let blocks = review.findings.iter().any(|claim| claim.blocks(fail_on));
                review.verdict == Verdict::NotPass && !blocks && !passes
            }
            Reading::Invalid {
                claimed, claims, ..
            } => {
                let blocks = claims.iter().any(|claim| claim.blocks(fail_on));
                *claimed == Some(Verdict::NotPass) && !blocks
            }
            Reading::Reply { .. } | Reading::Silent => false,
        };
        let open = reading.still_open();
        let mut kept = self.ledger().iter();
        refuses && !kept.any(|it| it.blocking && open.contains(&it.id))
    }
}

/// The newest round in which a reviewer said that a finding is there, in whatever report.
pub fn last_found<'a>(
    finding: &Finding,
    reviews: impl Iterator<Item = (&'a Job, &'a Reading)>,
) -> RoundNumber {
    let says = reviews.filter(|(job, reading)| {
        job.may_speak_of(finding) && reading.still_open().contains(&finding.id)
    });
    let said = says.map(|(job, _)| job.round).max();
    said.map_or(finding.round, |said| said.max(finding.round))
}

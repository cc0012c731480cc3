//! What was claimed and what became of it: which claims still have their force.

use crate::domain::event::Settlement;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::identity::Pin;
use crate::domain::job::{Job, Role};
use crate::domain::lowered::Lowered;
use crate::domain::oid::Oid;
use crate::domain::slot::SlotName;
use crate::engine::claims::claims_besides;
use crate::engine::state::{ClosedRound, State};

/// A claim of NOT PASS, valid or not, on a content: it bars PASS there (design, section 6), against
/// whatever base, since on the same content nothing can have mended what was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The content tree.
    pub content_tree: Oid,
    /// Who claimed it.
    pub slot: SlotName,
    /// In which job.
    pub job: JobId,
}

impl State {
    /// Whether somebody's claim bars PASS on this content; of one slot, or of any. A claim that went
    /// through the ledger bars no more.
    #[must_use]
    pub fn is_barred(&self, pin: &Pin, slot: Option<&SlotName>) -> Option<&Bar> {
        self.bars.iter().find(|bar| {
            bar.content_tree == pin.identity.content_tree
                && slot.is_none_or(|slot| *slot == bar.slot)
                && !self.is_resolved(bar.job)
        })
    }
    /// Whether every finding that a job's claim rests on was lowered, or taken back or overruled on the very
    /// content that the job was asked on, and there was one: those that it raised and that block by their
    /// words, and earlier ones that it called open.
    #[must_use]
    pub fn is_resolved(&self, job: JobId) -> bool {
        let Some(content) = self.contents.get(&job) else {
            return false;
        };
        let mut raised = self
            .findings
            .iter()
            .filter(|finding| finding.job == job)
            .filter(|finding| finding.blocking || finding.lowered.is_some())
            .peekable();
        let rests = raised.peek().is_some() || self.rests_on_earlier(job);
        let settled = |finding: &Finding| {
            finding.lowered.is_some() || self.ruled_on(finding) == Some(content)
        };
        let still_open = self.jobs.get(&job).is_some_and(|record| {
            let outcome = record.outcome.as_ref();
            outcome.is_some_and(|it| self.keeps_open(&record.job, &it.reading, content))
        });
        rests && raised.all(settled) && !still_open
    }
    /// Whether a job claims nothing itself, and calls an earlier finding open that nobody had ruled on.
    fn rests_on_earlier(&self, job: JobId) -> bool {
        let outcome = self.jobs.get(&job).and_then(|it| it.outcome.as_ref());
        let (Some(outcome), Some(run)) = (outcome, &self.run) else {
            return false;
        };
        let besides = claims_besides(&outcome.reading, run.review.fail_on);
        !besides && self.ruled_since(job).next().is_some()
    }
    /// The earlier findings that a job called open and that were taken back or overruled since. What was
    /// settled before is not opened by a word.
    pub(super) fn ruled_since(&self, job: JobId) -> impl Iterator<Item = &Finding> {
        let record = self.jobs.get(&job);
        let outcome = record.and_then(|record| record.outcome.as_ref());
        let open = outcome.map_or_else(Vec::new, |outcome| outcome.reading.still_open());
        let content = self.contents.get(&job);
        self.findings.iter().filter(move |finding| {
            let spoken = record.is_some_and(|record| may_speak_of(&record.job, finding));
            spoken
                && finding.blocking
                && open.contains(&finding.id)
                && content.is_some_and(|content| {
                    let blob = outcome.and_then(|it| it.reading.blob_of(finding.id));
                    self.is_ruled_here(finding, content, blob)
                })
                && self.last_disposed(finding) > Some(job)
        })
    }
    /// Whether a report called a finding of another slot open that was ruled on since: the ruling answers
    /// that slot, and whoever spoke besides is asked again.
    pub(super) fn spoke_for_others(&self, job: JobId) -> bool {
        let slot = self.jobs.get(&job).map(|record| &record.job.slot);
        self.ruled_since(job)
            .any(|finding| Some(&finding.slot) != slot)
    }
    /// The content that a finding's force was taken on, where a ruling took it.
    fn ruled_on(&self, finding: &Finding) -> Option<&Oid> {
        let ruled = Self::ruled(finding)?;
        let words = self.notes.get(&finding.id)?;
        let word = words.last().filter(|word| word.disposition == ruled)?;
        self.contents.get(&word.job)
    }
    /// Whether the ruling on a finding holds for what is said on a content, where this lies at its place:
    /// it was made there; or the bytes are those that the finding was raised on, and the ruling was made on
    /// that content, or dismissed the same before. A ruling on what the creator had mended says nothing of
    /// what it was.
    pub(super) fn is_ruled_here(
        &self,
        finding: &Finding,
        content: &Oid,
        blob: Option<&Oid>,
    ) -> bool {
        let Some(on) = self.ruled_on(finding) else {
            return false;
        };
        let dismissed = Some(Lowered::Dismissed {
            finding: finding.id,
        });
        let same_bytes = blob.is_some() && blob == finding.claim.blob.as_ref();
        let of_it = || Some(on) == self.contents.get(&finding.job);
        // By this ruling: one that lapsed is not brought back by what it dismissed.
        let by_it = |it: &Finding| self.contents.get(&it.job) == Some(on);
        let again = || {
            let mut all = self.findings.iter();
            all.any(|it| it.lowered == dismissed && by_it(it))
        };
        on == content || (same_bytes && (of_it() || again()))
    }
    /// The job whose word on a finding is the last. That need not be the newest job: a slot that passes by
    /// what became of its findings passes by an earlier report.
    fn last_disposed(&self, finding: &Finding) -> Option<JobId> {
        let words = self.notes.get(&finding.id)?;
        words.last().map(|word| word.job)
    }
    /// Whether a job's word on a finding is in the ledger.
    pub(super) fn has_word(&self, job: JobId, finding: FindingId) -> bool {
        let mut words = self.notes.get(&finding).into_iter().flatten();
        words.any(|word| word.job == job)
    }
    /// The findings that a job raised, in their order.
    #[must_use]
    pub fn findings_of(&self, job: JobId) -> Vec<&Finding> {
        let findings = self.findings.iter();
        findings.filter(|finding| finding.job == job).collect()
    }
    /// The ruling that took a finding's force, where one did.
    #[must_use]
    pub fn ruled(finding: &Finding) -> Option<Disposition> {
        match finding.disposition {
            settled @ (Disposition::Withdrawn | Disposition::Overruled) => Some(settled),
            Disposition::Open
            | Disposition::Fixed
            | Disposition::Refuted
            | Disposition::Upheld
            | Disposition::Sustained
            | Disposition::Deferred => None,
        }
    }
    /// Whether a finding still has its force: nobody mended it, took it back or overruled it.
    #[must_use]
    pub fn stands(finding: &Finding) -> bool {
        finding.blocking && finding.disposition.holds()
    }
    /// Whether a reviewer of its slot says that a finding is mended, and none said since that it is there.
    fn is_confirmed(&self, finding: &Finding) -> bool {
        let last = self.last_disposed(finding);
        let by = last.and_then(|job| self.jobs.get(&job)).map(|it| &it.job);
        finding.disposition == Disposition::Fixed
            && by
                .is_some_and(|job| job.role == Role::Review && job.round > self.last_found(finding))
    }
    /// Whether nobody but the creator says of a blocking finding that it is mended, if anybody does.
    fn is_unconfirmed(&self, finding: &Finding) -> bool {
        finding.blocking && Self::ruled(finding).is_none() && !self.is_confirmed(finding)
    }
    /// A blocking finding of a slot of which nobody but the creator says that it is mended: no ruling took
    /// its force, and its reviewer did not pass a content without it.
    #[must_use]
    pub fn unconfirmed(&self, slot: &SlotName) -> Option<&Finding> {
        let mut findings = self.findings.iter();
        findings.find(|finding| finding.slot == *slot && self.is_unconfirmed(finding))
    }
    /// Whether a finding had its force when a round began, whatever its reviews said by now.
    pub(super) fn held_before(&self, finding: &Finding, round: RoundNumber) -> bool {
        let of_round = |job: JobId| {
            let asked = self.jobs.get(&job).map(|record| &record.job);
            asked.is_some_and(|job| job.role == Role::Review && job.round == round)
        };
        let mut words = self.notes.get(&finding.id).into_iter().flatten();
        let before = words.rfind(|word| !of_round(word.job));
        before.is_none_or(|word| word.disposition.holds())
    }
    /// Whether the last word of a slot is a NOT PASS that names nothing which could be settled, and that no
    /// PASS of a later round answered.
    #[must_use]
    pub fn refuses(&self, slot: &SlotName) -> bool {
        let unnamed = |job: &JobId| {
            let raised = self.findings.iter().filter(|it| it.job == *job);
            let mut raised = raised.filter(|it| it.blocking || it.lowered.is_some());
            let reading = self.jobs.get(job).and_then(|it| it.outcome.as_ref());
            let open = reading.map_or_else(Vec::new, |it| it.reading.still_open());
            let mut kept = self.findings.iter();
            let kept = kept.any(|it| it.blocking && open.contains(&it.id));
            raised.next().is_none() && !kept
        };
        let settlements = |passed: bool| {
            let rounds = self.rounds.iter().filter(move |round| {
                let counts = !passed || !round.is_void();
                counts && round.result.is_refused()
            });
            rounds.filter_map(move |round| {
                let settlement = round.slots.get(slot)?.settlement()?;
                Some((round.number, settlement))
            })
        };
        let refused = settlements(false).filter_map(|(_, settlement)| match settlement {
            Settlement::NotPassed { job } => Some(*job),
            Settlement::Passed { .. } | Settlement::NoVerdict { .. } => None,
        });
        let claimed = self.bars.iter().filter(|bar| bar.slot == *slot);
        let jobs = refused.chain(claimed.map(|bar| bar.job)).filter(unnamed);
        let last = jobs.filter_map(|job| Some(self.jobs.get(&job)?.job.round));
        let passed = settlements(true)
            .filter(|(_, settlement)| matches!(settlement, Settlement::Passed { .. }));
        last.max() > passed.map(|(round, _)| round).max()
    }
    /// The newest round in which a reviewer said that a finding is there, in whatever report.
    pub(super) fn last_found(&self, finding: &Finding) -> RoundNumber {
        let found = self.jobs.values().filter(|record| {
            let (job, outcome) = (&record.job, record.outcome.as_ref());
            let says = outcome.is_some_and(|it| it.reading.still_open().contains(&finding.id));
            job.role == Role::Review && may_speak_of(job, finding) && says
        });
        let said = found.map(|record| record.job.round).max();
        said.map_or(finding.round, |said| said.max(finding.round))
    }
    /// Findings of a slot that were raised on another content and that its reviewer did not say to be
    /// mended: it answers them when it passes the content as it is now.
    pub fn outdated<'a>(
        &'a self,
        pin: &'a Pin,
        slot: &'a SlotName,
    ) -> impl Iterator<Item = &'a Finding> {
        let here = |finding: &&Finding| {
            let mut bars = self.bars.iter();
            bars.any(|bar| bar.job == finding.job && bar.content_tree == pin.identity.content_tree)
        };
        self.findings
            .iter()
            .filter(|finding| finding.slot == *slot && self.is_unconfirmed(finding))
            .filter(move |finding| !here(finding))
    }
    /// The last round, where it was on this very identity and by the plan of now, ended with a verdict,
    /// and nobody had touched what agents must not touch: what it says stands.
    #[must_use]
    pub fn same_as_last(&self, pin: &Pin) -> Option<&ClosedRound> {
        self.rounds.last().filter(|round| {
            round.result.is_refused()
                && round.untouched
                && round.plan == self.plan
                && round.pin.as_ref().is_some_and(|last| same(last, pin))
        })
    }
    /// An earlier round that did not pass on this very identity.
    #[must_use]
    pub fn refused_before(&self, pin: &Pin) -> Option<&ClosedRound> {
        self.rounds.iter().find(|round| {
            round.result.is_refused() && round.pin.as_ref().is_some_and(|other| same(other, pin))
        })
    }
}

/// Whether a review's word on a finding counts: it is of its own slot, or of an earlier round,
/// since reviewers of one round are blind to each other (scenario C16).
pub(super) fn may_speak_of(job: &Job, finding: &Finding) -> bool {
    finding.slot == job.slot || finding.round < job.round
}

/// Whether two pins are of one identity.
fn same(one: &Pin, other: &Pin) -> bool {
    one.identity.base == other.identity.base
        && one.identity.content_tree == other.identity.content_tree
}

//! What was claimed and what became of it: which claims still have their force.

use crate::domain::agent::Contract;
use crate::domain::event::Settlement;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::identity::Pin;
use crate::domain::job::{Job, JobOutcome, Reading, Role};
use crate::domain::oid::Oid;
use crate::domain::ruled::{self, Asked, Ledger};
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
        let settled =
            |finding: &Finding| finding.lowered.is_some() || self.is_ruled_on(finding, content);
        rests && raised.all(settled) && self.kept_by(job, content).is_empty()
    }
    /// The earlier blocking findings that a job calls open, and that no ruling settled on this content.
    pub(super) fn kept_by(&self, job: JobId, content: &Oid) -> Vec<&Finding> {
        let reported = self.reported(job);
        reported.map_or_else(Vec::new, |(asked, reading)| {
            self.kept_open(asked, reading, content)
        })
    }
    /// A job with what its report says, once it ended.
    fn reported(&self, job: JobId) -> Option<(&Job, &Reading)> {
        let record = self.jobs.get(&job)?;
        Some((&record.job, &record.outcome.as_ref()?.reading))
    }
    /// Every review that ended, with what its report says.
    fn reviews(&self) -> impl Iterator<Item = (&Job, &Reading)> {
        let records = self.jobs.values();
        let reviews = records.filter(|record| record.job.role == Role::Review);
        reviews.filter_map(|record| Some((&record.job, &record.outcome.as_ref()?.reading)))
    }
    /// Whether a job claims nothing itself, and calls earlier findings open that a ruling answers.
    fn rests_on_earlier(&self, job: JobId) -> bool {
        let (Some((_, reading)), Some(run)) = (self.reported(job), &self.run) else {
            return false;
        };
        !claims_besides(reading, run.review.fail_on) && !self.answered_of(job).is_empty()
    }
    /// The earlier findings that a job called open and that a ruling answers.
    pub(super) fn answered_of(&self, job: JobId) -> Vec<&Finding> {
        let reported = self.reported(job);
        reported.map_or_else(Vec::new, |(asked, reading)| {
            self.answered(asked, reading, self.contents.get(&job))
        })
    }
    /// Whether a ruling answers what a job's report spoke of, and not the report itself.
    pub(super) fn spoke_besides(&self, job: JobId) -> bool {
        self.reported(job).is_some_and(|(asked, reading)| {
            self.speaks_besides(asked, reading, self.contents.get(&job))
        })
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
        let ruled = finding.disposition;
        ruled.is_ruling().then_some(ruled)
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
    /// Whether the last word of a slot is a NOT PASS that names nothing which could be settled, or nothing but
    /// what a ruling had settled before, and that no PASS of its round or a later one answered.
    #[must_use]
    pub fn refuses(&self, slot: &SlotName) -> bool {
        let Some(run) = &self.run else { return false };
        let own = self.reviews().filter(|(job, _)| job.slot == *slot);
        let refused = own.filter(|(job, reading)| {
            let contract = run
                .agent_of(job)
                .map_or(Contract::Json, |agent| agent.contract);
            let fail_on = run.review.fail_on;
            self.refuses_unnamed(reading, contract, fail_on)
                || (reading.claims_not_pass(fail_on) && self.spoke_besides(job.id))
        });
        let rounds = self.rounds.iter().filter(|round| !round.is_void());
        let passed = rounds.filter_map(|round| match round.slots.get(slot)?.settlement()? {
            Settlement::Passed { job, .. } => Some(self.jobs.get(job)?.job.round),
            Settlement::NotPassed { .. } | Settlement::NoVerdict { .. } => None,
        });
        refused.map(|(job, _)| job.round).max() > passed.max()
    }
    /// What a report that ends with NOT PASS says became of a finding of before, where nobody found it since
    /// and its reviewer did not say so yet.
    pub(super) fn newly_settled(
        &self,
        job: &Job,
        outcome: &JobOutcome,
        finding: &Finding,
    ) -> Option<Disposition> {
        let waits = Self::ruled(finding).is_none() && !self.is_confirmed(finding);
        let content = self.contents.get(&job.id);
        let said = self.settled_besides(job, outcome, content, finding)?;
        (waits && self.last_found(finding) < job.round).then_some(said)
    }
    /// The newest round in which a reviewer said that a finding is there, in whatever report.
    pub(super) fn last_found(&self, finding: &Finding) -> RoundNumber {
        ruled::last_found(finding, self.reviews())
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
        self.rounds
            .last()
            .filter(|round| round.is_on(pin) && round.untouched && round.plan == self.plan)
    }
    /// An earlier round that did not pass on this very identity.
    #[must_use]
    pub fn refused_before(&self, pin: &Pin) -> Option<&ClosedRound> {
        let mut rounds = self.rounds.iter();
        rounds.find(|round| round.is_on(pin))
    }
}

impl Ledger for State {
    fn ledger(&self) -> &[Finding] {
        &self.findings
    }
    /// By the last word on it, which this engine took into the ledger. What a review says of other content than
    /// the finding was raised on is no ruling.
    fn ruling(&self, finding: &Finding) -> Option<Asked<'_>> {
        let ruled = Self::ruled(finding)?;
        let words = self.notes.get(&finding.id)?;
        let word = words.last().filter(|word| word.disposition == ruled)?;
        let on_the_same = self.contents.get(&word.job) == self.contents.get(&finding.job);
        let rules = word.role != Role::Review || on_the_same;
        rules.then(|| self.asked(word.job)).flatten()
    }
    fn raising(&self, finding: &Finding) -> Option<Asked<'_>> {
        self.asked(finding.job)
    }
}

impl State {
    fn asked(&self, job: JobId) -> Option<Asked<'_>> {
        self.jobs.get(&job)?;
        let content = self.contents.get(&job);
        Some(Asked { job, content })
    }
}

impl ClosedRound {
    /// Whether it ended with a verdict against this very identity.
    pub(super) fn is_on(&self, pin: &Pin) -> bool {
        let same = |other: &Pin| {
            other.identity.base == pin.identity.base
                && other.identity.content_tree == pin.identity.content_tree
        };
        self.result.is_refused() && self.pin.as_ref().is_some_and(same)
    }
}

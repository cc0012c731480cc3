//! What was claimed and what became of it: which claims still have their force.

use crate::domain::event::RoundResult;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::identity::Pin;
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::slot::SlotName;
use crate::engine::claims::claims_besides;
use crate::engine::state::{ClosedRound, State};

/// A claim of NOT PASS, valid or not, on an identity: it bars PASS there (design, section 6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The identity's base.
    pub base: Oid,
    /// The identity's content tree.
    pub content_tree: Oid,
    /// Who claimed it.
    pub slot: SlotName,
    /// In which job.
    pub job: JobId,
}

impl State {
    /// Whether somebody's claim bars PASS on this identity; of one slot, or of any. A claim that
    /// went through the ledger bars no more.
    #[must_use]
    pub fn is_barred(&self, pin: &Pin, slot: Option<&SlotName>) -> Option<&Bar> {
        self.bars.iter().find(|bar| {
            bar.base == pin.identity.base
                && bar.content_tree == pin.identity.content_tree
                && slot.is_none_or(|slot| *slot == bar.slot)
                && !self.is_resolved(bar.job)
        })
    }
    /// Whether every finding that a job's claim rests on was lowered, taken back or overruled, and there
    /// was one: those that it raised and that block by their words, and earlier ones that it called open.
    #[must_use]
    pub fn is_resolved(&self, job: JobId) -> bool {
        let mut raised = self
            .findings
            .iter()
            .filter(|finding| finding.job == job)
            .filter(|finding| finding.blocking || finding.lowered.is_some())
            .peekable();
        let rests = raised.peek().is_some() || self.rests_on_earlier(job);
        let settled =
            |finding: &Finding| finding.lowered.is_some() || Self::ruled(finding).is_some();
        let still_open = self.jobs.get(&job).is_some_and(|record| {
            let outcome = record.outcome.as_ref();
            outcome.is_some_and(|it| self.keeps_open(&record.job.slot, &it.reading))
        });
        rests && raised.all(settled) && !still_open
    }
    /// Whether a job claims nothing itself, and calls an earlier finding of its slot open that nobody had
    /// ruled on.
    fn rests_on_earlier(&self, job: JobId) -> bool {
        let outcome = self.jobs.get(&job).and_then(|it| it.outcome.as_ref());
        let (Some(outcome), Some(run)) = (outcome, &self.run) else {
            return false;
        };
        let besides = claims_besides(&outcome.reading, run.review.fail_on);
        !besides && self.ruled_since(job).next().is_some()
    }
    /// The earlier findings of its slot that a job called open and that were taken back or overruled
    /// since. What was settled before is not opened by a word.
    pub(super) fn ruled_since(&self, job: JobId) -> impl Iterator<Item = &Finding> {
        let record = self.jobs.get(&job);
        let slot = record.map(|record| &record.job.slot);
        let outcome = record.and_then(|record| record.outcome.as_ref());
        let open = outcome.map_or_else(Vec::new, |outcome| outcome.reading.still_open());
        self.findings.iter().filter(move |finding| {
            let own = Some(&finding.slot) == slot && finding.blocking;
            own && open.contains(&finding.id)
                && Self::ruled(finding).is_some()
                && self.last_disposed(finding) > Some(job)
        })
    }
    /// The newest job by which a finding's disposition changed.
    fn last_disposed(&self, finding: &Finding) -> Option<JobId> {
        let all = self.disposed.iter();
        all.filter(|(_, id)| *id == finding.id)
            .map(|(job, _)| *job)
            .max()
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
    /// The newest round in which a finding's slot said that it is there, in whatever report.
    fn last_found(&self, finding: &Finding) -> RoundNumber {
        let of_slot = self.jobs.values().filter(|record| {
            let (job, outcome) = (&record.job, record.outcome.as_ref());
            let says = outcome.is_some_and(|it| it.reading.still_open().contains(&finding.id));
            job.role == Role::Review && job.slot == finding.slot && says
        });
        let said = of_slot.map(|record| record.job.round).max();
        said.map_or(finding.round, |said| said.max(finding.round))
    }
    /// Findings of a slot that were raised on another identity and that its reviewer did not say to be
    /// mended: it answers them when it passes the content as it is now.
    pub fn outdated<'a>(
        &'a self,
        pin: &'a Pin,
        slot: &'a SlotName,
    ) -> impl Iterator<Item = &'a Finding> {
        let here = |finding: &&Finding| {
            self.bars.iter().any(|bar| {
                bar.job == finding.job
                    && bar.base == pin.identity.base
                    && bar.content_tree == pin.identity.content_tree
            })
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
            round.result == RoundResult::NotPassed
                && round.untouched
                && round.plan == self.plan
                && round.pin.as_ref().is_some_and(|last| same(last, pin))
        })
    }
    /// An earlier round that did not pass on this very identity.
    #[must_use]
    pub fn refused_before(&self, pin: &Pin) -> Option<&ClosedRound> {
        self.rounds.iter().find(|round| {
            round.result == RoundResult::NotPassed
                && round.pin.as_ref().is_some_and(|other| same(other, pin))
        })
    }
}

/// Whether two pins are of one identity.
fn same(one: &Pin, other: &Pin) -> bool {
    one.identity.base == other.identity.base
        && one.identity.content_tree == other.identity.content_tree
}

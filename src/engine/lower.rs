//! What is known of a slot's earlier words when it speaks again, and what it repeats.

use std::collections::BTreeSet;

use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::identity::Pin;
use crate::domain::job::{Job, Reading, Review as Said, Role};
use crate::domain::lines::Place;
use crate::domain::lowered::{Earlier, Known, Lowered, REPORTS, is_completed, is_taken_back};
use crate::domain::oid::Oid;
use crate::domain::ruled::Ledger as _;
use crate::domain::slot::{Slot, SlotName};
use crate::domain::verdict::{PassedBy, Verdict};
use crate::engine::state::{Review, State};

impl State {
    /// Why a claim of a job does not block, where its words alone would. What an invalid report
    /// claims, or one of a job that did not end well, is never lowered.
    pub(super) fn lowered(
        &self,
        round: RoundNumber,
        review: &Review,
        slot: &Slot,
        job: JobId,
        claim: &Claim,
    ) -> Option<Lowered> {
        let outcome = self.jobs.get(&job)?.outcome.as_ref()?;
        let Reading::Review(said) = &outcome.reading else {
            return None;
        };
        if !outcome.ended.is_success() {
            return None;
        }
        let rank = self.jobs.get(&job)?.job.rank;
        let findings: Vec<_> = self
            .findings
            .iter()
            .filter(|finding| finding.slot == slot.name && finding.job != job)
            .map(|finding| Earlier {
                finding,
                ruled: Self::ruled(finding).filter(|_| {
                    let content = &review.pin.identity.content_tree;
                    self.is_ruled_here(finding, content, claim.blob.as_ref())
                }),
                own: self.raised_by_rank(finding) == Some(rank),
            })
            .collect();
        let known = Known {
            slot,
            tree: &review.pin.identity.tree,
            since: &review.evidence.since,
            reports: &self.completed(&slot.name, rank, round, &review.pin),
            findings: &findings,
        };
        known.lowers(claim, said)
    }
    /// The earlier finding of the slot that a claim repeats: the same words about the same lines,
    /// wherever these are now.
    pub(super) fn repeated(&self, slot: &SlotName, job: JobId, claim: &Claim) -> Option<FindingId> {
        let here = Place::of(claim);
        let same_place = |finding: &Finding| match &here {
            Some(here) => self.places.get(&finding.id) == Some(here),
            None => {
                claim.line.is_none()
                    && finding.claim.line.is_none()
                    && finding.claim.path == claim.path
            }
        };
        let mut findings = self.findings.iter();
        let earlier = findings.rfind(|finding| {
            finding.slot == *slot
                && finding.job != job
                && finding.claim.is_called_like(claim)
                && same_place(finding)
        })?;
        // The first of them is what all are called by.
        Some(earlier.again.unwrap_or(earlier.id))
    }
    /// Whether a PASS on one's own work takes back what one had found on the very same content: by
    /// that alone a review of one's own work passes where it did not before (row M-012).
    pub(super) fn takes_back(&self, pin: &Pin, finding: &Finding, said: &Said) -> bool {
        let mut bars = self.bars.iter();
        let here =
            bars.any(|bar| bar.job == finding.job && bar.content_tree == pin.identity.content_tree);
        let passes = said.verdict == Verdict::Pass && said.is_whole();
        here && passes
            && finding.slot == SlotName::self_review()
            && finding.disposition == Disposition::Open
            && is_taken_back(finding.id, said)
    }
    /// By what a job's NOT PASS passes whose findings block no more, nor those of before that it is about;
    /// the weakest ground names the whole.
    pub(super) fn ground(&self, job: JobId) -> PassedBy {
        let own = self.findings.iter().filter(|finding| finding.job == job);
        let all = own.chain(self.answered_of(job));
        let ruled = all.filter_map(|finding| match finding.lowered {
            Some(Lowered::Dismissed { finding }) => {
                let mut findings = self.findings.iter();
                Self::ruled(findings.find(|it| it.id == finding)?)
            }
            Some(Lowered::Late) => None,
            None => Self::ruled(finding).filter(|_| finding.blocking),
        });
        ruled.fold(PassedBy::Threshold, |by, ruled| {
            if by == PassedBy::Arbitration || ruled == Disposition::Overruled {
                PassedBy::Arbitration
            } else {
                PassedBy::Withdrawal
            }
        })
    }
    /// Whether what a job's agent finds anew may come late.
    #[must_use]
    pub fn may_be_late(&self, job: &Job) -> bool {
        let slots = self.run.iter().flat_map(|run| &run.panel);
        let mut slots = slots.filter(|slot| slot.name == job.slot);
        let is_lowered = slots.any(|slot| slot.is_reader() && slot.name != SlotName::self_review());
        is_lowered
            && self.review().is_some_and(|review| {
                self.completed(&job.slot, job.rank, job.round, &review.pin)
                    .len()
                    >= REPORTS
            })
    }
    /// The trees of the completed reports that an agent of a slot gave in rounds before this one by the plan
    /// of now and against the base of now, oldest first: against another one it saw another change.
    fn completed(&self, slot: &SlotName, rank: usize, before: RoundNumber, pin: &Pin) -> Vec<&Oid> {
        let jobs = self.jobs.values().filter(|record| {
            let job = &record.job;
            let completed = record.outcome.as_ref().is_some_and(is_completed);
            let asked = job.role == Role::Review && job.slot == *slot && job.rank == rank;
            asked && job.round < before && completed
        });
        jobs.filter_map(|record| {
            let mut rounds = self.rounds.iter();
            let round = rounds.find(|round| round.number == record.job.round)?;
            let identity = &round.pin.as_ref()?.identity;
            let same_change = round.plan == self.plan && identity.base == pin.identity.base;
            same_change.then_some(&identity.tree)
        })
        .collect()
    }
    /// The trees whose lines are to be found again in the round's: the one that was shown last,
    /// where a finding cites it, and those of slots whose new findings may be late.
    pub(super) fn traced(&self, round: RoundNumber, pin: &Pin) -> Vec<Oid> {
        let panel = self.run.iter().flat_map(|run| &run.panel);
        let agents = panel.flat_map(|slot| (0..=slot.fallback.len()).map(move |rank| (slot, rank)));
        let late = agents.filter_map(|(slot, rank)| {
            let reports = self.completed(&slot.name, rank, round, pin);
            reports.last().filter(|_| reports.len() >= REPORTS).copied()
        });
        let shown = self.shown.iter().filter(|_| !self.places.is_empty());
        let trees: BTreeSet<&Oid> = late
            .chain(shown)
            .filter(|tree| **tree != pin.identity.tree)
            .collect();
        trees.into_iter().cloned().collect()
    }
}

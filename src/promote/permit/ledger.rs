//! Blocking claims that no longer stand, and what proves it.

use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::job::{Job, Reading, Reply, Role, Ruling, RulingKind};
use crate::domain::lines::Since;
use crate::domain::lowered::{self, Earlier, Known, Lowered, is_completed};
use crate::domain::oid::Oid;
use crate::domain::ruled::{Asked, Ledger};
use crate::domain::slot::SlotName;
use crate::domain::verdict::Verdict;
use crate::promote::permit::passing_job;
use crate::promote::round::{ApprovedRound, EndedJob};

/// Why a claim that blocks by its words does not stand.
pub(in crate::promote) enum Settled<'a> {
    /// A ruling took its force, or that of the claim which it repeats on the same bytes.
    Ruled {
        /// The finding that it became.
        finding: &'a Finding,
        /// The ruling.
        ruling: &'a Ruling,
    },
    /// It is a late wish, on lines that nobody touched since its slot's last report.
    Late {
        /// The finding that it became.
        finding: &'a Finding,
    },
    /// In a review of one's own work it was taken back with a reason.
    TakenBack,
}

/// Why a job's claim does not stand; `None` where it does. That it was lowered is not believed: it
/// must follow from the reports themselves.
pub(in crate::promote) fn settled<'a>(
    round: &'a ApprovedRound,
    ended: &EndedJob,
    claim: &Claim,
) -> Option<Settled<'a>> {
    let job = ended.job.id;
    let mut findings = round
        .ledger
        .iter()
        .chain(&round.findings)
        .filter(|finding| finding.job == job && finding.claim == *claim);
    let finding = findings.next()?;
    let content = ended.content.as_ref()?;
    if let Some(ruling) = ruling(round, finding)
        && round.is_ruled_on(finding, content)
    {
        return Some(Settled::Ruled { finding, ruling });
    }
    if is_taken_back(round, finding) {
        return Some(Settled::TakenBack);
    }
    let lowered = finding.lowered?;
    if lowers(round, ended, claim) != Some(lowered) {
        return None;
    }
    match lowered {
        Lowered::Late => Some(Settled::Late { finding }),
        Lowered::Dismissed { finding: before } => {
            let before = round.ledger.iter().find(|it| it.id == before)?;
            let ruling = ruling(round, before)?;
            Some(Settled::Ruled { finding, ruling })
        }
    }
}

/// Whether a claim of a valid report is lowered, from the facts of the run.
fn lowers(round: &ApprovedRound, ended: &EndedJob, claim: &Claim) -> Option<Lowered> {
    let job = &ended.job;
    let Reading::Review(said) = &ended.outcome.reading else {
        return None;
    };
    if !ended.outcome.ended.is_success() {
        return None;
    }
    let pin = |number: RoundNumber| {
        let mut pins = round.rounds.iter();
        pins.find(|(other, _)| *other == number).map(|(_, pin)| pin)
    };
    let slot = round.spec.panel.iter().find(|slot| slot.name == job.slot)?;
    let (here, content) = (&pin(job.round)?.identity, ended.content.as_ref()?);
    let reports: Vec<&Oid> = round
        .reviews
        .iter()
        .filter(|other| other.job.slot == job.slot && other.job.round < job.round)
        .filter(|other| other.job.rank == job.rank && is_completed(&other.outcome))
        .filter(|other| round.plans.get(&other.job.round) == round.plans.get(&job.round))
        .filter_map(|other| Some(&pin(other.job.round)?.identity))
        .filter(|identity| identity.base == here.base)
        .map(|identity| &identity.tree)
        .collect();
    let findings: Vec<_> = round
        .ledger
        .iter()
        .filter(|finding| finding.slot == job.slot && finding.job != job.id)
        .filter(|finding| finding.round <= job.round)
        .map(|finding| Earlier {
            finding,
            ruled: round
                .is_ruled_here(finding, content, claim.blob.as_ref())
                .then_some(finding.disposition),
            own: raised_by(round, finding).is_some_and(|by| by.job.rank == job.rank),
        })
        .collect();
    let known = Known {
        slot,
        tree: &here.tree,
        since: since(round, job.round),
        reports: &reports,
        findings: &findings,
    };
    known.lowers(claim, said)
}

/// What became of the lines of earlier trees in a round's.
fn since(round: &ApprovedRound, number: RoundNumber) -> &[Since] {
    if number == round.round {
        return &round.evidence.since;
    }
    let mut earlier = round.since.iter();
    earlier
        .find(|(other, _)| *other == number)
        .map_or(&[], |(_, since)| since)
}

/// Whether a finding on one's own work was taken back on the same content, by the review that
/// passes its slot.
pub(super) fn is_taken_back(round: &ApprovedRound, finding: &Finding) -> bool {
    is_taken_back_after(round, finding, finding.job)
}

/// The same by a review that was asked after a job which found it.
pub(super) fn is_taken_back_after(round: &ApprovedRound, finding: &Finding, found: JobId) -> bool {
    if finding.slot != SlotName::self_review() || finding.disposition != Disposition::Withdrawn {
        return false;
    }
    let mut slots = round.slots.iter();
    let passing = slots
        .find(|settled| settled.slot == finding.slot)
        .and_then(passing_job);
    passing.is_some_and(|ended| {
        let asked = |job: JobId| round.reviews.iter().position(|it| it.job.id == job);
        let later = asked(ended.job.id) > asked(found) && ended.outcome.ended.is_success();
        match &ended.outcome.reading {
            Reading::Review(said) => {
                later && said.verdict == Verdict::Pass && lowered::is_taken_back(finding.id, said)
            }
            Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => false,
        }
    })
}

/// The ruling that took a finding's force. The ledger alone is not believed: the last job that
/// ruled on the finding must say so, and must be one that may.
pub(super) fn ruling<'a>(round: &'a ApprovedRound, finding: &Finding) -> Option<&'a Ruling> {
    ruled(round, finding).map(|(_, ruling)| ruling)
}

impl Ledger for ApprovedRound {
    fn ledger(&self) -> &[Finding] {
        &self.ledger
    }
    /// By the reports of those who ruled.
    fn ruling(&self, finding: &Finding) -> Option<Asked<'_>> {
        ruled(self, finding).map(|(ended, _)| asked(ended))
    }
    fn raising(&self, finding: &Finding) -> Option<Asked<'_>> {
        raised_by(self, finding).map(asked)
    }
}

fn asked(ended: &EndedJob) -> Asked<'_> {
    Asked {
        job: ended.job.id,
        content: ended.content.as_ref(),
    }
}

/// The earlier findings that a job called open and that a ruling answers, each with that ruling.
pub(in crate::promote) fn answered<'a>(
    round: &'a ApprovedRound,
    ended: &EndedJob,
) -> Vec<(&'a Finding, &'a Ruling)> {
    let (job, reading) = (&ended.job, &ended.outcome.reading);
    let answered = round.answered(job, reading, ended.content.as_ref());
    let answered = answered.into_iter();
    answered
        .filter_map(|finding| Some((finding, ruling(round, finding)?)))
        .collect()
}

/// Whether a job is about an earlier finding that was settled, by a ruling or since in a review of one's own
/// work.
pub(super) fn is_answered(round: &ApprovedRound, ended: &EndedJob) -> bool {
    let open = ended.outcome.reading.still_open();
    let taken_back = |finding: &Finding| {
        let own = finding.slot == ended.job.slot && open.contains(&finding.id);
        own && finding.blocking && is_taken_back_after(round, finding, ended.job.id)
    };
    !answered(round, ended).is_empty() || round.ledger.iter().any(taken_back)
}

/// The ruling, and the job that made it.
fn ruled<'a>(round: &'a ApprovedRound, finding: &Finding) -> Option<(&'a EndedJob, &'a Ruling)> {
    let (ended, ruling) = round
        .rulings
        .iter()
        .filter(|ended| ended.outcome.ended.is_success() && ended.outcome.report.is_some())
        .filter_map(|ended| match &ended.outcome.reading {
            Reading::Reply {
                reply: Reply::Rulings { rulings },
            } => Some((ended, rulings)),
            Reading::Reply {
                reply: Reply::Text | Reply::Challenge { .. } | Reply::Answers { .. },
            }
            | Reading::Review(_)
            | Reading::Invalid { .. }
            | Reading::Silent => None,
        })
        .flat_map(|(ended, rulings)| rulings.iter().map(move |ruling| (ended, ruling)))
        .rfind(|(_, ruling)| ruling.finding == finding.id)?;
    let job = &ended.job;
    // What a review said of it since is no ruling.
    let mut words = round.words.get(&finding.id).into_iter().flatten();
    if words.next_back().is_some_and(|word| word.job != job.id) {
        return None;
    }
    let may = match (finding.disposition, ruling.ruling) {
        (Disposition::Withdrawn, RulingKind::Withdrawn) => {
            let raised = raised_by(round, finding);
            job.role == Role::Readjudicate
                && job.slot == finding.slot
                && raised.is_some_and(|raised| raised.job.rank == job.rank)
        }
        (Disposition::Overruled, RulingKind::Overruled) => may_arbitrate(round, finding, job),
        (
            Disposition::Open
            | Disposition::Fixed
            | Disposition::Refuted
            | Disposition::Withdrawn
            | Disposition::Upheld
            | Disposition::Sustained
            | Disposition::Overruled
            | Disposition::Deferred,
            RulingKind::Withdrawn
            | RulingKind::Upheld
            | RulingKind::Sustained
            | RulingKind::Overruled,
        ) => false,
    };
    may.then_some((ended, ruling))
}

/// The review that raised a finding.
pub(super) fn raised_by<'a>(round: &'a ApprovedRound, finding: &Finding) -> Option<&'a EndedJob> {
    let here = round.slots.iter().flat_map(|slot| &slot.jobs);
    let mut jobs = here.chain(&round.reviews);
    jobs.find(|ended| ended.job.id == finding.job)
}

/// Whether a job may overrule a finding: the arbiter is neither the creator nor the one whose
/// finding is in dispute, and what `checks` found nobody overrules.
fn may_arbitrate(round: &ApprovedRound, finding: &Finding, job: &Job) -> bool {
    let spec = &round.spec;
    let Some(arbiter) = &spec.arbiter else {
        return false;
    };
    let Some(slot) = spec.panel.iter().find(|slot| slot.name == finding.slot) else {
        return false;
    };
    let raised = raised_by(round, finding);
    let Some(reviewer) = raised.and_then(|raised| slot.agent_at(raised.job.rank)) else {
        return false;
    };
    let creator = spec.creator.as_ref().map(|creator| &creator.definition);
    job.role == Role::Arbitrate
        && job.slot == SlotName::arbiter()
        && job.rank == 0
        && !reviewer.is_checks()
        && !arbiter.is_same(reviewer)
        && Some(&arbiter.definition) != creator
}

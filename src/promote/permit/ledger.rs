//! Blocking claims that no longer stand, and what proves it.

use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::JobId;
use crate::domain::job::{Job, Reading, Reply, Role, Ruling, RulingKind};
use crate::domain::slot::SlotName;
use crate::promote::round::ApprovedRound;

/// The finding that a job's claim became, with the ruling that took its force; `None` where it
/// stands.
pub(in crate::promote) fn settled<'a>(
    round: &'a ApprovedRound,
    job: JobId,
    claim: &Claim,
) -> Option<(&'a Finding, &'a Ruling)> {
    let mut findings = round
        .findings
        .iter()
        .filter(|finding| finding.job == job && finding.claim == *claim);
    let finding = findings.next()?;
    Some((finding, ruling(round, finding)?))
}

/// The ruling that took a finding's force. The ledger alone is not believed: the last job that
/// ruled on the finding must say so, and must be one that may.
pub(super) fn ruling<'a>(round: &'a ApprovedRound, finding: &Finding) -> Option<&'a Ruling> {
    let (job, ruling) = round
        .rulings
        .iter()
        .filter(|ended| ended.outcome.ended.is_success() && ended.outcome.report.is_some())
        .filter_map(|ended| match &ended.outcome.reading {
            Reading::Reply {
                reply: Reply::Rulings { rulings },
            } => Some((&ended.job, rulings)),
            Reading::Reply {
                reply: Reply::Text | Reply::Challenge { .. } | Reply::Answers { .. },
            }
            | Reading::Review(_)
            | Reading::Invalid { .. }
            | Reading::Silent => None,
        })
        .flat_map(|(job, rulings)| rulings.iter().map(move |ruling| (job, ruling)))
        .rfind(|(_, ruling)| ruling.finding == finding.id)?;
    let may = match (finding.disposition, ruling.ruling) {
        (Disposition::Withdrawn, RulingKind::Withdrawn) => {
            job.role == Role::Readjudicate && job.slot == finding.slot
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
    may.then_some(ruling)
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
    let jobs = round.slots.iter().flat_map(|slot| &slot.jobs);
    let Some(raised) = jobs.into_iter().find(|ended| ended.job.id == finding.job) else {
        return false;
    };
    let Some(reviewer) = slot.agent_at(raised.job.rank) else {
        return false;
    };
    let creator = spec.creator.as_ref().map(|creator| &creator.definition);
    job.role == Role::Arbitrate
        && job.slot == SlotName::arbiter()
        && job.rank == 0
        && !reviewer.is_checks()
        && arbiter.definition != reviewer.definition
        && Some(&arbiter.definition) != creator
}

//! Whether each slot passed as it says, and whether enough did.

use std::collections::BTreeSet;

use crate::domain::agent::{Agent, Contract};
use crate::domain::code::Code;
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::finding::{Disposition, Finding, Word};
use crate::domain::id::RoundNumber;
use crate::domain::isolation::{EvidenceKind, Isolation};
use crate::domain::job::{AnswerAction, Reading, Reply, Review, Role, RulingKind};
use crate::domain::lowered::says_mended;
use crate::domain::ruled::{self, Ledger as _};
use crate::domain::run_spec::{Quorum, ReviewSpec, RunSpec};
use crate::domain::slot::{Slot, SlotName};
use crate::domain::verdict::{Coverage, PassedBy, Verdict};
use crate::promote::permit::ledger::{self, Settled};
use crate::promote::permit::{contradiction, passing_job};
use crate::promote::round::{ApprovedRound, EndedJob, SettledSlot};

/// Whether the slot passed; `Ok(false)` where it has no verdict and the quorum may forgive that.
pub(super) fn passed(
    round: &ApprovedRound,
    slot: &Slot,
    settled: &SettledSlot,
) -> Result<bool, Failure> {
    match &settled.settlement {
        Settlement::Passed { by, job } => {
            let Some(ended) = passing_job(settled) else {
                return Err(contradiction(format!(
                    "slot {} passed by job {job}, which is none of its jobs on this identity",
                    slot.name
                )));
            };
            vouched(round, slot, ended, *by)?;
            Ok(true)
        }
        Settlement::NotPassed { job } => Err(Failure::new(
            Code::FindingsStand,
            format!("slot {} said NOT PASS in job {job}", slot.name),
        )),
        Settlement::NoVerdict { reason } => match round.spec.review.quorum {
            Quorum::AtLeast(_) => match unconfirmed(round, slot) {
                Some(finding) => Err(Failure::new(
                    Code::NoVerdict,
                    format!(
                        "slot {} gave no verdict ({reason}), and nobody else can say that {} is mended",
                        slot.name, finding.id
                    ),
                )),
                None if refuses(round, slot) => Err(Failure::new(
                    Code::NoVerdict,
                    format!(
                        "slot {} gave no verdict ({reason}), and its last word was NOT PASS",
                        slot.name
                    ),
                )),
                None => Ok(false),
            },
            Quorum::All => Err(Failure::new(
                Code::NoVerdict,
                format!("slot {} gave no verdict: {reason}", slot.name),
            )),
        },
    }
}

/// Whether the last word of a slot is a NOT PASS that names nothing which could be settled, or nothing but what
/// a ruling had settled before, and that no PASS of its round or a later one answered.
fn refuses(round: &ApprovedRound, slot: &Slot) -> bool {
    let bar = round.spec.review.fail_on;
    let own = || {
        let all = round.reviews.iter();
        all.filter(|ended| ended.job.slot == slot.name)
    };
    let refused = own().filter(|ended| {
        let agent = slot.agent_at(ended.job.rank);
        let contract = agent.map_or(Contract::Json, |agent| agent.contract);
        let (job, reading) = (&ended.job, &ended.outcome.reading);
        round.refuses_unnamed(reading, contract, bar)
            || (reading.claims_not_pass(bar)
                && round.speaks_besides(job, reading, ended.content.as_ref()))
    });
    let passed = own().filter(|ended| passed_then(round, slot, ended));
    let last = refused.map(|ended| ended.job.round).max();
    last > passed.map(|ended| ended.job.round).max()
}

/// Whether a review passed its slot in an earlier round that is not void, and its report says so.
fn passed_then(round: &ApprovedRound, slot: &Slot, ended: &EndedJob) -> bool {
    let Reading::Review(review) = &ended.outcome.reading else {
        return false;
    };
    let agent = slot.agent_at(ended.job.rank);
    round.passed.contains(&ended.job.id)
        && ended.job.slot == slot.name
        && ended.outcome.ended.is_success()
        && agent.is_some_and(|agent| passes_by(round, slot, ended, review, agent).is_some())
}

/// The blocking finding of a slot whose force no ruling took and of which its reviewers do not say that it
/// is mended: a quorum forgives no such slot.
fn unconfirmed<'a>(round: &'a ApprovedRound, slot: &Slot) -> Option<&'a Finding> {
    let mut open = blocking_of(round, slot);
    open.find(|finding| !is_confirmed(round, slot, finding))
}

/// The finding of before that a NOT PASS leaves in silence, and that no reviewer of the slot said to be
/// mended: the creator's word is none.
fn left<'a>(round: &'a ApprovedRound, slot: &Slot, review: &Review) -> Option<&'a Finding> {
    let here = |finding: &Finding| round.findings.iter().any(|other| other.id == finding.id);
    let mut open = blocking_of(round, slot).filter(|finding| !here(finding));
    open.find(|finding| !says_mended(finding.id, review) && !is_confirmed(round, slot, finding))
}

fn blocking_of<'a>(round: &'a ApprovedRound, slot: &Slot) -> impl Iterator<Item = &'a Finding> {
    let name = slot.name.clone();
    round.ledger.iter().filter(move |finding| {
        let own = finding.slot == name && finding.blocking;
        own && ledger::ruling(round, finding).is_none()
    })
}

/// Whether a review that passed its slot, or a whole one that did not, in so many words, says that a finding is
/// mended, in an earlier round that is not void, and none found it in that round or since.
fn is_confirmed(round: &ApprovedRound, slot: &Slot, finding: &Finding) -> bool {
    is_confirmed_before(round, slot, finding, round.round)
}

/// The same by a review of a round before this one.
fn is_confirmed_before(
    round: &ApprovedRound,
    slot: &Slot,
    finding: &Finding,
    before: RoundNumber,
) -> bool {
    let reviews = || round.reviews.iter().filter(|it| it.job.round < before);
    let said = reviews().map(|ended| (&ended.job, &ended.outcome.reading));
    let last_found = ruled::last_found(finding, said);
    let says_it = |ended: &EndedJob| match &ended.outcome.reading {
        Reading::Review(review) => {
            review.verdict == Verdict::Pass || says_mended(finding.id, review)
        }
        Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent => false,
    };
    let besides = |ended: &EndedJob| {
        let (job, content) = (&ended.job, ended.content.as_ref());
        let said = round.settled_besides(job, &ended.outcome, content, finding);
        said.is_some() && !round.void.contains(&job.round)
    };
    reviews().any(|ended| {
        let passed = says_it(ended) && passed_then(round, slot, ended);
        ended.job.round > last_found && (passed || besides(ended))
    })
}

/// The blocking finding of another agent of its slot of which a PASS says nothing, and of which nobody said
/// before that it is mended, not even the creator: one agent's silence closes no dispute of another's.
fn passed_over<'a>(
    round: &'a ApprovedRound,
    slot: &Slot,
    ended: &EndedJob,
    review: &Review,
) -> Option<&'a Finding> {
    let mut open = blocking_of(round, slot);
    open.find(|finding| {
        let by = ledger::raised_by(round, finding);
        let own = by.is_some_and(|by| by.job.rank == ended.job.rank);
        !own && finding.job != ended.job.id
            && !says_mended(finding.id, review)
            && !is_confirmed_before(round, slot, finding, ended.job.round)
            && !is_called_mended(round, finding, ended.job.round)
    })
}

/// Whether the last that was said of a finding before the reviews of a round is the creator's word that it is
/// mended, and its report has that word.
fn is_called_mended(round: &ApprovedRound, finding: &Finding, before: RoundNumber) -> bool {
    let words = round.words.get(&finding.id).into_iter().flatten();
    let jobs = || {
        let of_roles = [&round.reviews, &round.answers, &round.rulings];
        of_roles.into_iter().flatten().map(|ended| &ended.job)
    };
    let is_later = |word: &Word| {
        let asked = jobs().find(|job| job.id == word.job).map(|job| job.round);
        let first = if word.role == Role::Review {
            Some(before)
        } else {
            Some(RoundNumber(before.0 + 1))
        };
        asked >= first
    };
    let mut earlier = words.filter(|word| !is_later(word));
    let Some(last) = earlier.next_back() else {
        return false;
    };
    let mut answers = round.answers.iter();
    answers.any(|ended| {
        let Reading::Reply {
            reply: Reply::Answers { answers },
        } = &ended.outcome.reading
        else {
            return false;
        };
        let fixed = AnswerAction::Fixed;
        let mut answers = answers.iter();
        ended.job.id == last.job
            && last.disposition == Disposition::Fixed
            && ended.outcome.ended.is_success()
            && answers.any(|it| it.finding == finding.id && it.action == fixed)
    })
}

/// Checks that the job itself says what the settlement says of it (scenarios S31 and T-009: a
/// PASS of an older round satisfies nothing, unless it is on the same identity).
fn vouched(
    round: &ApprovedRound,
    slot: &Slot,
    ended: &EndedJob,
    by: PassedBy,
) -> Result<(), Failure> {
    let (job, outcome) = (&ended.job, &ended.outcome);
    let wrong = |what: &str| contradiction(format!("job {} of slot {} {what}", job.id, slot.name));
    if !round.is_on_identity(job.round) || job.slot != slot.name || job.role != Role::Review {
        return Err(wrong(&format!(
            "is not a review of the identity of round {}",
            round.round
        )));
    }
    let Some(agent) = slot.agent_at(job.rank) else {
        return Err(wrong("was given to an agent that the slot does not have"));
    };
    if !outcome.ended.is_success() {
        return Err(wrong("did not end by itself with success"));
    }
    if outcome.report.is_none() {
        return Err(wrong("has no stored report"));
    }
    if outcome.prompt.is_none() && !agent.is_checks() {
        return Err(wrong("has no stored prompt"));
    }
    let Reading::Review(review) = &outcome.reading else {
        return Err(wrong("has no valid report"));
    };
    if passes_by(round, slot, ended, review, agent) != Some(by) {
        return Err(wrong("has a report that does not pass the slot"));
    }
    if review.verdict == Verdict::NotPass
        && let Some(finding) = left(round, slot, review)
    {
        return Err(wrong(&format!(
            "does not say whether {} is mended",
            finding.id
        )));
    }
    if let Some(finding) = passed_over(round, slot, ended, review) {
        return Err(wrong(&format!(
            "says nothing of {}, which another agent of its slot found",
            finding.id
        )));
    }
    if !sees_enough(job.evidence, agent, &round.spec.review) {
        return Err(wrong("judged by other evidence than the run allows"));
    }
    Ok(())
}

/// By what a valid review passes its slot, if it does.
fn passes_by(
    round: &ApprovedRound,
    slot: &Slot,
    ended: &EndedJob,
    review: &Review,
    agent: &Agent,
) -> Option<PassedBy> {
    let bar = round.spec.review.fail_on;
    let self_review = slot.name == SlotName::self_review();
    if review.findings.iter().any(|claim| claim.blocks(bar)) {
        // Nobody but an outside reviewer has findings to take back or to be overruled.
        let ruled_on = !self_review && !agent.is_checks() && review.verdict == Verdict::NotPass;
        return ruled_on
            .then(|| passes_by_rulings(round, ended, review))
            .flatten();
    }
    let covered = agent.contract.is_covered(review);
    let earlier = !ledger::answered(round, ended).is_empty();
    if review.verdict == Verdict::NotPass && earlier && !self_review {
        return passes_by_rulings(round, ended, review);
    }
    if !covered || (review.verdict == Verdict::NotPass && review.findings.is_empty()) {
        return None;
    }
    Some(match review.verdict {
        Verdict::Pass | Verdict::NotPass if self_review => PassedBy::SelfReview,
        Verdict::Pass if agent.is_checks() => PassedBy::Checks,
        Verdict::Pass => PassedBy::Reviewer,
        Verdict::NotPass => PassedBy::Threshold,
    })
}

/// By what a NOT PASS passes its slot: each of its blocking findings must be withdrawn or overruled,
/// now or before, or late, as must be those of before that it calls open, and the report must have had
/// full coverage, whatever its contract.
fn passes_by_rulings(round: &ApprovedRound, ended: &EndedJob, review: &Review) -> Option<PassedBy> {
    if review.coverage != Coverage::Full || !review.is_whole() {
        return None;
    }
    if round.speaks_besides(&ended.job, &ended.outcome.reading, ended.content.as_ref()) {
        return None;
    }
    let answered = ledger::answered(round, ended);
    let bar = round.spec.review.fail_on;
    let blocking = review.findings.iter().filter(|claim| claim.blocks(bar));
    let settled: Vec<Settled<'_>> = blocking
        .map(|claim| ledger::settled(round, ended, claim))
        .collect::<Option<_>>()?;
    let is = |kind: RulingKind| {
        let mut own = settled.iter();
        let mut earlier = answered.iter();
        own.any(|it| matches!(it, Settled::Ruled { ruling, .. } if ruling.ruling == kind))
            || earlier.any(|(_, ruling)| ruling.ruling == kind)
    };
    // The weakest ground names the whole.
    Some(if is(RulingKind::Overruled) {
        PassedBy::Arbitration
    } else if is(RulingKind::Withdrawn) {
        PassedBy::Withdrawal
    } else {
        PassedBy::Threshold
    })
}

/// Whether the evidence is what the run's options say; isolation is never lowered silently.
fn sees_enough(evidence: EvidenceKind, agent: &Agent, rules: &ReviewSpec) -> bool {
    match evidence {
        EvidenceKind::ReviewTree => true,
        EvidenceKind::SourceTree => rules.isolation == Isolation::Env,
        EvidenceKind::DiffOnly => agent.remote && rules.remote_diff_only,
    }
}

/// Checks the quorum, the required slots and the families.
pub(super) fn enough(spec: &RunSpec, passed: &[(&Slot, &SettledSlot)]) -> Result<(), Failure> {
    let short = |message: String| Err(Failure::new(Code::NoVerdict, message));
    let needed = match spec.review.quorum {
        Quorum::All => spec.panel.len(),
        Quorum::AtLeast(count) => usize::try_from(count).unwrap_or(usize::MAX).max(1),
    };
    if passed.len() < needed {
        return short(format!("{} of {needed} slots passed", passed.len()));
    }
    let is_passed = |name: &SlotName| passed.iter().any(|(slot, _)| slot.name == *name);
    if let Some(missing) = spec.policy.require.iter().find(|name| !is_passed(name)) {
        return short(format!(
            "the policy requires slot {missing}, which did not pass"
        ));
    }
    let readers: BTreeSet<&str> = passed
        .iter()
        .filter(|(slot, _)| slot.is_reader())
        .filter_map(|(slot, settled)| slot.agent_at(passing_job(settled)?.job.rank))
        .map(|agent| agent.family.as_str())
        .collect();
    // A panel of `checks` alone is its own result; where somebody reads, enough families must.
    let panel_reads = spec.readers() > 0;
    if panel_reads && readers.len() < usize::try_from(spec.policy.families).unwrap_or(usize::MAX) {
        return short(format!(
            "{} agent families read the change and the policy asks for {}",
            readers.len(),
            spec.policy.families
        ));
    }
    Ok(())
}

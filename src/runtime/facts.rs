//! What the engine knows of a round that it promotes, as the permit takes it.

use std::collections::BTreeSet;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::job::Role;
use crate::domain::lines::Since;
use crate::engine::{JobRecord, Phase, Review, Stage, State};
use crate::promote::{ApprovedRound, EndedJob, SettledSlot};

/// The facts of the round that is to be promoted, with the plan in force, for the permit to check again.
///
/// # Errors
/// When no promotion of it is under way.
pub fn approved(
    state: &State,
    round: RoundNumber,
    plan: Option<(String, Digest)>,
) -> Result<ApprovedRound, Failure> {
    let lacking = || {
        Failure::new(
            Code::Internal,
            "promotion was requested of a round without its facts",
        )
    };
    let Phase::Round { stage, .. } = &state.phase else {
        return Err(lacking());
    };
    let Stage::Promoting { review, measured } = &**stage else {
        return Err(lacking());
    };
    let Review {
        pin,
        evidence,
        slots,
        sealed,
    } = review;
    // The identity that is approved, wherever a round was on it.
    let on_identity = |number: RoundNumber| {
        let earlier = state.rounds.iter().find(|closed| closed.number == number);
        let pinned = earlier.and_then(|closed| closed.pin.as_ref());
        number == round
            || pinned.is_some_and(|other| {
                other.identity.base == pin.identity.base
                    && other.identity.content_tree == pin.identity.content_tree
            })
    };
    let settled = slots.iter().map(|(name, place)| {
        let jobs = state.jobs.values().filter(|record| {
            let job = &record.job;
            job.role == Role::Review && job.slot == *name && on_identity(job.round)
        });
        Ok(SettledSlot {
            slot: name.clone(),
            settlement: place.settlement().cloned().ok_or_else(lacking)?,
            jobs: ended(state, jobs).ok_or_else(lacking)?,
        })
    });
    let earlier = state
        .rounds
        .iter()
        .filter_map(|closed| Some((closed.number, closed.pin.clone()?)));
    let plans = state
        .rounds
        .iter()
        .filter_map(|closed| Some((closed.number, closed.plan?)));
    let spec = state.run.as_deref().cloned().ok_or_else(lacking)?;
    // A finding of an earlier round counts here where that round was on the same content.
    let same_content = |number: RoundNumber| {
        let earlier = state.rounds.iter().find(|closed| closed.number == number);
        let pinned = earlier.and_then(|closed| closed.pin.as_ref());
        pinned.is_none_or(|other| other.identity.content_tree == pin.identity.content_tree)
    };
    Ok(ApprovedRound {
        spec,
        started_at: state.started_at.ok_or_else(lacking)?,
        round,
        pinned: pin.clone(),
        sealed: sealed.clone().ok_or_else(lacking)?,
        before_promotion: measured.clone(),
        evidence: (**evidence).clone(),
        slots: settled.collect::<Result<_, Failure>>()?,
        findings: state
            .findings
            .iter()
            .filter(|finding| same_content(finding.round))
            .cloned()
            .collect(),
        since: since(state),
        ledger: state.findings.clone(),
        reviews: ended(state, of_roles(state, &[Role::Review])).ok_or_else(lacking)?,
        rounds: earlier.chain([(round, pin.clone())]).collect(),
        passed: passed(state),
        void: void(state),
        words: state.notes.clone(),
        answers: ended(state, of_roles(state, &ANSWERING)).ok_or_else(lacking)?,
        plans: plans.chain(state.plan.map(|plan| (round, plan))).collect(),
        rulings: ended(state, of_roles(state, &RULING)).ok_or_else(lacking)?,
        plan,
    })
}

/// Who rules on findings.
const RULING: [Role; 2] = [Role::Readjudicate, Role::Arbitrate];

/// Who answers findings.
const ANSWERING: [Role; 2] = [Role::Correct, Role::Comply];

/// The reviews by which slots passed in earlier rounds whose approvals count.
fn passed(state: &State) -> BTreeSet<JobId> {
    let rounds = state.rounds.iter().filter(|closed| !closed.is_void());
    let slots = rounds.flat_map(|closed| closed.slots.values());
    let passed = slots.filter_map(|place| match place.settlement()? {
        Settlement::Passed { job, .. } => Some(*job),
        Settlement::NotPassed { .. } | Settlement::NoVerdict { .. } => None,
    });
    passed.collect()
}

/// The rounds whose approvals do not count, and neither does what was called mended there.
fn void(state: &State) -> BTreeSet<RoundNumber> {
    let rounds = state.rounds.iter().filter(|closed| closed.is_void());
    rounds.map(|closed| closed.number).collect()
}

/// The run's jobs of these roles, in the order of their dispatch.
fn of_roles<'a>(state: &'a State, roles: &'a [Role]) -> impl Iterator<Item = &'a JobRecord> {
    let jobs = state.jobs.values();
    jobs.filter(|record| roles.contains(&record.job.role))
}

/// What became of the lines of earlier trees, as each closed round knew it.
fn since(state: &State) -> Vec<(RoundNumber, Vec<Since>)> {
    let rounds = state.rounds.iter().filter_map(|closed| {
        let evidence = closed.evidence.as_ref()?;
        Some((closed.number, evidence.since.clone()))
    });
    rounds.collect()
}

/// Jobs with what came back; `None` where one still runs.
fn ended<'a>(state: &State, records: impl Iterator<Item = &'a JobRecord>) -> Option<Vec<EndedJob>> {
    records
        .map(|record| {
            Some(EndedJob {
                job: record.job.clone(),
                outcome: record.outcome.clone()?,
                content: state.contents.get(&record.job.id).cloned(),
            })
        })
        .collect()
}

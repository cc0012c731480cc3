//! Publishing the evidence of the approved identity, under a permit.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::effect::Promotion;
use crate::domain::event::RoundResult;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::job::Role;
use crate::domain::lines::Since;
use crate::engine::{JobRecord, Phase, Review, Stage, State};
use crate::promote::{ApprovedRound, EndedJob, Permit, SettledSlot, publish};
use crate::runtime::clock;
use crate::runtime::perform::{plan, run_of};
use crate::runtime::rim::Rim;

pub(super) fn perform(rim: &Rim, state: &State, round: RoundNumber) -> Result<Promotion, Failure> {
    let run = run_of(state)?;
    let permit = Permit::grant(approved(rim, state, round)?, rim.lock.proof())?;
    publish(
        &permit,
        Path::new(&run.control_root),
        &mut |sha256| rim.artifacts.get(sha256),
        clock::now(),
    )
}

/// The facts of the round, for the permit to check again.
fn approved(rim: &Rim, state: &State, round: RoundNumber) -> Result<ApprovedRound, Failure> {
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
            jobs: ended(jobs).ok_or_else(lacking)?,
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
    let spec = run_of(state)?.clone();
    let plan = plan::text(&rim.artifacts, state)?.map(|text| {
        let sha256 = Digest::of(text.as_bytes());
        (text, sha256)
    });
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
        reviews: ended(of_roles(state, &[Role::Review])).ok_or_else(lacking)?,
        rounds: earlier.chain([(round, pin.clone())]).collect(),
        void: void(state),
        plans: plans.chain(state.plan.map(|plan| (round, plan))).collect(),
        rulings: ended(of_roles(state, &RULING)).ok_or_else(lacking)?,
        plan,
    })
}

/// Who rules on findings.
const RULING: [Role; 2] = [Role::Readjudicate, Role::Arbitrate];

/// The rounds in which the content moved.
fn void(state: &State) -> BTreeSet<RoundNumber> {
    let stale = |result: &RoundResult| matches!(result, RoundResult::Stale { .. });
    let rounds = state.rounds.iter().filter(|closed| stale(&closed.result));
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
fn ended<'a>(records: impl Iterator<Item = &'a JobRecord>) -> Option<Vec<EndedJob>> {
    records
        .map(|record| {
            Some(EndedJob {
                job: record.job.clone(),
                outcome: record.outcome.clone()?,
            })
        })
        .collect()
}

//! Publishing the evidence of the approved identity, under a permit.

use std::path::Path;

use crate::domain::code::Code;
use crate::domain::effect::Promotion;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::engine::{Phase, Review, Stage, State};
use crate::promote::{ApprovedRound, EndedJob, Permit, SettledSlot, publish};
use crate::runtime::clock;
use crate::runtime::perform::run_of;
use crate::runtime::rim::Rim;

pub(super) fn perform(rim: &Rim, state: &State, round: RoundNumber) -> Result<Promotion, Failure> {
    let run = run_of(state)?;
    let permit = Permit::grant(approved(state, round)?, rim.lock.proof())?;
    publish(
        &permit,
        Path::new(&run.control_root),
        &mut |sha256| rim.artifacts.get(sha256),
        clock::now(),
    )
}

/// The facts of the round, for the permit to check again.
fn approved(state: &State, round: RoundNumber) -> Result<ApprovedRound, Failure> {
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
    let settled = slots.iter().map(|(name, place)| {
        let jobs = state
            .jobs
            .values()
            .filter(|record| record.job.round == round && record.job.slot == *name);
        let ended = jobs.map(|record| {
            let outcome = record.outcome.clone().ok_or_else(lacking)?;
            Ok(EndedJob {
                job: record.job.clone(),
                outcome,
            })
        });
        Ok(SettledSlot {
            slot: name.clone(),
            settlement: place.settlement().cloned().ok_or_else(lacking)?,
            jobs: ended.collect::<Result<_, Failure>>()?,
        })
    });
    // A finding of an earlier round counts here where that round was on the same content.
    let same_content = |number: RoundNumber| {
        let earlier = state.rounds.iter().find(|closed| closed.number == number);
        let pinned = earlier.and_then(|closed| closed.pin.as_ref());
        pinned.is_none_or(|other| other.identity.content_tree == pin.identity.content_tree)
    };
    Ok(ApprovedRound {
        spec: run_of(state)?.clone(),
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
    })
}

//! What this repository's own state vouches for: read from the journals, which are the truth.

use crate::domain::digest::Digest;
use crate::domain::end::End;
use crate::domain::event::RoundResult;
use crate::domain::failure::Failure;
use crate::domain::id::{LoopId, RoundNumber};
use crate::domain::identity::Identity;
use crate::domain::oid::Oid;
use crate::domain::summary::Summary;
use crate::domain::time::Timestamp;
use crate::store::journal::Journal;
use crate::store::put_away;
use crate::store::state_folder::StateFolder;

/// What one run's journal says about the contents it judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// The run.
    pub run: LoopId,
    /// Where it published.
    pub control_root: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// How it ended; `None` while it goes on, or when its engine died.
    pub end: Option<End>,
    /// When its newest input was taken: for an ended run, when it ended.
    pub ended_at: Option<Timestamp>,
    /// The manifest that it published.
    pub manifest_sha256: Option<Digest>,
    /// Its rounds, in order; those that could not be measured are left out.
    pub rounds: Vec<AttestedRound>,
}

/// What a round judged, and with what result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttestedRound {
    /// Its number.
    pub number: RoundNumber,
    /// What it judged.
    pub identity: Identity,
    /// Its result; `None` when it did not close.
    pub result: Option<RoundResult>,
    /// When it closed.
    pub closed_at: Option<Timestamp>,
    /// When a reviewer had spoken against it, where no result says so: the round did not close, or is void
    /// since something moved, and nobody answered that yet.
    pub refused_at: Option<Timestamp>,
}

/// A run whose journal cannot be read. It is named, and it blocks no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedRun {
    /// The run.
    pub run: LoopId,
    /// What is wrong.
    pub failure: Failure,
    /// Whether its user had it put away: then it is told of no more, and doubted as before.
    pub is_away: bool,
    /// Content trees that the index remembers of it: a hint that it may concern what is judged.
    /// `None` when the index knows nothing of the run.
    pub content_trees: Option<Vec<Oid>>,
    /// When it ended, as the index remembers it; `None` when it knows of no end.
    pub ended_at: Option<Timestamp>,
    /// The moment after which its journal was not written to; `None` when that is not known.
    pub written_at: Option<Timestamp>,
}

/// Everything that this repository's state vouches for, oldest run first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attestations {
    /// What the journals say.
    pub runs: Vec<Attestation>,
    /// Runs that cannot be read.
    pub damaged: Vec<DamagedRun>,
}

/// Reads every journal.
///
/// # Errors
/// When the state folder itself cannot be listed. A damaged run is no error here.
pub fn attestations(state: &StateFolder) -> Result<Attestations, Failure> {
    let mut all = Attestations::default();
    for run in state.run_ids()? {
        match Journal::load(state, run) {
            Ok(entries) => {
                let events = entries.iter().map(|entry| (entry.at, &entry.event));
                all.runs.push(Attestation::of(run, &Summary::of(events)));
            }
            // It judged nothing, so it vouches for nothing and revokes nothing.
            Err(_) if Journal::never_began(state, run) => {}
            Err(failure) => all.damaged.push(put_away::damaged(state, run, failure)),
        }
    }
    let away = put_away::all(state)?.into_iter();
    all.damaged
        .extend(away.map(|run| put_away::remembered(state, run)));
    Ok(all)
}

impl Attestation {
    /// What a run's summary vouches for.
    #[must_use]
    pub fn of(run: LoopId, summary: &Summary) -> Self {
        let fail_on = summary.spec.as_ref().map(|spec| spec.review.fail_on);
        let rounds = summary.rounds.iter().filter_map(|round| {
            // What moved makes approvals void, and no refusal.
            let unsettled = matches!(
                round.result,
                None | Some(RoundResult::Stale { .. } | RoundResult::Void { .. })
            );
            let refused_at = fail_on.and_then(|fail_on| summary.refused_at(round, fail_on));
            Some(AttestedRound {
                number: round.number,
                identity: round.pin.as_ref()?.identity.clone(),
                result: round.result.clone(),
                closed_at: round.closed_at,
                refused_at: refused_at.filter(|_| unsettled),
            })
        });
        Self {
            run,
            control_root: summary.spec.as_ref().map(|spec| spec.control_root.clone()),
            started_at: summary.started_at,
            end: summary.end.clone(),
            ended_at: summary.at,
            manifest_sha256: summary
                .promotion
                .as_ref()
                .map(|promotion| promotion.manifest_sha256.clone()),
            rounds: rounds.collect(),
        }
    }
}

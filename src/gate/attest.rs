//! What the journals say about the content: approvals, verdicts against it, and doubt.

use crate::domain::end::End;
use crate::domain::event::RoundResult;
use crate::domain::exit::Exit;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::time::Timestamp;
use crate::store::Attestations;
use crate::store::attestation::{Attestation, AttestedRound, DamagedRun};

/// By how many milliseconds the time of a file may lag behind the clock: what the coarsest file systems
/// round to.
const COARSE: i64 = 2_000;

/// A run that approved the content, by its journal.
#[derive(Clone, Copy)]
pub(super) struct Approving<'a> {
    /// What its journal says.
    pub(super) run: &'a Attestation,
    /// The round that passed.
    pub(super) round: &'a AttestedRound,
    /// When its verdict was there.
    pub(super) at: Option<Timestamp>,
}

/// Runs that approved this content and ended so, the newest verdict last.
pub(super) fn approving<'a>(state: &'a Attestations, content: &Oid) -> Vec<Approving<'a>> {
    let mut runs: Vec<_> = state
        .runs
        .iter()
        .filter_map(|run| {
            // The last round counts, and no older one (scenario S31).
            let round = run.rounds.last()?;
            let approved = matches!(run.end, Some(End::Approved { .. }))
                && round.result == Some(RoundResult::Passed)
                && round.identity.content_tree == *content;
            approved.then_some(Approving {
                run,
                round,
                at: time_of(run, round),
            })
        })
        .collect();
    runs.sort_by_key(|approving| approving.at);
    runs
}

fn time_of(run: &Attestation, round: &AttestedRound) -> Option<Timestamp> {
    round.closed_at.or(run.ended_at)
}

/// A verdict against the content.
pub(super) struct Against {
    /// The run that gave it.
    pub(super) run: LoopId,
    /// When it was there; `None` where the journal does not tell.
    pub(super) at: Option<Timestamp>,
    /// What the run did.
    pub(super) how: &'static str,
}

impl Against {
    /// Whether it is not older than something; a doubt counts as newer.
    pub(super) fn is_since(&self, other: Option<Timestamp>) -> bool {
        match (self.at, other) {
            (Some(at), Some(other)) => at >= other,
            (None, _) | (_, None) => true,
        }
    }
}

/// The verdicts against this content, of runs that did not approve it in the end.
pub(super) fn against(state: &Attestations, content: &Oid) -> Vec<Against> {
    let mut all = Vec::new();
    for run in &state.runs {
        let ended_approved = matches!(run.end, Some(End::Approved { .. }));
        let last = run.rounds.last().map(|round| round.number);
        for round in &run.rounds {
            let is_last = Some(round.number) == last;
            if round.identity.content_tree != *content {
                continue;
            }
            let ended_so = is_last && ends_not_pass(run);
            if round.result.as_ref().is_some_and(RoundResult::is_refused) || ended_so {
                all.push(Against {
                    run: run.run,
                    at: time_of(run, round),
                    how: "ended NOT PASS",
                });
            } else if let Some(at) = round.refused_at {
                all.push(Against {
                    run: run.run,
                    at: Some(at),
                    how: "was told NOT PASS",
                });
            } else if is_last && ended_approved {
                // What the same run said before about the same content went through its ledger.
                all.retain(|against| against.run != run.run);
            }
        }
    }
    all
}

fn ends_not_pass(run: &Attestation) -> bool {
    matches!(&run.end, Some(End::Failed { failure }) if failure.code.exit() == Exit::NotPass)
}

/// A damaged run that may hold a newer verdict against this content. What frees of the doubt is that it
/// ended before the approval, or judged other contents only, both as the index remembers an ended run;
/// or that nothing of it was written since the approving run began. When it began proves nothing: runs
/// of two working trees overlap. Other damaged runs are no matter (scenarios G02 and V08): a new review
/// is newer than the doubt.
pub(super) fn doubtful<'a>(
    state: &'a Attestations,
    content: &Oid,
    chosen: LoopId,
) -> Option<&'a DamagedRun> {
    let approved_at = approving(state, content)
        .into_iter()
        .find(|approving| approving.run.run == chosen)
        .and_then(|approving| approving.at);
    let began_at = state
        .runs
        .iter()
        .find(|attestation| attestation.run == chosen)
        .and_then(|attestation| attestation.started_at);
    let is_before = |one: Option<Timestamp>, other: Option<Timestamp>| {
        one.zip(other).is_some_and(|(one, other)| one < other)
    };
    state.damaged.iter().find(|damaged| {
        let ended = damaged.ended_at;
        // While a run goes on, the index remembers no more than its first rounds.
        let judged_others = ended.is_some()
            && damaged
                .content_trees
                .as_ref()
                .is_some_and(|trees| !trees.contains(content));
        let written = damaged.written_at.map(|at| at.plus_millis(COARSE));
        !judged_others && !is_before(ended, approved_at) && !is_before(written, began_at)
    })
}

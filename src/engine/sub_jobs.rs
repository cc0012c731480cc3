//! What reviewers are told of jobs that were delegated while the change was written.

use crate::domain::delegation::{Closed, NOT_STARTED};
use crate::domain::sub_jobs::{SubJob, SubJobs};
use crate::engine::delegation::{DelegationRecord, Root};
use crate::engine::state::State;

impl State {
    /// What reviewers are told of delegated jobs, as things stand.
    #[must_use]
    pub fn sub_jobs(&self) -> SubJobs {
        let mut told = SubJobs::default();
        for record in self.delegations.values() {
            match self.root_of(record.id) {
                Some(Root::OfLoop(root, _)) if root.role.writes() => {
                    let state = word(record);
                    told.unconfirmed += usize::from(state == CLOSED_UNCONFIRMED);
                    told.rows.push(SubJob {
                        job: record.id,
                        parent: record.submission.parent,
                        agent: record.submission.agent.name.clone(),
                        state,
                        reason: reason(record),
                    });
                }
                Some(Root::Delegated(_)) if record.is_open() => told.unattributed.push(record.id),
                // A reader's sub-jobs work in its tree and end with it.
                Some(Root::OfLoop(..) | Root::Delegated(_)) | None => {}
            }
        }
        told
    }
}

const CLOSED_UNCONFIRMED: &str = "CLOSED-UNCONFIRMED";

fn word(record: &DelegationRecord) -> &'static str {
    if record.is_open() {
        return "OPEN";
    }
    let never = record.dispatches.is_empty();
    match &record.closed {
        Some(Closed::Cancelled { .. }) if never => "NOT-DISPATCHED",
        Some(closed @ Closed::Error { .. }) if never || closed.kind() == NOT_STARTED => {
            "NOT-DISPATCHED"
        }
        Some(closed) if closed.is_unconfirmed() => CLOSED_UNCONFIRMED,
        Some(closed) => closed.as_str(),
        None => "OPEN",
    }
}

/// A reason as it may stand in a prompt: an agent wrote it, so only plain characters stay.
fn reason(record: &DelegationRecord) -> String {
    let said = record.closed.as_ref().map_or("", Closed::detail);
    let plain = |c: char| c.is_ascii_alphanumeric() || " _.:,()-".contains(c);
    said.chars()
        .take(120)
        .map(|c| if plain(c) { c } else { '?' })
        .collect()
}

//! What a step's answer makes of the findings it was asked about.

use crate::domain::event::Event;
use crate::domain::finding::Disposition;
use crate::domain::id::{FindingId, JobId};
use crate::domain::job::{AnswerAction, Reply, Role, RulingKind};
use crate::domain::work::Work;
use crate::engine::state::State;

/// The next answer or ruling that is not in the ledger yet. Only what the job was asked about, and
/// only what its role may say, goes in.
pub(super) fn next_disposition(
    state: &State,
    work: &Work,
    job: JobId,
    reply: &Reply,
) -> Option<Event> {
    let asked = state.asked_about(work.role, &work.slot, work.rank);
    let due =
        |id: FindingId| asked.iter().any(|finding| finding.id == id) && !state.has_word(job, id);
    let (finding, disposition, note) = match reply {
        Reply::Text | Reply::Challenge { .. } => return None,
        Reply::Answers { answers } => answers.iter().find_map(|answer| {
            let said = answered(work.role, answer.action)?;
            due(answer.finding).then_some((answer.finding, said, &answer.note))
        })?,
        Reply::Rulings { rulings } => rulings.iter().find_map(|ruling| {
            let said = ruled(work.role, ruling.ruling)?;
            due(ruling.finding).then_some((ruling.finding, said, &ruling.note))
        })?,
    };
    Some(Event::FindingDisposed {
        finding,
        disposition,
        job,
        note: note.clone(),
    })
}

/// What a creator's answer makes of a finding.
fn answered(role: Role, action: AnswerAction) -> Option<Disposition> {
    match (role, action) {
        (Role::Correct | Role::Comply, AnswerAction::Fixed) => Some(Disposition::Fixed),
        (Role::Correct, AnswerAction::Refuted) => Some(Disposition::Refuted),
        (Role::Correct, AnswerAction::Deferred) => Some(Disposition::Deferred),
        // What the arbiter sustained is not refuted a second time.
        (Role::Comply, AnswerAction::Refuted | AnswerAction::Deferred) => {
            Some(Disposition::Sustained)
        }
        (
            Role::Plan
            | Role::Challenge
            | Role::Refine
            | Role::Implement
            | Role::Review
            | Role::Readjudicate
            | Role::Arbitrate,
            _,
        ) => None,
    }
}

/// What a ruling makes of a finding: a reviewer takes back or keeps, an arbiter decides.
fn ruled(role: Role, ruling: RulingKind) -> Option<Disposition> {
    match (role, ruling) {
        (Role::Readjudicate, RulingKind::Withdrawn) => Some(Disposition::Withdrawn),
        (Role::Readjudicate, RulingKind::Upheld) => Some(Disposition::Upheld),
        (Role::Arbitrate, RulingKind::Sustained) => Some(Disposition::Sustained),
        (Role::Arbitrate, RulingKind::Overruled) => Some(Disposition::Overruled),
        (
            Role::Plan
            | Role::Challenge
            | Role::Refine
            | Role::Implement
            | Role::Review
            | Role::Correct
            | Role::Readjudicate
            | Role::Arbitrate
            | Role::Comply,
            _,
        ) => None,
    }
}

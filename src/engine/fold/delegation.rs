//! What messages and outcomes change of delegated jobs.

use crate::domain::delegation::{
    Closed, Dispatch, DispatchOutcome, JobRequest, LOST, MISFIT, NOT_STARTED, Signal, Submission,
    WALL_CLOCK_TIMEOUT, detail,
};
use crate::domain::id::{JobId, MessageId};
use crate::domain::job::Ended;
use crate::domain::limits::lifted_after;
use crate::domain::time::Stamp;
use crate::engine::delegation::DelegationRecord;
use crate::engine::state::State;

/// A job that a message or the run's own start asks for.
pub(super) fn submitted(
    state: &mut State,
    stamp: &Stamp,
    salt: &str,
    submission: &Submission,
) -> JobId {
    let id = JobId::mint(stamp, &format!("job delegated by {salt}"));
    let record = DelegationRecord::new(id, submission.clone(), stamp.at);
    state.delegations.insert(id, record);
    // What belongs to a job that was waited for long enough is not waited for anew.
    if submission
        .parent
        .is_some_and(|parent| state.awaited.contains(&parent))
    {
        state.awaited.insert(id);
    }
    id
}

/// A message that was granted.
pub(super) fn requested(
    state: &mut State,
    stamp: &Stamp,
    message: MessageId,
    request: &JobRequest,
) {
    state.stamp = Some(*stamp);
    let about = match request {
        JobRequest::Submit { submission } => {
            submitted(state, stamp, &message.to_string(), submission)
        }
        JobRequest::Signal { of, signal, detail } => {
            signalled(state, of.job, *signal, detail);
            of.job
        }
        JobRequest::Cancel { job, reason } => {
            let reason = reason.clone();
            close(state, *job, Closed::Cancelled { reason });
            *job
        }
        JobRequest::Redispatch { job } => {
            state.awaited.remove(job);
            if let Some(record) = state.delegations.get_mut(job) {
                record.closed = None;
                record.blocked = None;
                record.limited = 0;
                record.limited_until = None;
            }
            *job
        }
    };
    state.messages.insert(message, about);
}

fn signalled(state: &mut State, job: JobId, signal: Signal, detail: &str) {
    let words = detail.to_owned();
    match signal {
        Signal::Started | Signal::Progress => {}
        Signal::PermissionRequired => match state.delegations.get_mut(&job) {
            Some(record) => record.blocked = Some(words),
            None => drop(state.blocked.insert(job, words)),
        },
        Signal::Completed => close(state, job, Closed::Completed { detail: words }),
        Signal::Error => close(state, job, Closed::Error { reason: words }),
    }
}

/// The first end wins.
pub(super) fn close(state: &mut State, job: JobId, closed: Closed) {
    if let Some(record) = state.delegations.get_mut(&job) {
        record.closed.get_or_insert(closed);
        if !record.is_open() {
            state.awaited.remove(&job);
        }
    }
}

pub(super) fn dispatched(state: &mut State, dispatch: &Dispatch) {
    if let Some(record) = state.delegations.get_mut(&dispatch.job) {
        record.blocked = None;
        record.dispatches.push((dispatch.clone(), None));
    }
}

/// Nothing of a dispatch runs any more, as far as anybody can tell.
pub(super) fn ended(state: &mut State, dispatch: &Dispatch, outcome: &DispatchOutcome) {
    let Some(record) = state.delegations.get_mut(&dispatch.job) else {
        return;
    };
    let place = record
        .dispatches
        .iter_mut()
        .find(|(known, _)| known.attempt == dispatch.attempt);
    if let Some((_, place)) = place {
        *place = Some(outcome.clone());
    }
    if !record.is_open() {
        state.awaited.remove(&dispatch.job);
    }
    if outcome.gone && outcome.ended.is_limit() {
        // Nobody's failure, however often: it is dispatched again when the limit is lifted. A run that
        // has nothing else to do loses its patience and is parked; else whatever works has a budget.
        let (reset, ended_at) = (outcome.spent.reset, outcome.ended_at);
        record.limited_until = Some(lifted_after(reset, ended_at, record.limited));
        record.limited += 1;
        return;
    }
    if let Some(closed) = closed_by(dispatch, outcome) {
        close(state, dispatch.job, closed);
    }
}

/// Whoever takes a run up again wants to know whether limits still hold.
pub(super) fn asked_again(state: &mut State) {
    for record in state.delegations.values_mut() {
        record.limited_until = None;
    }
}

/// How an outcome closes a job; `None` when it was nobody's failure, or is the first answer that does
/// not fit its schema: it is dispatched again.
fn closed_by(dispatch: &Dispatch, outcome: &DispatchOutcome) -> Option<Closed> {
    let error = |reason: String| Some(Closed::Error { reason });
    if !outcome.gone {
        return error(LOST.to_owned());
    }
    if let (Ended::Exited { code: 0 }, Some(reason)) = (&outcome.ended, &outcome.misfit) {
        let asked_twice = dispatch.again.is_some();
        return asked_twice.then(|| Closed::Error {
            reason: detail(&format!("{MISFIT}: {reason}")),
        });
    }
    match &outcome.ended {
        Ended::Exited { code: 0 } => match (&outcome.report, &outcome.unusable) {
            (Some(_), None) => Some(Closed::Completed {
                detail: String::new(),
            }),
            (_, Some(reason)) => error(format!("unusable_report: {reason}")),
            (None, None) => error("no_report".to_owned()),
        },
        Ended::Exited { code } => error(format!("exited with {code}")),
        Ended::Failed {
            trouble, message, ..
        } => error(format!("{}: {message}", trouble.said())),
        Ended::Signalled { signal } => error(format!("ended by signal {signal}")),
        Ended::TimedOut => error(WALL_CLOCK_TIMEOUT.to_owned()),
        Ended::NotStarted { failure } => error(format!("{NOT_STARTED}: {}", failure.message)),
        Ended::Lost => error(LOST.to_owned()),
        Ended::Stopped | Ended::Interrupted => None,
    }
}

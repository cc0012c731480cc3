//! What messages and outcomes change of delegated jobs.

use crate::domain::delegation::{
    Closed, Dispatch, DispatchOutcome, JobRequest, Signal, Submission, job_of,
};
use crate::domain::id::{JobId, MessageId};
use crate::domain::limits::lifted_after;
use crate::domain::time::{Stamp, Timestamp};
use crate::engine::blocked::Blocked;
use crate::engine::delegation::DelegationRecord;
use crate::engine::ending::{closed_by, is_limited};
use crate::engine::state::State;

/// A job that a message or the run's own start asks for.
pub(super) fn submitted(
    state: &mut State,
    stamp: &Stamp,
    message: Option<MessageId>,
    submission: &Submission,
) -> JobId {
    let id = job_of(stamp, message);
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
        JobRequest::Submit { submission } => submitted(state, stamp, Some(message), submission),
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
                record.claimed = None;
                record.blocked = Blocked::default();
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
            Some(record) => record.blocked.ask(words),
            None => state.blocked.entry(job).or_default().ask(words),
        },
        Signal::Completed => match state.delegations.get_mut(&job) {
            Some(record) if record.newest().is_some_and(|it| it.claims) => {
                record.claimed.get_or_insert(words);
            }
            Some(_) | None => close(state, job, Closed::Completed { detail: words }),
        },
        Signal::Error => close(state, job, Closed::Error { reason: words }),
    }
}

/// A dispatch waits on its question no longer.
pub(super) fn answered(state: &mut State, job: JobId) {
    let blocked = match state.delegations.get_mut(&job) {
        Some(record) => Some(&mut record.blocked),
        None => state.blocked.get_mut(&job),
    };
    if let Some(blocked) = blocked {
        blocked.go_on();
    }
}

/// The first end wins.
pub(super) fn close(state: &mut State, job: JobId, closed: Closed) {
    if let Some(record) = state.delegations.get_mut(&job) {
        record.closed.get_or_insert(closed);
        record.is_judged();
        if !record.is_open() {
            state.awaited.remove(&job);
        }
    }
}

/// Older engines left jobs open that their runs did not wait for: those ended with them.
pub(super) fn run_ended(state: &mut State) {
    for record in state.delegations.values_mut() {
        record.closed.get_or_insert_with(Closed::with_its_run);
    }
}

pub(super) fn dispatched(state: &mut State, dispatch: &Dispatch) {
    if let Some(record) = state.delegations.get_mut(&dispatch.job) {
        record.blocked = Blocked::default();
        record.claimed = None;
        record.dispatches.push((dispatch.clone(), None));
    }
}

/// Nothing of a dispatch runs any more, as far as anybody can tell. What follows from that for the job is
/// an event of its own.
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
    if !dispatch.judged {
        judged_by_an_older_engine(state, dispatch, outcome);
    }
}

/// How many limits of one job an older engine waited for.
const OLD_PATIENCE: u32 = 24;

/// What an engine made of an outcome that journaled no decision of it: the fold was its rule.
fn judged_by_an_older_engine(state: &mut State, dispatch: &Dispatch, outcome: &DispatchOutcome) {
    // It counted those of the whole run; `limited` is forgotten when the run is taken up.
    let met = state.delegations.get(&dispatch.job).map_or(0, |record| {
        let earlier = |it: &&(Dispatch, Option<DispatchOutcome>)| it.0.attempt < dispatch.attempt;
        let outcomes = record.dispatches.iter().filter(earlier);
        let limits = outcomes.filter(|(_, outcome)| outcome.as_ref().is_some_and(is_limited));
        u32::try_from(limits.count()).unwrap_or(u32::MAX)
    });
    if let Some(before) = Some(met).filter(|it| is_limited(outcome) && *it < OLD_PATIENCE) {
        let until = lifted_after(outcome.spent.reset, outcome.ended_at, before);
        return limited(state, dispatch.job, until);
    }
    if let Some(closed) = closed_by(dispatch, outcome, None) {
        close(state, dispatch.job, closed);
    }
}

/// A job is at a limit of its provider: it is dispatched again when that is lifted.
pub(super) fn limited(state: &mut State, job: JobId, until: Timestamp) {
    if let Some(record) = state.delegations.get_mut(&job) {
        record.limited_until = Some(until);
        record.limited += 1;
        record.is_judged();
    }
}

/// A run is taken up: how often limits were met before is forgotten, and where it is to be tried,
/// whether they still hold is to be known.
pub(super) fn resumed(state: &mut State, tries: bool) {
    // They begin anew, and so does the wait for them.
    state.awaited.clear();
    for record in state.delegations.values_mut() {
        record.limited = 0;
        if tries {
            record.limited_until = None;
        }
    }
}

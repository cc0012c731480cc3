//! What is due for delegated jobs: they are dispatched, and ended with the job that asked.

use crate::domain::code::Code;
use crate::domain::delegation::{
    Closed, Dispatch, LOST, NOT_STARTED, PARENT_ENDED, WALL_CLOCK_TIMEOUT,
};
use crate::domain::effect::Effect;
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::run_spec::RunSpec;
use crate::engine::advance::{budget, limit, request};
use crate::engine::budget::Paid;
use crate::engine::delegation::{DelegationRecord, JobStatus, Root};
use crate::engine::ending::{closed_by, is_limited};
use crate::engine::state::State;
use crate::engine::work::doctor;

/// What follows from the end of a dispatch, wherever the run stands: it is a fact of the job.
pub(super) fn judged(state: &State) -> Option<Event> {
    state.delegations.values().find_map(|record| {
        let (dispatch, outcome) = record.unjudged()?;
        if is_limited(outcome) {
            return Some(limit::delegated(record, outcome));
        }
        let closed = closed_by(dispatch, outcome, record.claimed.as_deref())?;
        Some(Event::JobClosed {
            job: record.id,
            closed,
        })
    })
}

/// The next event that is due for delegated jobs.
pub(super) fn next(state: &State) -> Option<Event> {
    state.delegations.values().find_map(|record| {
        if record.closed.is_some() {
            return None;
        }
        if let Some(Root::OfLoop(root, true)) = state.root_of(record.id)
            && state.ends_its_tree(root.id)
        {
            // What is left when an agent is done is ended: nobody reads it any more.
            let reason = format!("{PARENT_ENDED}: job {}", root.id);
            return Some(Event::JobClosed {
                job: record.id,
                closed: Closed::Cancelled { reason },
            });
        }
        match record.status() {
            JobStatus::Pending if state.is_kept(record) => {
                limit::wake(state, record.limited_until?)
            }
            JobStatus::Pending => dispatch(state, record),
            JobStatus::Running | JobStatus::Closed => None,
        }
    })
}

fn dispatch(state: &State, record: &DelegationRecord) -> Option<Event> {
    let stamp = state.stamp?;
    let Some(directory) = state.directory_of(record.id) else {
        let reason = format!("{NOT_STARTED}: there is no folder it could work in");
        return Some(Event::JobClosed {
            job: record.id,
            closed: Closed::Error { reason },
        });
    };
    if !budget::allows(state, Paid::Delegated, Some(&record.submission.agent)) {
        let reason = format!("{NOT_STARTED}: the run may not spend more on it (--max-cost)");
        return Some(Event::JobClosed {
            job: record.id,
            closed: Closed::Error { reason },
        });
    }
    let attempt = record.newest().map_or(0, |newest| newest.attempt) + 1;
    let salt = format!("dispatch {attempt} of job {}", record.id);
    let dispatch = Dispatch {
        job: record.id,
        attempt,
        // The first dispatch has the job's own folder.
        folder: if attempt == 1 {
            record.id
        } else {
            JobId::mint(&stamp, &salt)
        },
        token: stamp.derive_hex(&format!("token of {salt}")),
        session: record.next_session(&directory),
        directory,
        deadline: stamp.at.plus_seconds(record.submission.budget),
        again: record.asks_again().map(str::to_owned),
        judged: true,
        claims: true,
    };
    Some(request(state, Effect::Delegate { dispatch }))
}

/// The end of a run of one job, once nothing of its tree is open.
pub(super) fn single(state: &State, run: &RunSpec) -> Option<Event> {
    if state.delegations.values().any(DelegationRecord::is_open) {
        return None;
    }
    let first = state
        .delegations
        .values()
        .min_by_key(|record| record.submitted_at)?;
    let job = first.id;
    let end = match first.closed.as_ref()? {
        Closed::Completed { .. } => End::Completed { job },
        closed @ Closed::Error { reason } => {
            let (code, what) = match closed.kind() {
                WALL_CLOCK_TIMEOUT => (Code::JobTimedOut, "spent its budget"),
                NOT_STARTED => (Code::JobNotStarted, "could not be started"),
                _ => (Code::JobFailed, "failed"),
            };
            let failure = Failure::new(code, format!("job {job} {what}: {reason}"));
            // Nothing more can be seen of a job whose end nobody saw.
            let outcome = first.dispatches.last().and_then(|(_, it)| it.as_ref());
            let failure = if closed.kind() == LOST {
                failure.next(run.again())
            } else if outcome.is_some_and(|outcome| outcome.ended.is_refused()) {
                failure.next(doctor(&first.submission.agent.name))
            } else {
                failure.next(["run-loop", "job", "show", &job.to_string()])
            };
            End::Failed { failure }
        }
        Closed::Cancelled { reason } => End::Failed {
            failure: Failure::new(
                Code::Cancelled,
                format!("job {job} was cancelled: {reason}"),
            )
            .next(run.again()),
        },
    };
    Some(Event::RunClosing { end })
}

//! Waiting for what was delegated before a round is opened: review must not start while sub-jobs
//! of a writer still write (rows M-130 to M-132).

use crate::domain::delegation::WAIT_GRACE;
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::id::JobId;
use crate::engine::advance::request;
use crate::engine::delegation::Root;
use crate::engine::state::State;

/// What comes before a round is opened.
pub(super) enum Hold {
    /// Nothing: it may be opened.
    Free,
    /// A wait is under way.
    Waiting,
    /// This event.
    First(Event),
}

/// Whether the next round has to wait. Each job is waited for once: a bound that was reached is
/// not paid again in a later round (T-118).
pub(super) fn hold(state: &State) -> Hold {
    let wait = state.open_effects().find_map(|(id, effect)| match effect {
        Effect::AwaitJobs { jobs, .. } => Some((id, jobs)),
        Effect::Pin { .. }
        | Effect::MakeEvidence { .. }
        | Effect::OpenTree { .. }
        | Effect::RunJob { .. }
        | Effect::Delegate { .. }
        | Effect::Timer { .. }
        | Effect::Measure { .. }
        | Effect::Promote { .. }
        | Effect::Release => None,
    });
    if let Some((effect, jobs)) = wait {
        let open = jobs.iter().any(|job| is_open(state, *job));
        return if open {
            Hold::Waiting
        } else {
            Hold::First(Event::WaitEnded { effect })
        };
    }
    let jobs: Vec<JobId> = state
        .delegations
        .values()
        .filter(|record| record.is_open() && !state.awaited.contains(&record.id))
        .filter(|record| is_waited_for(state, record.id))
        .map(|record| record.id)
        .collect();
    let (Some(run), Some(stamp)) = (&state.run, &state.stamp) else {
        return Hold::Free;
    };
    if jobs.is_empty() {
        return Hold::Free;
    }
    // 3900 s by default: a job's budget and the grace (row M-122, T-101).
    let seconds = run.job_timeout.saturating_add(WAIT_GRACE);
    let until = stamp.at.plus_seconds(seconds);
    Hold::First(request(state, Effect::AwaitJobs { jobs, until }))
}

fn is_open(state: &State, job: JobId) -> bool {
    state
        .delegations
        .get(&job)
        .is_some_and(super::super::delegation::DelegationRecord::is_open)
}

/// Those of the loop's own jobs always; those of nobody where the run was told so (T-117).
fn is_waited_for(state: &State, job: JobId) -> bool {
    match state.root_of(job) {
        Some(Root::OfLoop(..)) => true,
        Some(Root::Delegated(_)) => state.run.as_ref().is_some_and(|run| run.wait_open_jobs),
        None => false,
    }
}

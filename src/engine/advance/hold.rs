//! Waiting for whoever may still write. What is made of a writer's answer rests on the source as it
//! is, and so does a round: neither comes while jobs that were delegated may write (rows M-130 to
//! M-132).

use crate::domain::delegation::WAIT_GRACE;
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::id::{EffectId, JobId};
use crate::domain::time::Timestamp;
use crate::engine::advance::request;
use crate::engine::state::{Phase, State};
use crate::engine::work::WorkStage;

/// What comes before what is due.
pub(super) enum Hold {
    /// Nothing.
    Free,
    /// A wait is under way.
    Waiting,
    /// This event.
    First(Event),
}

/// Whether what is due has to wait.
///
/// Each job is waited for once: a bound that was reached is not paid again (T-118). The bound is for
/// work alone: while nobody works since all are at a limit no wait is under way, and an engine that
/// takes the run up begins a new one, as the jobs begin anew.
pub(super) fn hold(state: &State, due: &Event) -> Hold {
    if matches!(due, Event::RunClosing { .. }) {
        return at_the_end(state);
    }
    if !rests_on_the_source(state, due) {
        return Hold::Free;
    }
    let working: Vec<JobId> = state
        .writers()
        .filter(|record| !state.is_kept(record))
        .map(|record| record.id)
        .collect();
    match wait(state) {
        Some(effect) if working.is_empty() || state.is_inherited(effect) => {
            let again = state.writers().next().is_some();
            Hold::First(Event::WaitEnded { effect, again })
        }
        Some(_) => Hold::Waiting,
        None if working.is_empty() => match state.writers().next() {
            // When its limit is lifted it is dispatched again, and then waited for.
            Some(_) => Hold::Waiting,
            None => Hold::Free,
        },
        None => bound(state).map_or(Hold::Free, |until| {
            let jobs = working;
            Hold::First(request(state, Effect::AwaitJobs { jobs, until }))
        }),
    }
}

/// Whether the end of the run, as it is decided, has to wait for jobs that people asked for beside it: they are
/// ended with it at the bound alone, or when somebody stops it. An engine that takes the run up waits for them
/// anew, as they begin anew.
fn at_the_end(state: &State) -> Hold {
    let jobs: Vec<JobId> = state.lingering().map(|record| record.id).collect();
    let is_over = jobs.is_empty() || state.stop.is_some();
    match wait(state) {
        Some(effect) if is_over || state.is_inherited(effect) => {
            let again = !is_over;
            Hold::First(Event::WaitEnded { effect, again })
        }
        Some(_) => Hold::Waiting,
        None if is_over => Hold::Free,
        None => bound(state).map_or(Hold::Free, |until| {
            Hold::First(request(state, Effect::AwaitJobs { jobs, until }))
        }),
    }
}

fn rests_on_the_source(state: &State, due: &Event) -> bool {
    match &state.phase {
        Phase::Work { work, stage } => match &**stage {
            // What a job delegated that broke off ends with it.
            WorkStage::Answered { job, .. } => work.role.writes() && !state.ends_its_tree(*job),
            WorkStage::Opened { .. }
            | WorkStage::Pinning { .. }
            | WorkStage::Unpinned { .. }
            | WorkStage::Ready { .. }
            | WorkStage::Opening { .. }
            | WorkStage::Open { .. }
            | WorkStage::Running { .. }
            | WorkStage::Measuring { .. }
            | WorkStage::Measured { .. } => false,
        },
        Phase::Between => matches!(due, Event::RoundOpened { .. }),
        Phase::Unstarted | Phase::Round { .. } | Phase::Closing { .. } | Phase::Ended { .. } => {
            false
        }
    }
}

/// The wait that is under way.
fn wait(state: &State) -> Option<EffectId> {
    let mut open = state.open_effects();
    open.find_map(|(id, effect)| matches!(effect, Effect::AwaitJobs { .. }).then_some(id))
}

/// Until when is waited: as the run was told, or for a job's budget and the grace, 3900 s by default
/// (row M-122, T-101).
fn bound(state: &State) -> Option<Timestamp> {
    let run = state.run.as_ref()?;
    let usual = run.job_timeout.saturating_add(WAIT_GRACE);
    let seconds = run.limits.job_wait.unwrap_or(usual);
    Some(state.stamp?.at.plus_seconds(seconds))
}

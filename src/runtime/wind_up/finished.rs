//! What jobs had finished when their engine died, kept although their run is cancelled: it was paid for, and
//! what it claims does not vanish.

use crate::agent::dispatched::Dispatched;
use crate::agent::profile::Wanted;
use crate::agent::redact::Secrets;
use crate::domain::agent::Agent;
use crate::domain::delegation::{Dispatch, DispatchOutcome};
use crate::domain::id::LoopId;
use crate::domain::job::{Ended, Job, JobOutcome, Reading, Role};
use crate::engine::State;
use crate::process::guard::remains::PATIENCE;
use crate::process::supervise::Lasted;
use crate::runtime::perform::job::{continued, review};
use crate::runtime::taken_over::{self, Asked};
use crate::runtime::wind_up::Ending;
use crate::runtime::{clock, remains, rim};

/// How a job of the run itself ended.
pub(super) async fn job(state: &State, job: &Job, ending: &Ending<'_>) -> JobOutcome {
    let now = clock::now();
    let secrets = rim::secrets(state, ending.environment);
    let (done, reading) = match state.run.as_ref().zip(agent_of(state, job)) {
        Some((run, agent)) => {
            let before = state.used_before(job);
            let asked = Asked {
                kind: &agent.kind,
                continues: continued(&job.session, before.as_ref()),
                wanted: Wanted::All,
            };
            let of = (ending.cache, run.loop_id, job.id);
            let taken = taken_over::read(of, asked, &secrets, PATIENCE).await;
            let read = |report: &[u8]| said(state, job, agent, ending, report);
            let reading = taken.reading(&secrets, read);
            let reading = reading.in_words(&|words| secrets.taken_out_of_text(words));
            (taken.handed_over(), reading)
        }
        None => (Dispatched::empty(Ended::Interrupted), Reading::Silent),
    };
    let stderr = done.said(&secrets);
    let stderr = stderr.and_then(|bytes| ending.artifacts.put(&bytes).ok());
    let report = done.report.as_ref().map(|report| report.shown(&secrets));
    let (ended, report) = taken_over::kept(ending.artifacts, done.ended, report);
    let Lasted {
        started_at,
        ended_at,
        outlived,
    } = Dispatched::lasted(done.lasted, now, clock::now());
    JobOutcome {
        ended,
        report,
        // It is told by the run's own record of the job, where there is one.
        prompt: None,
        stderr,
        reading,
        spent: done.spent,
        confinement: done.confinement,
        started_at,
        ended_at,
        outlived,
    }
}

fn agent_of<'a>(state: &'a State, job: &Job) -> Option<&'a Agent> {
    state.run.as_ref()?.agent_of(job)
}

/// What a report says in a run that ends: what was planned or written is nobody's to judge.
fn said(state: &State, job: &Job, agent: &Agent, ending: &Ending<'_>, report: &[u8]) -> Reading {
    if job.role != Role::Review {
        return Reading::Silent;
    }
    let read = review::read_apart(ending.artifacts, state, job, agent, report);
    read.unwrap_or_else(|failure| Reading::Invalid {
        problems: vec![failure.message],
        claimed: None,
        claims: Vec::new(),
        open: Vec::new(),
    })
}

/// How a dispatch of a delegated job ended.
pub(super) async fn dispatch(
    state: &State,
    run: LoopId,
    dispatch: &Dispatch,
    ending: &Ending<'_>,
) -> DispatchOutcome {
    let now = clock::now();
    let secrets = rim::secrets(state, ending.environment);
    let done = delegated(state, run, dispatch, ending, &secrets).await;
    let report = done.report.as_ref().map(|report| report.shown(&secrets));
    let (ended, report) = taken_over::kept(ending.artifacts, done.ended, report);
    let Lasted {
        started_at,
        ended_at,
        outlived,
    } = Dispatched::lasted(done.lasted, now, clock::now());
    DispatchOutcome {
        ended,
        gone: done.gone,
        report,
        spent: done.spent,
        unusable: done.unusable,
        misfit: None,
        lost: None,
        doubt: None,
        started_at,
        ended_at,
        outlived,
    }
}

async fn delegated(
    state: &State,
    run: LoopId,
    dispatch: &Dispatch,
    ending: &Ending<'_>,
    secrets: &Secrets,
) -> Dispatched {
    let Some(record) = state.delegations.get(&dispatch.job) else {
        return Dispatched {
            gone: remains::is_gone(ending.cache, run, dispatch.folder),
            ..Dispatched::empty(Ended::Interrupted)
        };
    };
    let before = record.used_before(dispatch);
    let asked = Asked {
        kind: &record.submission.agent.kind,
        continues: continued(&dispatch.session, before.as_ref()),
        wanted: Wanted::of(record.submission.schema.is_some()),
    };
    let of = (ending.cache, run, dispatch.folder);
    let taken = taken_over::read(of, asked, secrets, PATIENCE).await;
    taken.handed_over()
}

//! What jobs had finished when their engine died, kept although their run is cancelled: it was paid for, and
//! what it claims does not vanish.

use crate::agent::dispatched::Dispatched;
use crate::agent::profile::Wanted;
use crate::agent::redact::Secrets;
use crate::domain::delegation::{Dispatch, DispatchOutcome};
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::job::{Ended, Job, JobOutcome, Reading, Role, Stored};
use crate::engine::State;
use crate::process::supervise::Lasted;
use crate::runtime::perform::job::{continued, review};
use crate::runtime::taken_over::{self, Asked, Taken, only_against, without_its_words};
use crate::runtime::wind_up::Ending;
use crate::runtime::{clock, remains, rim};

/// How a job of the run itself ended.
pub(super) async fn job(state: &State, job: &Job, ending: &Ending<'_>) -> JobOutcome {
    let now = clock::now();
    let (taken, reading) = handed_over(state, job, ending).await;
    let (mut done, reading) = match (taken.dispatched, taken.withheld) {
        (Some(done), None) => (done, reading),
        (done, Some(why)) => {
            let done = done.unwrap_or_else(|| Dispatched::empty(Ended::Interrupted));
            let nothing = Dispatched {
                spent: done.spent,
                lasted: done.lasted,
                ..Dispatched::empty(Ended::Interrupted)
            };
            (nothing, without_its_words(reading, why))
        }
        (None, None) => (
            Dispatched::empty(Ended::Interrupted),
            only_against(reading).unwrap_or(Reading::Silent),
        ),
    };
    let report = stored(&mut done, ending, &rim::secrets(state, ending.environment));
    let Lasted {
        started_at,
        ended_at,
    } = Dispatched::lasted(done.lasted, now, clock::now());
    JobOutcome {
        ended: done.ended,
        report,
        // It is told by the run's own record of the job, where there is one.
        prompt: None,
        stderr: None,
        reading,
        spent: done.spent,
        confinement: done.confinement,
        started_at,
        ended_at,
    }
}

async fn handed_over(state: &State, job: &Job, ending: &Ending<'_>) -> (Taken, Reading) {
    let nothing = (Taken::default(), Reading::Silent);
    let Some(run) = state.run.as_ref() else {
        return nothing;
    };
    let Some(agent) = run.agent_of(job) else {
        return nothing;
    };
    let before = state.used_before(job);
    let asked = Asked {
        kind: &agent.kind,
        continues: continued(&job.session, before.as_ref()),
        wanted: Wanted::All,
    };
    let secrets = rim::secrets(state, ending.environment);
    let taken = taken_over::read(ending.cache, run.loop_id, job.id, asked, &secrets).await;
    let taken = match taken {
        Ok(taken) => taken,
        Err(error) => {
            let unusable = Some(format!("what it left cannot be read: {error}"));
            let lost = Dispatched::empty(Ended::Interrupted);
            return (
                Taken {
                    dispatched: Some(Dispatched { unusable, ..lost }),
                    ..Taken::default()
                },
                Reading::Silent,
            );
        }
    };
    let done = taken.dispatched.as_ref();
    let said = done.map(|done| (&done.report, &done.unusable));
    let reading = match said.or(Some((&taken.unseen, &None))) {
        Some((_, Some(why))) => Err(why.clone()),
        Some((Some(report), None)) if job.role == Role::Review => {
            review::read_apart(ending.artifacts, state, job, agent, report.as_came())
                .map_err(|failure| failure.message)
        }
        // What it planned or wrote is nobody's to judge in a run that ends.
        Some((Some(_) | None, None)) | None => Ok(Reading::Silent),
    };
    let reading = reading.unwrap_or_else(|why| Reading::Invalid {
        problems: vec![why],
        claimed: None,
        claims: Vec::new(),
        open: Vec::new(),
    });
    (
        taken,
        reading.in_words(&|words| secrets.taken_out_of_text(words)),
    )
}

/// How a dispatch of a delegated job ended.
pub(super) async fn dispatch(
    state: &State,
    run: LoopId,
    dispatch: &Dispatch,
    ending: &Ending<'_>,
) -> DispatchOutcome {
    let now = clock::now();
    let mut done = delegated(state, run, dispatch, ending).await;
    let report = stored(&mut done, ending, &rim::secrets(state, ending.environment));
    let Lasted {
        started_at,
        ended_at,
    } = Dispatched::lasted(done.lasted, now, clock::now());
    DispatchOutcome {
        ended: done.ended,
        gone: done.gone,
        report,
        spent: done.spent,
        unusable: done.unusable,
        misfit: None,
        started_at,
        ended_at,
    }
}

async fn delegated(
    state: &State,
    run: LoopId,
    dispatch: &Dispatch,
    ending: &Ending<'_>,
) -> Dispatched {
    let lost = |unusable: Option<String>| Dispatched {
        gone: remains::is_gone(ending.cache, run, dispatch.folder),
        unusable,
        ..Dispatched::empty(Ended::Interrupted)
    };
    let Some(record) = state.delegations.get(&dispatch.job) else {
        return lost(None);
    };
    let before = record.used_before(dispatch);
    let asked = Asked {
        kind: &record.submission.agent.kind,
        continues: continued(&dispatch.session, before.as_ref()),
        wanted: Wanted::of(record.submission.schema.is_some()),
    };
    let secrets = rim::secrets(state, ending.environment);
    match taken_over::read(ending.cache, run, dispatch.folder, asked, &secrets).await {
        Ok(Taken {
            dispatched: Some(done),
            withheld: None,
            ..
        }) => done,
        Ok(taken) => lost(taken.withheld.map(str::to_owned)),
        Err(error) => lost(Some(format!("what it left cannot be read: {error}"))),
    }
}

/// Keeps the report; one that cannot be kept is none.
fn stored(done: &mut Dispatched, ending: &Ending<'_>, secrets: &Secrets) -> Option<Stored> {
    let bytes = done.report.take()?.shown(secrets);
    let kept: Result<Stored, Failure> = ending.artifacts.put(&bytes);
    kept.map_err(|failure| done.unusable = Some(failure.message))
        .ok()
}

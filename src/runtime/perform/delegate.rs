//! One dispatch of a delegated job.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::command::{self, Named};
use crate::agent::dispatched::Dispatched;
use crate::agent::handed_over::HandedOver;
use crate::agent::job_folder::JobFolder;
use crate::agent::profile::{self, Wanted};
use crate::agent::redact::Secrets;
use crate::contract::delegation::{self, sentence};
use crate::contract::{self, structured};
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::delegation::{Dispatch, DispatchOutcome, Fence, Submission};
use crate::domain::effect::Done;
use crate::domain::failure::Failure;
use crate::domain::isolation::Isolation;
use crate::domain::job::{Ended, SessionUse};
use crate::domain::run_spec::RunSpec;
use crate::engine::{DelegationRecord, State};
use crate::process::guard::remains::PATIENCE;
use crate::process::supervise::Lasted;
use crate::runtime::clock;
use crate::runtime::perform::job::continued;
use crate::runtime::perform::{in_thread, remains_ended, run_of};
use crate::runtime::remains::AT_ONCE;
use crate::runtime::rim::Rim;
use crate::runtime::taken_over::{self, Asked};
use crate::store::mailbox::Card;

/// Whether a dispatch is all that a run does, and works in the source itself: no step of the run measures what
/// it throws away.
pub(super) fn works_alone(state: &State, dispatch: &Dispatch) -> bool {
    let record = state.delegations.get(&dispatch.job);
    let of_nobody = record.is_some_and(|record| record.submission.parent.is_none());
    let single = |run: &&RunSpec| run.single.is_some() && run.source_root == dispatch.directory;
    of_nobody && state.run.as_deref().as_ref().is_some_and(single)
}

/// Runs a dispatch. Whatever goes wrong on the way is one that was not started.
pub(super) async fn perform(
    rim: &Rim,
    state: &State,
    dispatch: &Dispatch,
    again: bool,
    run_left: Option<Duration>,
    stop: CancellationToken,
    kill: CancellationToken,
) -> DispatchOutcome {
    let began = clock::now();
    let asked_to_stop = stop.clone();
    let mut done = tokio::select! {
        done = async {
            if again {
                take_over(rim, state, dispatch, PATIENCE).await
            } else {
                remains_ended(rim, state).await?;
                run(rim, state, dispatch, run_left, stop).await
            }
        } => done.unwrap_or_else(Dispatched::not_started),
        // A second signal: what runs is dropped, and its guard kills everything of it.
        () = kill.cancelled() => take_over(rim, state, dispatch, AT_ONCE)
            .await
            .unwrap_or_else(Dispatched::not_started),
    };
    if !done.gone
        && let Some((slot, _)) = state
            .trees
            .iter()
            .find(|(_, it)| it.path == dispatch.directory)
    {
        rim.trees.distrust(slot);
    }
    if done.ended == Ended::Stopped && asked_to_stop.is_cancelled() {
        // Not the agent's failure and not its guard's.
        done.ended = Ended::Interrupted;
    }
    let secrets = rim.secrets(state);
    let misfit = match form(rim, state, dispatch, &mut done, &secrets).await {
        Ok(misfit) => misfit.map(|reason| secrets.taken_out_of_text(&reason)),
        // That we cannot read what was asked for is no misfit of the agent's.
        Err(failure) => {
            done.ended = done.ended.without_its_answer(&failure);
            None
        }
    };
    let report = done.report.as_ref().map(|report| report.shown(&secrets));
    let (ended, report) = taken_over::kept(&rim.artifacts, done.ended, report);
    let Lasted {
        started_at,
        ended_at,
        outlived,
    } = Dispatched::lasted(done.lasted, began, clock::now());
    DispatchOutcome {
        spent: done.spent,
        ended,
        gone: done.gone,
        report,
        unusable: done.unusable,
        misfit,
        lost: None,
        doubt: None,
        started_at,
        ended_at,
        outlived,
    }
}

/// Puts the answer in the form that was asked for; why it has another one, where it has.
///
/// What does not fit is kept as it was handed over, and is no answer.
async fn form(
    rim: &Rim,
    state: &State,
    dispatch: &Dispatch,
    done: &mut Dispatched,
    secrets: &Secrets,
) -> Result<Option<String>, Failure> {
    if done.ended != (Ended::Exited { code: 0 }) || !done.gone {
        return Ok(None);
    }
    let submission = &about(state, dispatch)?.record.submission;
    let Some(schema) = schema_of(rim, submission)? else {
        return Ok(None);
    };
    let report = match (&done.report, &done.unusable) {
        (_, Some(reason)) => return Ok(Some(reason.clone())),
        (None, None) => return Ok(Some("there is no answer".to_owned())),
        (Some(report), None) => report.as_came().to_vec(),
    };
    let secrets = secrets.clone();
    // A large answer takes seconds.
    let fitting = in_thread(move || Ok(fitted(schema.as_bytes(), &report, &secrets))).await;
    match fitting {
        Done::Ok(Ok(answer)) => {
            done.report = Some(answer);
            Ok(None)
        }
        Done::Ok(Err(reason)) => Ok(Some(reason)),
        Done::Err(failure) => Err(failure),
    }
}

/// The answer in the form that was asked for. What is kept of it is what its reader gets, so that without the
/// keys in it, too, it is in that form.
fn fitted(schema: &[u8], report: &[u8], secrets: &Secrets) -> Result<HandedOver, String> {
    let answer = HandedOver::new(structured::fitting(schema, report)?.into_bytes());
    let shown = answer.shown(secrets);
    if shown != answer.as_came() {
        structured::fitting(schema, &shown)
            .map_err(|why| format!("it holds a key, and without that it does not fit: {why}"))?;
    }
    Ok(answer)
}

/// The schema that a submission's answer must fit.
fn schema_of(rim: &Rim, submission: &Submission) -> Result<Option<String>, Failure> {
    let Some(stored) = &submission.schema else {
        return Ok(None);
    };
    let bytes = rim.artifacts.get(&stored.sha256)?;
    let text = String::from_utf8(bytes);
    text.map(Some)
        .map_err(|error| Failure::new(Code::Internal, format!("the schema: {error}")))
}

/// What a dispatch is about.
struct About<'a> {
    run: &'a RunSpec,
    record: &'a DelegationRecord,
}

fn about<'a>(state: &'a State, dispatch: &Dispatch) -> Result<About<'a>, Failure> {
    let run = run_of(state)?;
    let record = state.delegations.get(&dispatch.job).ok_or_else(|| {
        Failure::new(
            Code::Internal,
            format!("no job {} was delegated", dispatch.job),
        )
    })?;
    Ok(About { run, record })
}

fn unfit(agent: &Agent) -> Failure {
    let message = format!("the agent {} cannot be delegated to", agent.name);
    Failure::new(Code::Internal, message)
}

/// What the job is asked: what was submitted, with what we add to it.
fn prompt(
    rim: &Rim,
    run: &RunSpec,
    record: &DelegationRecord,
    dispatch: &Dispatch,
    schema: Option<&str>,
) -> Result<Vec<u8>, Failure> {
    let internal = |error: contract::prompt::Error| Failure::new(Code::Internal, error.to_string());
    let submission = &record.submission;
    let asked = rim.artifacts.get(&submission.prompt.sha256)?;
    let opening = match &submission.agent.kind {
        AgentKind::Profile(_) => delegation::opening(&asked),
        // A program of the user's gets what it was given.
        AgentKind::Command(_) | AgentKind::Checks | AgentKind::Human => "",
    };
    let mut prompt = [opening.as_bytes(), &asked].concat();
    if let Some(schema) = schema {
        let (again, token) = (dispatch.again.as_deref(), &dispatch.token);
        let form = delegation::form(&run.templates, schema, again, token).map_err(internal)?;
        prompt.extend_from_slice(form.as_bytes());
    }
    if let Some(earlier) = earlier(rim, record, dispatch)? {
        let told = delegation::earlier(&run.templates, &earlier, &dispatch.token);
        prompt.extend_from_slice(told.map_err(internal)?.as_bytes());
    }
    // Every job's instructions end with it (row M-054).
    if !submission.agent.remote {
        let sentence = sentence(&run.templates, dispatch.job, &run.roster).map_err(internal)?;
        prompt.extend_from_slice(sentence.as_bytes());
    }
    Ok(prompt)
}

/// What the job's variables say of it.
fn named(dispatch: &Dispatch) -> Named {
    Named {
        id: dispatch.job,
        role: "delegate",
        round: None,
    }
}

async fn run(
    rim: &Rim,
    state: &State,
    dispatch: &Dispatch,
    run_left: Option<Duration>,
    stop: CancellationToken,
) -> Result<Dispatched, Failure> {
    let About { run, record } = about(state, dispatch)?;
    let submission = &record.submission;
    let schema = schema_of(rim, submission)?;
    let prompt = prompt(rim, run, record, dispatch, schema.as_deref())?;
    let folder = JobFolder::create(&rim.cache, run.loop_id, dispatch.folder, &prompt, None)?;
    rim.note_secrets(state, &folder)?;
    folder.tell(&Card::new(
        run.loop_id,
        Fence {
            job: dispatch.job,
            attempt: dispatch.attempt,
            token: dispatch.token.clone(),
        },
    ))?;
    let job = named(dispatch);
    let tree = Path::new(&dispatch.directory);
    let budget = Duration::from_secs(submission.budget);
    // Who works in the source itself may write there; in a review tree nobody does.
    let elsewhere = tree != Path::new(&run.source_root);
    let may_write = !elsewhere && run.review.isolation == Isolation::Worktree;
    let agent = &submission.agent;
    let confine = || rim.confine(agent, &folder, None, tree, elsewhere);
    let secrets = &rim.secrets(state);
    match &submission.agent.kind {
        AgentKind::Command(program) => {
            let confine = elsewhere.then(confine).transpose()?.flatten();
            let asked = command::Dispatch {
                agent: &submission.agent,
                command: program,
                job,
                folder: &folder,
                prompt: &prompt,
                tree: Some(tree),
                environment: &rim.environment,
                guard: &rim.guard,
                budget,
                run_left,
                confine,
                secrets,
            };
            Ok(command::dispatch(&asked, stop).await)
        }
        AgentKind::Profile(program) => {
            let before = record.used_before(dispatch);
            let confine = (!may_write).then(confine).transpose()?.flatten();
            let asked = profile::Dispatch {
                agent: &submission.agent,
                program,
                job,
                may_write,
                folder: &folder,
                prompt: &prompt,
                tree: Some(tree),
                environment: &rim.environment,
                guard: &rim.guard,
                budget,
                position: None,
                continues: continued(&dispatch.session, before.as_ref()),
                confine: confine.as_ref(),
                schema: schema.as_deref().map(|text| profile::Schema {
                    text,
                    is_strict: structured::is_strict(text.as_bytes()),
                }),
                secrets,
            };
            Ok(profile::dispatch(&asked, stop).await)
        }
        AgentKind::Checks | AgentKind::Human => Err(unfit(&submission.agent)),
    }
}

/// What was reported in the session whose place the dispatch's own takes.
fn earlier(
    rim: &Rim,
    record: &DelegationRecord,
    dispatch: &Dispatch,
) -> Result<Option<String>, Failure> {
    let SessionUse::Replaces { from } = dispatch.session else {
        return Ok(None);
    };
    let continues = record.submission.continues.as_ref();
    let report = if from == record.id {
        let outcomes = record.dispatches.iter().rev();
        let mut outcomes = outcomes.filter_map(|(_, outcome)| outcome.as_ref());
        outcomes.find_map(|outcome| outcome.report.as_ref())
    } else {
        continues.map(|it| &it.report)
    };
    let Some(report) = report else {
        return Ok(None);
    };
    let bytes = rim.artifacts.get(&report.sha256)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

/// A dispatch that nobody waits for any more: a finished one is read, whatever else was under way is over.
async fn take_over(
    rim: &Rim,
    state: &State,
    dispatch: &Dispatch,
    patience: Duration,
) -> Result<Dispatched, Failure> {
    let About { run, record } = about(state, dispatch)?;
    let before = record.used_before(dispatch);
    let asked = Asked {
        kind: &record.submission.agent.kind,
        continues: continued(&dispatch.session, before.as_ref()),
        wanted: Wanted::of(record.submission.schema.is_some()),
    };
    let secrets = rim.secrets(state);
    let job = (&*rim.cache, run.loop_id, dispatch.folder);
    let taken = taken_over::read(job, asked, &secrets, patience).await;
    Ok(taken.handed_over())
}

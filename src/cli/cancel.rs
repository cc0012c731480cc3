//! `run-loop cancel [RUN]`: ends a run for good.

use std::path::Path;
use std::time::Duration;

use crate::cli::args::Format;
use crate::cli::args::control::ControlArgs;
use crate::cli::environment::Environment;
use crate::cli::found::Found;
use crate::cli::history::{History, ReadRun};
use crate::cli::output;
use crate::cli::resume::{
    choose, in_a_while, is_over, name_taken_away, outside_of_jobs, spec_of, told_when_slow,
};
use crate::cli::running::Teller;
use crate::domain::code::Code;
use crate::domain::end::End;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::{LoopId, MessageId};
use crate::domain::summary::RunState;
use crate::engine::State;
use crate::git::Git;
use crate::runtime::{clock, unrecorded, wind_up};
use crate::store::inbox::{Message, Request};
use crate::store::index::Index;
use crate::store::owner::Engine;
use crate::store::{Artifacts, Entry, Inbox, Journal, Outbox, StateFolder};

/// How often a living engine is looked at.
const PAUSE: Duration = Duration::from_millis(50);
/// How long it is waited for: it gives its jobs 5 s of grace.
const PATIENCE: u32 = 1200;
/// How many looks in a row find an engine stopped that stays so.
const STOPPED: u32 = 4;

/// Cancels a run: a living engine is told, a dead one's run is ended here. A run that is cancelled
/// already stays so.
///
/// # Errors
/// When the run ended in another way, or cannot be ended.
pub(crate) fn run(
    args: &ControlArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    outside_of_jobs(environment)?;
    let found = Found::of(environment, args)?;
    let history = found.history(format);
    let run = choose(&history, args.run.as_deref(), "cancel")?;
    let spec = spec_of(&history.read(run)?)?;
    history.refuse_a_copy(&spec, "cancel")?;
    history.name_differences(&spec);
    let read = in_a_while(cancelled(&found.git, &history, run, environment))??;
    if !is_cancelled(&read) {
        return Err(is_over(&read));
    }
    match format {
        Format::Human => output::data(&format!("run {run} is cancelled\n")),
        Format::Json | Format::Ndjson => output::data(&read.report().json()?),
    }
    Ok(Exit::Approved)
}

fn is_cancelled(read: &ReadRun) -> bool {
    match &read.summary.end {
        Some(End::Failed { failure }) => failure.code == Code::Cancelled,
        Some(End::Approved { .. } | End::Completed { .. }) | None => false,
    }
}

/// The run once it is over, by whoever ended it.
async fn cancelled(
    git: &Git,
    history: &History<'_>,
    run: LoopId,
    environment: &Environment,
) -> Result<ReadRun, Failure> {
    let state = history.state()?;
    let stamp = clock::stamp().map_err(|error| {
        let message = format!("the system gives no randomness: {error}");
        Failure::new(Code::Internal, message)
    })?;
    let message = MessageId::mint(&stamp, "message");
    let (inbox, outbox) = (Inbox::open(state, run)?, Outbox::open(state, run)?);
    let (mut told, mut stopped) = (false, 0);
    for _ in 0..PATIENCE {
        let read = history.read(run)?;
        match read.state {
            RunState::Ended => {
                inbox.done(message);
                return Ok(read);
            }
            RunState::Running => {
                if !told {
                    inbox.send(&Message::new(message, run, Request::Cancel))?;
                    told = true;
                }
                if let Some(refused) = refused(&outbox, message)? {
                    inbox.done(message);
                    return Err(refused.next(["run-loop", "cancel", &run.to_string()]));
                }
                let engine = Journal::last_engine(state, run).ok().flatten();
                let engine = engine.filter(Engine::is_stopped);
                stopped = if engine.is_some() { stopped + 1 } else { 0 };
                if let Some(engine) = engine.filter(|_| stopped == STOPPED) {
                    return Err(is_stopped(run, &engine));
                }
                tokio::time::sleep(PAUSE).await;
            }
            // Another engine may take it up at this moment: it will read the message.
            RunState::Interrupted => match Journal::open(state, run) {
                Ok(opened) => {
                    let cache = history.cache(run, environment.cache_root())?;
                    end_here(git, state, opened, message, (&cache, environment)).await?;
                    inbox.done(message);
                }
                Err(_) if Journal::is_driven(state, run)? => tokio::time::sleep(PAUSE).await,
                Err(failure) => return Err(failure),
            },
        }
    }
    let message = format!(
        "run {run} was told to end, and its engine has not ended yet: it does when it goes on"
    );
    let run = run.to_string();
    Err(Failure::new(Code::WaitTimedOut, message).next(["run-loop", "status", &run]))
}

/// The message stays: it is read as soon as the engine goes on.
fn is_stopped(run: LoopId, engine: &Engine) -> Failure {
    let pid = engine.pid.to_string();
    let message = format!(
        "run {run} was told to end, and its engine, process {pid}, is stopped (Ctrl-Z): it ends when it goes on"
    );
    Failure::new(Code::WaitTimedOut, message).next(["kill", "-CONT", &pid])
}

/// Why the engine does not do what it was told: it is answered only then.
fn refused(outbox: &Outbox, message: MessageId) -> Result<Option<Failure>, Failure> {
    let answer = outbox.answered(message).map_err(|error| {
        let message = format!("the answer cannot be read: {error}");
        Failure::new(Code::StateUnwritable, message)
    })?;
    Ok(answer.and_then(|answer| answer.refused))
}

/// Ends the run of a dead engine.
async fn end_here(
    git: &Git,
    state_folder: &StateFolder,
    (mut journal, entries): (Journal, Vec<Entry>),
    message: MessageId,
    (cache, environment): (&Path, &Environment),
) -> Result<(), Failure> {
    let run = journal.run();
    let mut state = State::replay(entries.iter().map(|entry| &entry.event));
    let mut teller = Teller::new(run, &entries, Format::Human);
    let ending = wind_up::Ending {
        cache,
        artifacts: &Artifacts::open(state_folder, run)?,
        environment: environment.variables(),
    };
    name_taken_away(&unrecorded::take_away(git, ending.artifacts, &entries));
    let message = Some(message);
    let ended = wind_up::cancel(&mut journal, &mut state, &ending, message, &mut teller);
    told_when_slow(run, ended).await?;
    drop(journal);
    Index::open(state_folder).record(state_folder, run);
    Ok(())
}

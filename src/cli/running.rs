//! A run in this process: driven to its end, told as it goes, and reported.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::activity::Activities;
use crate::cli::args::Format;
use crate::cli::environment::Environment;
use crate::cli::live::{self, Live};
use crate::cli::output;
use crate::domain::agent::AgentKind;
use crate::domain::code::Code;
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::job_view::JobView;
use crate::domain::run_spec::RunSpec;
use crate::domain::summary::RunState;
use crate::engine::{InputKind, State};
use crate::report::follow::Follower;
use crate::report::run::RunReport;
use crate::report::{human, jobs, ndjson};
use crate::runtime::signals::Signals;
use crate::runtime::{Observer, Rim, clock, drive};
use crate::store::index::Index;
use crate::store::{Entry, Journal, StateFolder};

/// Drives a run from its first input to its end, and says how it ended.
///
/// # Errors
/// Why the run did not end with an approval; everything else is printed by then.
pub(crate) fn to_the_end(
    state_folder: &StateFolder,
    rim: Rim,
    mut journal: Journal,
    entries: &[Entry],
    first: InputKind,
    format: Format,
) -> Result<Exit, Failure> {
    let run = journal.run();
    let mut teller = Teller::new(run, entries, format);
    let watched = if let InputKind::Start(spec) = &first {
        Some(&**spec)
    } else {
        teller.follower.summary().spec.as_deref()
    };
    if watched.is_some_and(|spec| format == Format::Human && is_watchable(spec)) {
        let activities = Activities::new(&rim.cache, &rim.environment);
        let environment = Environment::new(rim.environment.clone(), PathBuf::from("/"));
        teller.live = live::is_wanted(&environment).then(|| Live::start(activities));
        if let Some(live) = &teller.live {
            live.update(teller.follower.summary());
        }
    }
    let mut state = State::replay(entries.iter().map(|entry| &entry.event));
    let ended = driven(&Arc::new(rim), &mut journal, &mut state, first, &mut teller);
    drop(journal);
    // Nothing is redrawn below what follows.
    teller.live = None;
    Index::open(state_folder).record(state_folder, run);
    let summary = teller.follower.summary();
    let folder = state_folder.run_path(run);
    let report = RunReport::of(run, summary, RunState::of(summary, false), &folder);
    match format {
        Format::Human | Format::Json if single(&state).is_some() => {
            if let Some(view) = single(&state) {
                output::data(&match format {
                    Format::Human => jobs::lines(&view, None, clock::now()),
                    Format::Json | Format::Ndjson => {
                        ndjson::document(&jobs::document(&view, None))?
                    }
                });
            }
        }
        // The command itself says why it failed, on stderr.
        Format::Human => output::data(&report.without_end()),
        Format::Json => output::data(&report.json()?),
        Format::Ndjson => {}
    }
    match ended? {
        End::Approved { .. } | End::Completed { .. } => Ok(Exit::Approved),
        End::Failed { failure } => Err(failure),
    }
}

/// The job of a run of one job.
fn single(state: &State) -> Option<JobView> {
    let run = state.run.as_ref()?;
    run.single.as_ref()?;
    let mut jobs = state.delegations.values();
    let first = jobs.find(|record| record.submission.parent.is_none())?;
    Some(first.view(run.loop_id))
}

/// Drives the run on a runtime of its own. A thread that still waits for a person does not hold
/// the end.
fn driven(
    rim: &Arc<Rim>,
    journal: &mut Journal,
    state: &mut State,
    start: InputKind,
    teller: &mut Teller,
) -> Result<End, Failure> {
    let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(internal)?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(internal)?;
        drive(Arc::clone(rim), journal, state, start, teller, &mut signals).await
    });
    runtime.shutdown_background();
    ended
}

/// Tells events as they become durable.
pub(crate) struct Teller {
    follower: Follower,
    format: Format,
    live: Option<Live>,
}

impl Teller {
    /// A teller that knows the events so far, and tells the next ones.
    pub(crate) fn new(run: LoopId, entries: &[Entry], format: Format) -> Self {
        let mut follower = Follower::new(run);
        for entry in entries {
            follower.next(entry.at, &entry.event);
        }
        Self {
            follower,
            format,
            live: None,
        }
    }
}

impl Teller {
    /// Writes to the terminal, above what is redrawn there.
    fn write(&self, write: impl FnOnce()) {
        match &self.live {
            Some(live) => live.above(write),
            None => write(),
        }
    }
}

/// A person who is asked at the terminal must not be written over.
fn is_watchable(spec: &RunSpec) -> bool {
    let agents = spec.panel.iter();
    let mut agents = agents.flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback));
    !agents.any(|agent| matches!(agent.kind, AgentKind::Human))
}

impl Observer for Teller {
    fn note(&mut self, text: &str) {
        self.write(|| output::note(text));
    }

    fn event(&mut self, state: &State, event: &Event) {
        let at = state.stamp.map_or_else(clock::now, |stamp| stamp.at);
        let public = self.follower.next(at, event);
        if let Some(live) = &self.live {
            live.update(self.follower.summary());
        }
        match self.format {
            // The opening line has said it, before anything was made.
            Format::Human | Format::Json if matches!(event, Event::RunStarted { .. }) => {}
            Format::Human | Format::Json => {
                if let Some(lines) = human::lines(&public) {
                    self.write(|| output::progress(&lines));
                }
            }
            Format::Ndjson => {
                if let Ok(line) = ndjson::line(&public) {
                    output::data(&line);
                }
            }
        }
    }
}

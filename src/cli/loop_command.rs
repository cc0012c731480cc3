//! The bare command: validate, lock, drive to the end, say how it ended.

use std::ffi::OsString;
use std::sync::Arc;

use crate::cli::args::Format;
use crate::cli::args::review::LoopArgs;
use crate::cli::environment::Environment;
use crate::cli::output;
use crate::cli::validate::{Validated, validate};
use crate::domain::code::Code;
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::run_spec::BaseSpec;
use crate::domain::summary::RunState;
use crate::engine::{InputKind, State};
use crate::git::ReviewStore;
use crate::git::review_tree::ReviewTrees;
use crate::process::guard::GuardProgram;
use crate::report::follow::Follower;
use crate::report::run::RunReport;
use crate::report::{human, ndjson};
use crate::runtime::signals::Signals;
use crate::runtime::{Observer, Rim, clock, drive};
use crate::store::index::Index;
use crate::store::{Artifacts, Journal, RunLock, StateFolder};

/// Runs the loop.
///
/// # Errors
/// Why the run did not end with an approval; everything else is printed by then.
pub(crate) fn run(
    args: &LoopArgs,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let stamp = clock::stamp().map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("the system gives no randomness: {error}"),
        )
    })?;
    let validated = validate(args, argv, environment, &stamp)?;
    output::progress(&output::printable(&opening(&validated)));
    for notice in &validated.notices {
        output::note(notice);
    }
    let state_folder = StateFolder::open(&validated.repository.common_dir)?;
    let run = validated.spec.loop_id;
    let lock = RunLock::acquire(&state_folder, &validated.repository.source_root, run)?;
    let spec = validated.spec.clone();
    let store = ReviewStore::open(&validated.git, &validated.repository, &validated.cache_root)?;
    // From here on the run has a folder; its first event follows at once.
    let mut journal = Journal::create(&state_folder, run)?;
    let artifacts = Artifacts::open(&state_folder, run)?;
    let rim = Arc::new(rim(validated, store, artifacts, lock, environment));
    let mut teller = Teller {
        follower: Follower::new(run),
        format,
    };
    let mut state = State::default();
    let start = InputKind::Start(Box::new(spec));
    let ended = driven(&rim, &mut journal, &mut state, start, &mut teller);
    drop(journal);
    Index::open(&state_folder).record(&state_folder, run);
    let report = RunReport::of(
        run,
        teller.follower.summary(),
        RunState::Ended,
        &state_folder.run_path(run),
    );
    match format {
        // The command itself says why it failed, on stderr.
        Format::Human => output::data(&report.without_end()),
        Format::Json => output::data(&report.json()?),
        Format::Ndjson => {}
    }
    match ended? {
        End::Approved { .. } => Ok(Exit::Approved),
        End::Failed { failure } => Err(failure),
    }
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

fn rim(
    validated: Validated,
    store: ReviewStore,
    artifacts: Artifacts,
    lock: RunLock,
    environment: &Environment,
) -> Rim {
    let Validated {
        spec,
        git,
        repository,
        cache_root,
        ..
    } = validated;
    let trees = ReviewTrees::new(&git, &store, &repository, &cache_root, spec.loop_id);
    Rim {
        git,
        repository,
        store,
        trees,
        artifacts,
        lock,
        cache: cache_root,
        guard: GuardProgram::own(),
        environment: environment.variables().clone(),
    }
}

/// The first line: source, base and head in full, and who reviews.
fn opening(validated: &Validated) -> String {
    let run = &validated.spec;
    let given = match &run.base {
        BaseSpec::MergeBase { given, .. } => given,
        BaseSpec::StartHead { .. } => "HEAD at the start",
    };
    let panel: Vec<&str> = run.panel.iter().map(|slot| slot.name.as_str()).collect();
    format!(
        "run {}: source {}, base {} ({given}), head {}, reviewers {}",
        run.loop_id,
        run.source_root,
        validated.merge_base,
        validated.head,
        panel.join(", ")
    )
}

/// Tells events as they become durable.
struct Teller {
    follower: Follower,
    format: Format,
}

impl Observer for Teller {
    fn event(&mut self, state: &State, event: &Event) {
        let at = state.stamp.map_or_else(clock::now, |stamp| stamp.at);
        let public = self.follower.next(at, event);
        match self.format {
            // The opening line has said it, before anything was made.
            Format::Human | Format::Json if matches!(event, Event::RunStarted { .. }) => {}
            Format::Human | Format::Json => {
                if let Some(lines) = human::lines(&public) {
                    output::progress(&lines);
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

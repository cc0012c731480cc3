//! `run-loop resume [RUN]`: goes on with a run that was interrupted or whose engine died.

use std::path::Path;

use crate::agent::version::Versions;
use crate::cli::args::Format;
use crate::cli::args::control::ResumeArgs;
use crate::cli::environment::{Environment, JOB_ID};
use crate::cli::found::Found;
use crate::cli::history::{History, ReadRun};
use crate::cli::unread::Runs;
use crate::cli::{output, running, sources, templates, validate};
use crate::config::load::FILE_NAME;
use crate::config::rules;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::limits::Allowed;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::summary::RunState;
use crate::engine::{InputKind, State};
use crate::git::review_tree::ReviewTrees;
use crate::git::{Git, Repository, ReviewStore};
use crate::process::guard::GuardProgram;
use crate::report::run::RunReport;
use crate::runtime::{Rim, clock, remains, restore};
use crate::store::index::RunRow;
use crate::store::{Artifacts, Inbox, Journal, Outbox, RunLock};

/// Goes on with a run, in its own working tree and with its own control root, wherever the
/// command was started.
///
/// # Errors
/// Why it cannot go on, or why it did not end with an approval.
pub(crate) fn run(
    args: &ResumeArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    outside_of_jobs(environment)?;
    let allowed = Allowed {
        max_wall: args.max_wall,
        max_cost_micro_usd: args.max_cost.map(rules::micro_usd),
        wait: args.wait_for_limits,
    };
    let args = &args.control;
    let found = Found::of(environment, args)?;
    let history = found.history(format);
    let run = choose(&history, args.run.as_deref(), "resume")?;
    let state_folder = history.state()?;
    let read = history.read(run)?;
    let spec = spec_of(&read)?;
    if read.summary.end.is_some() {
        return Err(is_over(&read));
    }
    history.name_differences(&spec);
    name_parking(&read, allowed.wait);
    let repository = own_repository(&found.git, &spec)?;
    let lock = RunLock::acquire(state_folder, &repository.source_root, run)?;
    // Verified again under the locks: nobody else writes from here on.
    let (journal, entries) = Journal::open(state_folder, run)?;
    let state = State::replay(entries.iter().map(|entry| &entry.event));
    if state.is_over() {
        return Err(is_over(&history.read(run)?));
    }
    let cache = environment.cache_root()?;
    in_a_while(remains::settled(&cache, run))??;
    let artifacts = Artifacts::open(state_folder, run)?;
    restore::artifacts(&artifacts, &entries)?;
    same_rules(&found.git, &repository, &spec, &state)?;
    let store = ReviewStore::open(&found.git, &repository, &cache)?;
    let rim = Rim {
        trees: ReviewTrees::new(&found.git, &store, &repository, &cache, run),
        git: found.git.clone(),
        repository,
        store,
        artifacts,
        lock,
        inbox: Inbox::open(state_folder, run)?,
        outbox: Outbox::open(state_folder, run)?,
        cache,
        guard: GuardProgram::own(),
        environment: environment.variables().clone(),
        versions: Versions::default(),
    };
    restore::evidence(&rim, &state, &entries)?;
    let since = state.budget.since;
    let ran = since.and_then(|since| Journal::ran(state_folder, run, since));
    let first = InputKind::Resume { allowed, ran };
    running::to_the_end(state_folder, rim, journal, &entries, first, format)
}

/// Waits for something of a few seconds.
pub(super) fn in_a_while<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map(|runtime| runtime.block_on(work))
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

/// A job starts no loop, and takes none up or ends one either.
pub(super) fn outside_of_jobs(environment: &Environment) -> Result<(), Failure> {
    let Some(job) = environment.get(JOB_ID.name) else {
        return Ok(());
    };
    let job = job.to_string_lossy();
    let message = format!("this is job {job} of a run; a job drives no loop");
    Err(Failure::new(Code::InsideJob, message).next(["run-loop", "status"]))
}

/// The named run; else the newest of this source that did not end, else the only one of the
/// repository that was interrupted, else the newest of this source.
///
/// # Errors
/// Also when a newer run cannot be read: it may be the one that is meant.
pub(super) fn choose(
    history: &History<'_>,
    given: Option<&str>,
    command: &str,
) -> Result<LoopId, Failure> {
    if given.is_some() {
        return history.choose(given);
    }
    let state = history.state()?;
    let here = history.source_root.map(|root| root.display().to_string());
    let runs = Runs::of(state)?;
    let is_open = |row: &&RunRow| row.state != RunState::Ended;
    let open: Vec<&RunRow> = runs.read.iter().filter(is_open).collect();
    let newest = open.iter().rev().find(|row| row.source_root == here);
    let only = match &open[..] {
        [only] if only.state == RunState::Interrupted => Some(only),
        _ => None,
    };
    let chosen = newest.or(only);
    let Some(row) = chosen else {
        return history.choose(None);
    };
    let run = row.run;
    runs.is_newest_open(run, history.source_root)
        .map_err(|failure| failure.next(["run-loop", command, &run.to_string()]))?;
    Ok(run)
}

pub(super) fn spec_of(read: &ReadRun) -> Result<RunSpec, Failure> {
    let spec = read.summary.spec.as_deref();
    spec.cloned().ok_or_else(|| {
        let message = format!("run {} never began", read.run);
        Failure::new(Code::JournalFailed, message)
    })
}

/// Why a run that ended cannot be resumed or cancelled.
pub(super) fn is_over(read: &ReadRun) -> Failure {
    let how = RunReport::of(read.run, &read.summary, read.state, &read.folder).standing();
    let message = format!("run {} is over: {how}", read.run);
    let run = read.run.to_string();
    Failure::new(Code::RunIsOver, message).next(["run-loop", "show", &run])
}

/// Says so where a run is taken up before the limit is lifted that it was parked on.
fn name_parking(read: &ReadRun, waits: bool) {
    let Some(until) = read
        .summary
        .parked_until
        .filter(|until| *until > clock::now())
    else {
        return;
    };
    let run = read.run;
    let does = if waits {
        "it waits until then"
    } else {
        "its agents are asked now all the same"
    };
    output::note(&format!("run {run} was parked until {until}: {does}"));
}

/// The run's repository, as it recorded it.
fn own_repository(git: &Git, spec: &RunSpec) -> Result<Repository, Failure> {
    let root = Path::new(&spec.source_root);
    let gone = |what: &str| {
        let message = format!(
            "{}, the working tree of run {}, {what}",
            spec.source_root, spec.loop_id
        );
        let run = spec.loop_id.to_string();
        Failure::new(Code::WorktreeNotFound, message).next(["run-loop", "cancel", &run])
    };
    if !root.is_dir() {
        return Err(gone("is not there any more"));
    }
    let mut found = Repository::discover(git, root)?;
    if found.source_root != root || found.common_dir != Path::new(&spec.common_dir) {
        return Err(gone("is another repository's now"));
    }
    found.control_root = (&spec.control_root).into();
    Ok(found)
}

/// Checks that the base's configuration and policy are those that the run is bound to.
fn same_rules(
    git: &Git,
    repository: &Repository,
    spec: &RunSpec,
    state: &State,
) -> Result<(), Failure> {
    // Without `--base` the base is a commit, and stays what it is.
    let BaseSpec::MergeBase { given, .. } = &spec.base else {
        return Ok(());
    };
    let (_, now, _) = validate::resolve_base(git, repository, Some(given))?;
    let file = sources::base_file(git, &repository.git_dir, &now)?;
    let bytes = file.as_ref().map(|file| file.bytes.clone());
    let same_file = match judged_by(state) {
        Some(before) if before != now => {
            sources::at_base(git, &repository.git_dir, &before, FILE_NAME)? == bytes
        }
        Some(_) | None => true,
    };
    let config = validate::base_alone(file)?;
    let templates = templates::read(&config, git, &repository.git_dir, &now)?;
    if same_file && rules::policy(&config)? == spec.policy && templates == spec.templates {
        return Ok(());
    }
    let message = format!(
        "the configuration at the base {given} ({now}) is not the one that run {} is bound to: its approvals are void",
        spec.loop_id
    );
    Err(Failure::new(Code::BaseRulesMoved, message).next(spec.command.clone()))
}

/// The base's commit at the run's last measurement.
fn judged_by(state: &State) -> Option<Oid> {
    let closed = || {
        state
            .rounds
            .iter()
            .rev()
            .find_map(|round| round.pin.as_ref())
    };
    let pin = state.review().map(|review| &review.pin).or_else(closed)?;
    Some(pin.identity.base.clone())
}

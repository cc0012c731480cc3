//! `run-loop resume [RUN]`: goes on with a run that was interrupted or whose engine died.

use std::path::Path;
use std::time::Duration;

use crate::agent::version::Versions;
use crate::cli::args::Format;
use crate::cli::args::control::ResumeArgs;
use crate::cli::environment::{Environment, JOB_ID};
use crate::cli::found::Found;
use crate::cli::history::{History, ReadRun};
use crate::cli::unread::Runs;
use crate::cli::{output, redirected, running, sources, templates, validate};
use crate::config::load::FILE_NAME;
use crate::config::rules;
use crate::domain::agent::AgentKind;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::identity::Pin;
use crate::domain::limits::Allowed;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::summary::RunState;
use crate::engine::{InputKind, State};
use crate::git::review_tree::ReviewTrees;
use crate::git::worktree::brought_back::{self, Stood, Way};
use crate::git::{Git, Repository, ReviewStore};
use crate::process::guard::GuardProgram;
use crate::process::guard::remains::PATIENCE;
use crate::report::run::RunReport;
use crate::runtime::unrecorded::{self, TakenAway};
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
    history.refuse_a_copy(&spec, "resume")?;
    still_runnable(&spec, &read, environment)?;
    history.name_differences(&spec);
    name_parking(&read, allowed.wait);
    let repository = own_repository(&found.git, &spec, &read)?;
    same_branch(&found.git, &repository, &read)?;
    let line = ["run-loop", "resume", &run.to_string()].map(str::to_owned);
    redirected::refuse(&found.git, &repository, &line)?;
    people(&spec, environment)?;
    let lock = RunLock::acquire(state_folder, &repository.source_root, run)?;
    // Verified again under the locks: nobody else writes from here on.
    let (journal, entries) = Journal::open(state_folder, run)?;
    let state = State::replay(entries.iter().map(|entry| &entry.event));
    if state.is_over() {
        return Err(is_over(&history.read(run)?));
    }
    let cache = history.cache(run, environment.cache_root())?;
    in_a_while(told_when_slow(run, remains::settled(&cache, run)))??;
    let artifacts = Artifacts::open(state_folder, run)?;
    // What is missing comes from nowhere else: what is left to do is to give the run up.
    restore::artifacts(&artifacts, &entries)
        .map_err(|failure| failure.next(["run-loop", "cancel", &run.to_string()]))?;
    same_rules(&found.git, &repository, &spec, &state)?;
    // It is published again, if it still passes.
    name_taken_away(&unrecorded::take_away(&found.git, &artifacts, &entries));
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
    let gone = restore::evidence(&rim, &state, &entries)?;
    let since = state.budget.since;
    let ran = since.and_then(|since| Journal::ran(state_folder, run, since));
    let first = InputKind::Resume {
        allowed,
        ran,
        found: restore::look(&rim, &state),
        gone,
    };
    running::to_the_end(state_folder, rim, journal, &entries, first, format)
}

/// Tells what of an approval is gone that nobody recorded, and what of it is left.
pub(super) fn name_taken_away(taken: &TakenAway) {
    if !taken.removed.is_empty() {
        let files = taken.removed.join(", ");
        output::note(&format!(
            "taken away, since no journal vouches for it: {files}"
        ));
    }
    if let Some(left) = &taken.left {
        output::note(&format!("{}: {}", left.message, left.next));
    }
}

/// How long a wait is that nobody asks about.
const SILENT: Duration = Duration::from_secs(2);

/// Says what is waited for where it takes its time: each guard of a dead engine ends its job by itself,
/// unless it was stopped.
pub(super) async fn told_when_slow<T>(run: LoopId, work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    tokio::select! {
        done = &mut work => done,
        () = tokio::time::sleep(SILENT) => {
            let most = PATIENCE.as_secs();
            output::note(&format!(
                "waiting for the guards of run {run}, whose engine is dead, to end its jobs: at most {most} s"
            ));
            work.await
        }
    }
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

/// The named run; else the newest of this source that did not end, else the newest of this source, else the
/// only one of the repository that was interrupted.
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
    let mut of_here = runs.read.iter().rev().filter(|row| row.source_root == here);
    // Asked once more, `cancel` has done what it was asked, and ends no other run.
    if command == "cancel"
        && let Some(row) = of_here
            .next()
            .filter(|row| row.code == Some(Code::Cancelled))
    {
        return Ok(row.run);
    }
    let newest = open.iter().rev().find(|row| row.source_root == here);
    let has_own = runs.read.iter().any(|row| row.source_root == here);
    let only = match &open[..] {
        [only] if only.state == RunState::Interrupted && command != "cancel" => Some(only),
        _ => None,
    };
    // Whoever has runs here means one of these.
    if let (None, Some(only), true) = (newest, only, has_own) {
        let (run, theirs) = (only.run.to_string(), only.source_root.as_deref());
        let message = format!(
            "no run of {} can be resumed; run {run} can, which is about {}",
            here.as_deref().unwrap_or("this place"),
            theirs.unwrap_or("another place")
        );
        return Err(Failure::new(Code::RunIsOver, message).next(["run-loop", command, &run]));
    }
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

/// Asks of every agent of the run what was asked before it began: one that lacks its program or a key now
/// would end the run, with all that the others said.
fn still_runnable(
    spec: &RunSpec,
    read: &ReadRun,
    environment: &Environment,
) -> Result<(), Failure> {
    let state = State::replay(read.entries.iter().map(|entry| &entry.event));
    let open = state.delegations.values().filter(|it| it.closed.is_none());
    let delegated = open.map(|record| &record.submission.agent);
    let find = validate::finder(environment);
    for agent in spec.cast().chain(delegated) {
        let there = agent
            .program()
            .map_or(Ok(()), |program| find(program).map(drop));
        let runnable = there.and_then(|()| validate::runnable_one(agent, environment));
        runnable.map_err(|failure| {
            let run = spec.loop_id.to_string();
            let message = format!("{}; run {run} is as it was", failure.message);
            Failure::new(failure.code, message).next(["run-loop", "resume", &run])
        })?;
    }
    Ok(())
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

/// Whether everybody who is asked at a terminal can be.
fn people(spec: &RunSpec, environment: &Environment) -> Result<(), Failure> {
    let mut people = spec
        .agents()
        .filter(|agent| matches!(agent.kind, AgentKind::Human));
    people.try_for_each(|agent| validate::runnable_one(agent, environment))
}

/// The run's repository, as it recorded it.
fn own_repository(git: &Git, spec: &RunSpec, read: &ReadRun) -> Result<Repository, Failure> {
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
        let state = State::replay(read.entries.iter().map(|entry| &entry.event));
        let way = last_pin(&state).zip(state.started_at).and_then(|it| {
            let (pin, since) = it;
            let (branch, head) = (pin.branch.as_deref(), &pin.identity.head);
            let stood = Stood {
                branch,
                head,
                since,
            };
            brought_back::way(git, Path::new(&spec.common_dir), root, stood)
        });
        let Some(Way { command, hindered }) = way else {
            return Err(gone("is not there any more"));
        };
        let why = hindered.map_or_else(String::new, |it| format!(", and {it}"));
        return Err(gone(&format!("is not there any more{why}")).next(command));
    }
    let mut found = Repository::discover(git, root)?;
    if found.source_root != root || found.common_dir != Path::new(&spec.common_dir) {
        return Err(gone("is another repository's now"));
    }
    found.control_root = (&spec.control_root).into();
    Ok(found)
}

/// Checks that the working tree is on the branch that the run was last measured on (K16).
fn same_branch(git: &Git, repository: &Repository, read: &ReadRun) -> Result<(), Failure> {
    let state = State::replay(read.entries.iter().map(|entry| &entry.event));
    let Some(pin) = last_pin(&state) else {
        return Ok(());
    };
    let now = repository.branch(git)?;
    if now == pin.branch {
        return Ok(());
    }
    let shown = |branch: &Option<String>| {
        branch.as_deref().map_or_else(
            || "a detached HEAD".to_owned(),
            |it| it.trim_start_matches("refs/heads/").to_owned(),
        )
    };
    let root = repository.source_root.display().to_string();
    let (its, now) = (shown(&pin.branch), shown(&now));
    let message = format!("run {} is about {its}, and {root} is on {now}", read.run);
    let back: &[&str] = match &pin.branch {
        Some(_) => &["switch", &its],
        None => &["switch", "--detach", pin.identity.head.as_str()],
    };
    let line = ["git", "-C", &root].into_iter().chain(back.iter().copied());
    let next: Vec<String> = line.map(str::to_owned).collect();
    Err(Failure::new(Code::OtherBranch, message).next(next))
}

/// What the run measured last.
fn last_pin(state: &State) -> Option<&Pin> {
    let closed = || {
        let mut rounds = state.rounds.iter().rev();
        rounds.find_map(|round| round.pin.as_ref())
    };
    let review = state.review().map(|review| &review.pin);
    review
        .or_else(|| state.work().map(|(_, pin)| pin))
        .or_else(closed)
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
    Err(Failure::new(Code::BaseRulesMoved, message).next(spec.again()))
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

//! A run of one job: `run-loop job submit` where no run goes on.

use std::ffi::OsString;
use std::path::Path;

use crate::agent::redact::Secrets;
use crate::agent::version::Versions;
use crate::cli::args::Format;
use crate::cli::args::job::SubmitArgs;
use crate::cli::environment::{Environment, TIMEOUT};
use crate::cli::job::registry::{Registry, not_continued};
use crate::cli::job::submit::choice;
use crate::cli::locate::Place;
use crate::cli::{options, output, own_cache, running, sources, validate};
use crate::config::sources::Override;
use crate::config::{load, rules};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::job::Stored;
use crate::domain::limits::Limits;
use crate::domain::run_spec::{BaseSpec, PlanSource, RunSpec};
use crate::domain::time::Stamp;
use crate::engine::{InputKind, NoSession};
use crate::git::base;
use crate::git::review_tree::ReviewTrees;
use crate::git::{Git, Repository, ReviewStore};
use crate::process::guard::GuardProgram;
use crate::runtime::messages::{Submitted, submission};
use crate::runtime::{Rim, clock};
use crate::store::{Artifacts, Inbox, Journal, Outbox, RunLock, StateFolder, home};

/// The longest budget in seconds: a week.
const LONGEST: u32 = 604_800;

/// Runs one job to its end.
pub(super) fn run(
    args: &SubmitArgs,
    prompt: Vec<u8>,
    schema: Option<&[u8]>,
    registry: &Registry,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let stamp = clock::stamp().map_err(|error| {
        let message = format!("the system gives no randomness: {error}");
        Failure::new(Code::Internal, message)
    })?;
    let Place {
        git,
        source: repository,
    } = registry.place.clone();
    let cache = environment.cache_root()?;
    let inside = own_cache::refuse(&git, &repository, &cache, environment, &options::line(argv))?;
    let mut spec = spec(args, &git, &repository, argv, environment, &stamp)?;
    // What nobody of the run may show is in no record of it, as in what its jobs submit.
    let secrets = Secrets::of(spec.agents(), environment.variables());
    let prompt = secrets.taken_out(prompt);
    let schema = schema.map(|schema| secrets.taken_out(schema.to_vec()));
    let schema = schema.as_deref();
    // Whatever is wrong with the agent shows before anything is made.
    let asked = Submitted {
        choice: choice(args).unwrap_or_default(),
        budget: args.timeout,
        parent: None,
        prompt: Stored::of(&prompt),
        schema: schema.map(Stored::of),
    };
    let mut submission = submission(&spec, &args.agent, asked)?;
    let before = match &args.continues {
        Some(given) => Some(registry.continued(given, &submission.agent, &spec.source_root)?),
        None => None,
    };
    let followed = before.as_ref().map(|(continues, _)| continues.job);
    let (continues, earlier) = before.unzip();
    submission.continues = continues;
    spec.single = Some(submission);
    let run = spec.loop_id;
    let state_folder = StateFolder::open(&repository.common_dir)?;
    let lock = RunLock::acquire(&state_folder, &repository.source_root, run)?;
    let not_started = |failure: Failure| Failure {
        code: Code::JobNotStarted,
        ..failure
    };
    if let Some(job) = followed
        && let Some(next) = registry.follower(job)?
    {
        // Somebody was quicker.
        return Err(not_continued(job, NoSession::Followed(next)));
    }
    let store = ReviewStore::open(&git, &repository, &cache)?;
    let journal = Journal::create(&state_folder, run)?;
    home::note_cache(&state_folder, run, &cache)?;
    let artifacts = Artifacts::open(&state_folder, run)?;
    for bytes in std::iter::once(&prompt[..])
        .chain(schema)
        .chain(earlier.as_deref())
    {
        artifacts.put(bytes).map_err(not_started)?;
    }
    drop(prompt);
    let rim = Rim {
        trees: ReviewTrees::new(&git, &store, &repository, &cache, run),
        git,
        repository,
        store,
        artifacts,
        lock,
        inbox: Inbox::open(&state_folder, run)?,
        outbox: Outbox::open(&state_folder, run)?,
        cache,
        guard: GuardProgram::own(),
        environment: environment.variables().clone(),
        versions: Versions::default(),
    };
    if let Some(inside) = inside {
        output::note(&inside);
    }
    output::progress(&format!("run {run}: one job for {}", args.agent));
    let start = InputKind::Start(Box::new(spec));
    running::to_the_end(&state_folder, rim, journal, &[], start, format)
}

/// The budget that the variable stands for. Of a value that is none it is told, and the default
/// holds (row M-120, scenario T-100): a job that runs for hours must not fail on its surroundings.
fn budget(environment: &Environment) -> Result<Vec<Override>, Failure> {
    let Some(text) = environment.text(TIMEOUT)? else {
        return Ok(Vec::new());
    };
    if text
        .parse()
        .is_ok_and(|seconds: u32| (1..=LONGEST).contains(&seconds))
    {
        return options::numbers(environment, &[(TIMEOUT, "limits", "job-timeout")]);
    }
    let name = TIMEOUT.name;
    output::note(&format!(
        "the variable {name} is {text:?}, not a number of seconds up to {LONGEST}: it is not read"
    ));
    Ok(Vec::new())
}

/// The command line as it can be run again from anywhere: the files that it names are found there, too.
fn line(argv: &[OsString], here: &Path) -> Vec<String> {
    const FILES: [&str; 2] = ["--prompt-file", "--schema"];
    let there = |path: &str| here.join(path).to_string_lossy().into_owned();
    let mut is_file = false;
    let words = options::line(argv).into_iter().map(|word| {
        if std::mem::replace(&mut is_file, FILES.contains(&word.as_str())) {
            return there(&word);
        }
        match word.split_once('=') {
            Some((option, path)) if FILES.contains(&option) => format!("{option}={}", there(path)),
            Some(_) | None => word,
        }
    });
    words.collect()
}

fn spec(
    args: &SubmitArgs,
    git: &Git,
    repository: &Repository,
    argv: &[OsString],
    environment: &Environment,
    stamp: &Stamp,
) -> Result<RunSpec, Failure> {
    let head = base::head(git, repository)?;
    let mut layers = sources::sources(environment, git, repository, &head)?;
    layers.overrides.extend(budget(environment)?);
    let config = load(&layers)?;
    let (roster, unfit) = validate::roster(&config, environment, git, repository, &head);
    Ok(RunSpec {
        loop_id: LoopId::mint(stamp, "loop"),
        command: line(argv, environment.current_dir()),
        task: Some(format!("one job for {}", args.agent)),
        source_root: validate::text(&repository.source_root)?,
        control_root: validate::text(&repository.control_root)?,
        common_dir: validate::text(&repository.common_dir)?,
        base: BaseSpec::StartHead { head: head.clone() },
        creator: None,
        planner: None,
        arbiter: None,
        review_only: false,
        plan: PlanSource::Nobody,
        panel: Vec::new(),
        review: rules::review(&config, None, false)?,
        checks: Vec::new(),
        setup: Vec::new(),
        cache: Vec::new(),
        job_timeout: config.settings.limits.job_timeout,
        limits: Limits {
            prices: rules::prices(&config),
            ..Limits::default()
        },
        policy: rules::policy(&config)?,
        reports: rules::reports(&config)?,
        allow_filters: Vec::new(),
        allow_in_progress: false,
        keep_snapshots: false,
        templates: Vec::new(),
        roster,
        unfit,
        wait_open_jobs: false,
        single: None,
        config_sha256: config.sha256,
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

//! From the command line to a run's specification, before any lock, job or file.
//!
//! What the command line or the configuration alone shows is a usage error and comes first; what
//! the repository shows is a refusal. The repository's configuration lies at the base, so it is
//! read once the base is known, and its mistakes are usage errors all the same.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::agent::human::{Console, Terminal as _};
use crate::agent::{command, find};
use crate::cli::args::review::LoopArgs;
use crate::cli::environment::Environment;
use crate::cli::locate::Place;
use crate::cli::newer_rules::NewerRules;
use crate::cli::options::{self, Options, PlanOption};
use crate::cli::{locate, notices, own_cache, plan_source, sources, templates, text_file};
use crate::config::agents;
use crate::config::roles::{self, Asked, Cast};
use crate::config::settings::BaseRule;
use crate::config::sources::{File, Sources};
use crate::config::world::{Programs, World};
use crate::config::{Config, load, panel, rules};
use crate::domain::agent::{Agent, AgentKind};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::policy::Policy;
use crate::domain::run_spec::{BaseSpec, ReviewSpec, RunSpec, Unfit};
use crate::domain::slot::Slot;
use crate::domain::time::Stamp;
use crate::git::{Git, Repository, base};
use crate::promote;

mod confinement;

use confinement::Confinement;

/// A run that can start.
#[derive(Debug, Clone)]
pub struct Validated {
    /// What the run is bound to.
    pub spec: RunSpec,
    /// The git program.
    pub git: Git,
    /// The working tree under review, with its repository.
    pub repository: Repository,
    /// The commit that the change is judged against, as it is now.
    pub merge_base: Oid,
    /// HEAD as it is now.
    pub head: Oid,
    /// Where job folders, review trees and review stores go; not made yet.
    pub cache_root: PathBuf,
    /// Things to tell, each said once.
    pub notices: Vec<String>,
}

/// Validates the loop's command line.
///
/// # Errors
/// Whatever is wrong, in the order of this module's description. Nothing was made or changed.
pub fn validate(
    args: &LoopArgs,
    argv: &[OsString],
    environment: &Environment,
    stamp: &Stamp,
) -> Result<Validated, Failure> {
    let options = options::read(args, argv, environment)?;
    load(&user_alone(&options, environment)?)?;
    let place = locate::locate(environment, args.worktree.as_deref())?;
    let given = options.base.as_deref();
    let (base, merge_base, head) = resolve_base(&place.git, &place.source, given)?;
    let newer = NewerRules::find(&place.git, &place.source, &base, &merge_base);
    let line = Line {
        args,
        options: &options,
        environment,
        stamp,
    };
    let commits = Commits {
        base,
        merge_base,
        head,
    };
    match (resolved(&line, place, commits), newer) {
        (Ok(validated), newer) => Ok(validated.telling(newer)),
        (Err(failure), Some(newer)) => Err(newer.explain(failure)),
        (Err(failure), None) => Err(failure),
    }
}

/// What the command line is, with where it was given.
struct Line<'a> {
    args: &'a LoopArgs,
    options: &'a Options,
    environment: &'a Environment,
    stamp: &'a Stamp,
}

/// What the change lies between.
struct Commits {
    base: BaseSpec,
    merge_base: Oid,
    head: Oid,
}

impl Validated {
    /// With the notice that the base has got other rules.
    fn telling(mut self, newer: Option<NewerRules>) -> Self {
        self.notices.extend(newer.map(|newer| newer.notice()));
        self
    }
}

/// The rules at the base, with what the line says, made a run.
fn resolved(line: &Line<'_>, place: Place, commits: Commits) -> Result<Validated, Failure> {
    let (args, options, environment) = (line.args, line.options, line.environment);
    let (git, repository, merge_base) = (place.git, place.source, commits.merge_base);
    let cache_root = environment.cache_root()?;
    let inside = own_cache::refuse(&git, &repository, &cache_root, environment, &options.argv)?;
    let mut layers = sources::sources(environment, &git, &repository, &merge_base)?;
    layers.overrides.clone_from(&options.overrides);
    let config = load(&layers)?;
    let base = by_rule(&config, commits.base, &git, &repository, options)?;
    let read_base = |path: &str| sources::at_base(&git, &repository.git_dir, &merge_base, path);
    let find = finder(environment);
    let world = World {
        repository: &roots(&repository),
        read_base: &read_base,
        programs: Programs::Found(&find),
    };
    let ruled = ruled(line, &config, &base_alone(layers.base_file)?, &world)?;
    let (cast, panel) = (ruled.cast, ruled.panel);
    let reports = rules::reports(&config)?;
    promote::usable(&repository.control_root, &reports)?;

    let confinement = Confinement {
        panel: &panel,
        cast: &cast,
        isolation: ruled.review.isolation,
        repository: &repository,
        cache_root: &cache_root,
    };
    let mut told = [&*options.notices, &config.notices, &cast.notices].concat();
    told.extend(inside);
    told.extend(confinement.check(environment)?);
    told.extend(notices::idle_agents(&panel, environment));
    let (task, of_task) = task(options, &repository, environment)?;
    let (plan, of_plan) = plan_source::read(options, &repository, environment)?;
    told.extend(of_task.into_iter().chain(of_plan));
    let (offered, unfit) = roster(&config, environment, &git, &repository, &merge_base);
    let spec = RunSpec {
        loop_id: LoopId::mint(line.stamp, "loop"),
        command: options.argv.clone(),
        task,
        source_root: text(&repository.source_root)?,
        control_root: text(&repository.control_root)?,
        common_dir: text(&repository.common_dir)?,
        base,
        creator: cast.creator,
        planner: cast.planner,
        arbiter: cast.arbiter,
        review_only: args.review_only,
        plan,
        panel,
        review: ruled.review,
        checks: rules::checks(&config)?,
        setup: config.settings.setup.clone(),
        cache: rules::cache(&config)?,
        job_timeout: config.settings.limits.job_timeout,
        limits: rules::limits(&config, args.wait_for_limits),
        policy: ruled.policy,
        reports,
        allow_filters: args.allow_filter.clone(),
        allow_in_progress: args.allow_in_progress,
        keep_snapshots: args.keep_snapshots,
        templates: templates::read(&config, &git, &repository.git_dir, &merge_base)?,
        roster: offered,
        unfit,
        wait_open_jobs: args.wait_open_jobs,
        single: None,
        config_sha256: config.sha256.clone(),
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    templates::try_out(&config, &spec)?;
    told.extend(notices::of(&git, &repository, &spec));
    Ok(Validated {
        spec,
        git,
        repository,
        merge_base,
        head: commits.head,
        cache_root,
        notices: told,
    })
}

/// Who takes part, and by which rules.
struct Ruled {
    cast: Cast,
    panel: Vec<Slot>,
    policy: Policy,
    review: ReviewSpec,
}

/// Who takes part, where all of it fits together and everybody could work.
fn ruled(
    line: &Line<'_>,
    config: &Config,
    at_base: &Config,
    world: &World<'_>,
) -> Result<Ruled, Failure> {
    let options = line.options;
    // All that the gate will read there: what it refuses would be reviewed for nothing.
    agents::declared(at_base)?;
    let mut cast = roles::cast(config, world, asked(line.args, options))?;
    let panel = panel_of(config, options, world, cast.creator.as_ref())?;
    cast.notices.extend(roles::without_arbiter(&cast, &panel));
    runnable(&panel, &cast, line.environment)?;
    let policy = rules::policy(config)?;
    let review = rules::review(config, options.isolation, options.remote_diff_only)?;
    let declared = panel::declared(at_base, world.read_base)?;
    panel::reaches(&panel, &policy, review.quorum, &declared)?;
    panel::admits_remote(&panel, options.remote_diff_only, &options.argv)?;
    Ok(Ruled {
        cast,
        panel,
        policy,
        review: review.at_base(at_base.settings.review.fail_on),
    })
}

/// The user's own file and the options, before anything is asked of the repository.
fn user_alone(options: &Options, environment: &Environment) -> Result<Sources, Failure> {
    Ok(Sources {
        user_file: sources::user_file(environment)?,
        overrides: options.overrides.clone(),
        ..Sources::default()
    })
}

/// What the command line alone decides of who works.
fn asked<'a>(args: &LoopArgs, options: &'a Options) -> Asked<'a> {
    Asked {
        review_only: args.review_only,
        creator: options.creator.as_deref(),
        arbiter_named: options.arbiter_named,
        plan: options.plan == PlanOption::Planner,
    }
}

/// The task, and what is to be told of where it was read, where that is a file.
fn task(
    options: &Options,
    repository: &Repository,
    environment: &Environment,
) -> Result<(Option<String>, Vec<String>), Failure> {
    let Some(given) = &options.task_file else {
        return Ok((options.task.clone(), Vec::new()));
    };
    let file = text_file::Named {
        option: "--task-file",
        given,
        root: &repository.control_root,
        here: environment.current_dir(),
        line: &options.argv,
    };
    let file = file.read()?;
    let mut told = vec![format!("the task is read from {}", file.path.display())];
    told.extend(file.notice);
    Ok((Some(file.text), told))
}

/// Resolves `--base`: with the commit whose configuration counts, and HEAD.
pub(crate) fn resolve_base(
    git: &Git,
    repository: &Repository,
    given: Option<&str>,
) -> Result<(BaseSpec, Oid, Oid), Failure> {
    let spec = base::resolve(git, repository, given, base::BaseRule::MergeBase)?;
    let head = base::head(git, repository)?;
    let merge_base = match &spec {
        BaseSpec::StartHead { head } => head.clone(),
        BaseSpec::MergeBase { given, tip, .. } => {
            base::merge_base(git, repository, given, tip, &head)?.0
        }
    };
    Ok((spec, merge_base, head))
}

/// The base by the rule that is configured at it.
fn by_rule(
    config: &Config,
    found: BaseSpec,
    git: &Git,
    repository: &Repository,
    options: &Options,
) -> Result<BaseSpec, Failure> {
    let given = options.base.as_deref();
    match config.settings.review.base {
        BaseRule::Ancestor => base::resolve(git, repository, given, base::BaseRule::Ancestor),
        BaseRule::MergeBase => Ok(found),
    }
}

/// The configuration that the gate will see: the base's file over the defaults.
pub(crate) fn base_alone(base_file: Option<File>) -> Result<Config, Failure> {
    load(&Sources {
        base_file,
        ..Sources::default()
    })
}

/// The folders whose programs are never run as they lie there.
pub(crate) fn roots(repository: &Repository) -> [PathBuf; 2] {
    let (source, control) = (&repository.source_root, &repository.control_root);
    [source.clone(), control.clone()]
}

/// The agents that a job may delegate to: every configured program that can be started here; and those that
/// cannot, each with why.
pub(crate) fn roster(
    config: &Config,
    environment: &Environment,
    git: &Git,
    repository: &Repository,
    base: &Oid,
) -> (Vec<Agent>, Vec<Unfit>) {
    let read_base = |path: &str| sources::at_base(git, &repository.git_dir, base, path);
    let find = finder(environment);
    let world = World {
        repository: &roots(repository),
        read_base: &read_base,
        programs: Programs::Found(&find),
    };
    let (mut roster, mut unfit) = (Vec::new(), Vec::new());
    for name in config.settings.agents.keys() {
        let asked = agents::resolve(config, name, &world).and_then(|agent| {
            if let AgentKind::Command(program) = &agent.kind {
                command::check(&agent, program, environment.variables())?;
            }
            Ok(agent)
        });
        match asked {
            Ok(agent) => match &agent.kind {
                AgentKind::Command(_) | AgentKind::Profile(_) => roster.push(agent),
                AgentKind::Checks | AgentKind::Human => {}
            },
            // What cannot be asked is not offered; the panel's own agents were checked before.
            Err(failure) => unfit.push(Unfit {
                name: name.clone(),
                failure,
            }),
        }
    }
    (roster, unfit)
}

fn panel_of(
    config: &Config,
    options: &Options,
    world: &World<'_>,
    creator: Option<&Agent>,
) -> Result<Vec<Slot>, Failure> {
    if let Some(creator) = creator.filter(|_| !panel::is_stated(config)) {
        return panel::self_review(config, world, creator);
    }
    panel::slots(config, world).map_err(|failure| {
        if let (Code::BadSlotName, Some(next)) = (failure.code, once(&options.argv)) {
            failure.next(next)
        } else if failure.code == Code::EmptyPanel {
            // The line that was given, with somebody who reviews.
            let next = options::with(&options.argv, &["--reviewer", "checks"]);
            failure.next(next)
        } else {
            failure
        }
    })
}

/// The line with `--reviewer checks` once, where it stands there twice.
fn once(line: &[String]) -> Option<Vec<String>> {
    let named = |at: &usize| {
        let value = line.get(at + 1).map(String::as_str);
        line[*at] == "--reviewer" && value == Some(agents::CHECKS)
    };
    let second = (0..line.len()).filter(named).nth(1)?;
    Some([&line[..second], &line[second + 2..]].concat())
}

/// Asks of every agent, fallbacks too, what would otherwise be found when its turn comes
/// (scenario T-062).
fn runnable(panel: &[Slot], cast: &Cast, environment: &Environment) -> Result<(), Failure> {
    panel
        .iter()
        .flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback))
        .chain(&cast.creator)
        .chain(&cast.planner)
        .chain(&cast.arbiter)
        .try_for_each(|agent| runnable_one(agent, environment))
}

/// Asks one agent that.
pub(crate) fn runnable_one(agent: &Agent, environment: &Environment) -> Result<(), Failure> {
    match &agent.kind {
        AgentKind::Command(program) => command::check(agent, program, environment.variables()),
        // Its variables are passed on where they are set: a login needs none.
        AgentKind::Profile(_) | AgentKind::Checks => Ok(()),
        AgentKind::Human if Console.is_interactive() => Ok(()),
        AgentKind::Human => {
            let message = format!(
                "the agent {} is a person, who is asked at a terminal, and no terminal is here \
                 (as standard input and standard error)",
                agent.name
            );
            Err(Failure::new(Code::AgentNotRunnable, message).next(["run-loop", "agents"]))
        }
    }
}

/// How programs are found. Relative paths never get here: they name programs of the repository.
pub(crate) fn finder(environment: &Environment) -> impl Fn(&str) -> Result<PathBuf, Failure> + '_ {
    |program| find::program(program, environment.path(), Path::new("/"))
}

/// A path of a run's record.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::new(
            Code::StateUnwritable,
            format!(
                "the path {} is not UTF-8, which a run's record needs",
                path.display()
            ),
        )
    })
}

//! From the command line to a run's specification, before any lock, job or file.
//!
//! What the command line or the configuration alone shows is a usage error and comes first; what
//! the repository shows is a refusal. The repository's configuration lies at the base, so it is
//! read once the base is known, and its mistakes are usage errors all the same.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::agent::{command, find};
use crate::cli::args::review::LoopArgs;
use crate::cli::environment::Environment;
use crate::cli::options::{self, Options};
use crate::cli::{locate, sources};
use crate::config::agents::PROFILES;
use crate::config::settings::BaseRule;
use crate::config::sources::{File, Sources};
use crate::config::world::{Programs, World};
use crate::config::{Config, load, panel, rules};
use crate::domain::agent::AgentKind;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, PlanSource, RunSpec};
use crate::domain::slot::Slot;
use crate::domain::time::Stamp;
use crate::git::{Git, Repository, base};

/// A task file larger than this is refused.
const TASK_CAP: u64 = 256 * 1024;

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
    // The user's own file and the options alone, before anything is asked of the repository.
    load(&Sources {
        user_file: sources::user_file(environment)?,
        overrides: options.overrides.clone(),
        ..Sources::default()
    })?;
    let cache_root = environment.cache_root()?;
    let place = locate::locate(environment, args.worktree.as_deref())?;
    let (git, repository) = (place.git, place.source);
    let (mut base, merge_base, head) = resolve_base(&git, &repository, &options.base)?;

    let mut layers = sources::sources(environment, &git, &repository, &merge_base)?;
    layers.overrides.clone_from(&options.overrides);
    let config = load(&layers)?;
    rules::built(&config)?;
    if config.settings.review.base == BaseRule::Ancestor {
        let rule = base::BaseRule::Ancestor;
        base = base::resolve(&git, &repository, Some(&options.base), rule)?;
    }
    let panel = panel_of(
        &config,
        &options,
        environment,
        &git,
        &repository,
        &merge_base,
    )?;
    runnable(&panel, environment)?;
    let policy = rules::policy(&config)?;
    let review = rules::review(&config, options.isolation, options.remote_diff_only)?;
    let read_base = |path: &str| sources::at_base(&git, &repository.git_dir, &merge_base, path);
    let declared = panel::declared(&base_alone(layers.base_file)?, &read_base)?;
    panel::reaches(&panel, &policy, review.quorum, &declared)?;
    panel::admits_remote(&panel, options.remote_diff_only, &options.argv)?;

    let text = |path: &Path| {
        path.to_str()
            .map(str::to_owned)
            .ok_or_else(|| not_utf8(path))
    };
    let mut notices = options.notices;
    notices.extend(config.notices.iter().cloned());
    notices.extend(idle_agents(&panel, environment));
    let spec = RunSpec {
        loop_id: LoopId::mint(stamp, "loop"),
        command: options.argv,
        task: match &options.task_file {
            Some(path) => Some(task_file(&repository.control_root.join(path))?),
            None => options.task,
        },
        source_root: text(&repository.source_root)?,
        control_root: text(&repository.control_root)?,
        common_dir: text(&repository.common_dir)?,
        base,
        creator: None,
        planner: None,
        arbiter: None,
        review_only: args.review_only,
        plan: PlanSource::Nobody,
        panel,
        review,
        checks: rules::checks(&config)?,
        setup: config.settings.setup.clone(),
        cache: rules::cache(&config)?,
        job_timeout: config.settings.limits.job_timeout,
        policy,
        reports: rules::reports(&config)?,
        allow_filters: args.allow_filter.clone(),
        allow_in_progress: args.allow_in_progress,
        keep_snapshots: args.keep_snapshots,
        config_sha256: config.sha256,
        engine_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(Validated {
        spec,
        git,
        repository,
        merge_base,
        head,
        cache_root,
        notices,
    })
}

/// Resolves `--base`: with the commit whose configuration counts, and HEAD.
pub(crate) fn resolve_base(
    git: &Git,
    repository: &Repository,
    given: &str,
) -> Result<(BaseSpec, Oid, Oid), Failure> {
    let spec = base::resolve(git, repository, Some(given), base::BaseRule::MergeBase)?;
    let head = base::head(git, repository)?;
    let merge_base = match &spec {
        BaseSpec::StartHead { head } => head.clone(),
        BaseSpec::MergeBase { tip, .. } => base::merge_base(git, repository, given, tip, &head)?.0,
    };
    Ok((spec, merge_base, head))
}

/// The configuration that the gate will see: the base's file over the defaults.
pub(crate) fn base_alone(base_file: Option<File>) -> Result<Config, Failure> {
    load(&Sources {
        base_file,
        ..Sources::default()
    })
}

fn panel_of(
    config: &Config,
    options: &Options,
    environment: &Environment,
    git: &Git,
    repository: &Repository,
    merge_base: &Oid,
) -> Result<Vec<Slot>, Failure> {
    let read_base = |path: &str| sources::at_base(git, &repository.git_dir, merge_base, path);
    // Relative paths never get here: they name programs of the repository.
    let find = |program: &str| find::program(program, environment.path(), Path::new("/"));
    let roots = [
        repository.source_root.clone(),
        repository.control_root.clone(),
    ];
    let world = World {
        repository: &roots,
        read_base: &read_base,
        programs: Programs::Found(&find),
    };
    panel::slots(config, &world).map_err(|failure| {
        if failure.code == Code::EmptyPanel {
            // The line that was given, with somebody who reviews.
            let next = options::with(&options.argv, &["--reviewer", "checks"]);
            failure.next(next)
        } else {
            failure
        }
    })
}

/// Asks of every agent, fallbacks too, what would otherwise be found when its turn comes
/// (scenario T-062).
fn runnable(panel: &[Slot], environment: &Environment) -> Result<(), Failure> {
    let agents = panel
        .iter()
        .flat_map(|slot| std::iter::once(&slot.agent).chain(&slot.fallback));
    for agent in agents {
        match &agent.kind {
            AgentKind::Command(program) => {
                command::check(agent, program, environment.variables())?;
            }
            AgentKind::Checks | AgentKind::Human => {}
        }
    }
    Ok(())
}

/// Agents that are installed and not used, when nobody reads: named, never started.
fn idle_agents(panel: &[Slot], environment: &Environment) -> Option<String> {
    if panel.iter().any(Slot::is_reader) {
        return None;
    }
    let found: Vec<&str> = PROFILES
        .into_iter()
        .filter(|name| find::program(name, environment.path(), Path::new("/")).is_ok())
        .collect();
    (!found.is_empty()).then(|| {
        format!(
            "only `checks` reviews, which reads nothing; found on PATH and not started: {} \
             (define one as `kind: command` and name it with --reviewer)",
            found.join(", ")
        )
    })
}

/// The task, from a regular file that is not too large and not blank.
fn task_file(path: &Path) -> Result<String, Failure> {
    let refused = |what: &dyn std::fmt::Display| {
        Failure::new(
            Code::BadValue,
            format!("--task-file {}: {what}", path.display()),
        )
        .next(["ls".to_owned(), "-l".to_owned(), path.display().to_string()])
    };
    let data = fs_err::metadata(path).map_err(|error| refused(&error))?;
    if !data.is_file() {
        return Err(refused(&"it is no regular file"));
    }
    if data.len() > TASK_CAP {
        return Err(refused(&format!(
            "it has {} bytes; {TASK_CAP} are allowed",
            data.len()
        )));
    }
    let mut text = String::new();
    fs_err::File::open(path)
        .and_then(|file| file.take(TASK_CAP).read_to_string(&mut text))
        .map_err(|error| refused(&error))?;
    if text.trim().is_empty() {
        return Err(refused(&"it is blank"));
    }
    Ok(text)
}

fn not_utf8(path: &Path) -> Failure {
    Failure::new(
        Code::StateUnwritable,
        format!(
            "the path {} is not UTF-8, which a run's record needs",
            path.display()
        ),
    )
}

//! `run-loop worktree prepare` and `remove`: wiring.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde_json::json;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::checks::setup::{self, Setup};
use crate::cli::args::Format;
use crate::cli::args::worktree::{PrepareArgs, RemoveArgs};
use crate::cli::environment::Environment;
use crate::cli::{locate, output, sources, validate};
use crate::domain::code::Code;
use crate::domain::event::StopCause;
use crate::domain::exit::Exit;
use crate::domain::failure::{Failure, NextCommand};
use crate::git::Repository;
use crate::git::worktree::{prepare, remove};
use crate::process::guard::GuardProgram;
use crate::runtime::signals::Signals;

/// What git may need to reach the remotes of submodules; nothing else of it reaches git.
const TRANSPORT: [&str; 14] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "USER",
    "LOGNAME",
];

/// Makes a working tree for a branch. Standard output gets `BASE=` and `WORKTREE=` and nothing
/// else, and only when everything is done.
///
/// # Errors
/// Why there is no working tree; everything that was made is taken back then, or named.
pub(crate) fn prepare(
    args: &PrepareArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let git = locate::git(environment)?;
    let here = environment.current_dir();
    let repository = match Repository::discover(&git, here) {
        Err(failure) if failure.code == Code::NoWorkingTree => Repository::bare(&git, here)?,
        found => found?,
    };
    let variables = |name: &str| Some((OsString::from(name), environment.get(name)?.to_owned()));
    let request = prepare::Request {
        git: &git,
        repository: &repository,
        branch: &args.branch,
        base: args.base.as_deref(),
        at: args.at.as_deref(),
        submodules: args.submodules,
        transport: TRANSPORT.into_iter().filter_map(variables).collect(),
    };
    let plan = prepare::plan(&request)?;
    for notice in &plan.notices {
        output::note(notice);
    }
    // Read at the base, and before anything is made: a wrong configuration is a usage error.
    let file = sources::base_file(&git, &repository.git_dir, &plan.base)?;
    let config = validate::base_alone(file)?;
    let stops = Stops::listen(&args.branch, again(args, &plan))?;
    let mut run_setup = |tree: &Path| {
        stops.run_setup(
            config.settings.setup.clone(),
            config.settings.limits.job_timeout,
            tree,
            environment.variables(),
        )
    };
    prepare::carry_out(&request, &plan, &mut run_setup, &|| stops.check())?;
    let path = plan.path.display();
    let done = if plan.kept { "kept" } else { "made" };
    let review = NextCommand(vec![
        "run-loop".to_owned(),
        "--worktree".to_owned(),
        path.to_string(),
        "--base".to_owned(),
        plan.base.to_string(),
        "--review-only".to_owned(),
    ]);
    output::note(&format!(
        "{done} {path} on {}; review it with: {review}",
        args.branch
    ));
    output::data(&match format {
        Format::Human => format!("BASE={}\nWORKTREE={path}\n", plan.base),
        Format::Json | Format::Ndjson => {
            let document = json!({
                "version": 1,
                "base": plan.base,
                "worktree": plan.path,
                "branch": args.branch,
                "kept": plan.kept,
            });
            output::document(&document)
        }
    });
    Ok(Exit::Approved)
}

/// The command that prepares the same working tree, wherever it is run in the repository.
fn again(args: &PrepareArgs, plan: &prepare::Plan) -> Vec<String> {
    let mut line: Vec<String> = ["run-loop", "worktree", "prepare", &args.branch]
        .map(str::to_owned)
        .into();
    if let Some(base) = &args.base {
        line.extend(["--base".to_owned(), base.clone()]);
    }
    if args.at.is_some() {
        line.extend(["--at".to_owned(), plan.path.display().to_string()]);
    }
    if args.submodules {
        line.push("--submodules".to_owned());
    }
    line
}

/// Removes a working tree, or says that it could be.
///
/// # Errors
/// Why it is not removed; nothing was changed then, unless git failed at it.
pub(crate) fn remove(
    args: &RemoveArgs,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let git = locate::git(environment)?;
    let path = environment.current_dir().join(&args.path);
    let repository = match Repository::discover(&git, environment.current_dir()) {
        // Started outside of any repository, the folder itself says whose it is.
        Err(failure) if failure.code == Code::NotARepository && path.is_dir() => {
            Repository::discover(&git, &path)?
        }
        found => found?,
    };
    let request = remove::Request {
        git: &git,
        repository: &repository,
        path: &path,
        delete_ignored: args.delete_ignored,
        allow_filters: &args.allow_filter,
    };
    let seen = remove::look(&request)?;
    if !args.dry_run {
        remove::carry_out(&request, &seen)?;
    }
    let stays = match &seen.branch {
        Some((name, tip)) => format!("; the branch {name} stays at {tip}"),
        None => String::new(),
    };
    let shown = seen.path.display();
    output::data(&match format {
        Format::Human if args.dry_run => {
            output::printable(&format!("{shown} could be removed{stays}\n"))
        }
        Format::Human => output::printable(&format!("removed {shown}{stays}\n")),
        Format::Json | Format::Ndjson => {
            let document = json!({
                "version": 1,
                "worktree": seen.path,
                "removed": !args.dry_run,
                "branch": seen.branch.as_ref().map(|(name, _)| name),
                "tip": seen.branch.as_ref().map(|(_, tip)| tip),
            });
            output::document(&document)
        }
    });
    Ok(Exit::Approved)
}

/// Signals that came while a working tree is made: what was made is taken back then.
struct Stops {
    runtime: Runtime,
    stop: CancellationToken,
    cause: Arc<OnceLock<StopCause>>,
    branch: String,
    /// The command that was stopped.
    again: Vec<String>,
}

impl Stops {
    fn listen(branch: &str, again: Vec<String>) -> Result<Self, Failure> {
        let internal = |error: std::io::Error| Failure::new(Code::Internal, error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(internal)?;
        let stop = CancellationToken::new();
        let cause = Arc::new(OnceLock::new());
        let mut signals = {
            let _entered = runtime.enter();
            Signals::listen().map_err(internal)?
        };
        let (told, seen) = (stop.clone(), Arc::clone(&cause));
        runtime.spawn(async move {
            let first = signals.next().await;
            seen.get_or_init(|| first);
            told.cancel();
        });
        Ok(Self {
            runtime,
            stop,
            cause,
            branch: branch.to_owned(),
            again,
        })
    }

    /// Whether a signal came.
    fn check(&self) -> Result<(), Failure> {
        let (code, what) = match self.cause.get() {
            None => return Ok(()),
            Some(StopCause::Interrupt | StopCause::Cancel) => (Code::Interrupted, "interrupted"),
            Some(StopCause::Terminate) => (Code::Terminated, "terminated"),
        };
        let message = format!("{what} while the working tree of {} was made", self.branch);
        Err(Failure::new(code, message).next(self.again.clone()))
    }

    fn run_setup(
        &self,
        commands: Vec<String>,
        timeout: u64,
        tree: &Path,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<(), Failure> {
        let scratch = tempfile::tempdir()
            .map_err(|error| Failure::new(Code::WorktreeFailed, error.to_string()))?;
        let setup = Setup {
            commands,
            tree: tree.to_owned(),
            scratch: scratch.path().to_owned(),
            env: env.clone(),
            timeout,
            guard: GuardProgram::own(),
        };
        let ran = self.runtime.block_on(setup::run(&setup, &self.stop));
        // A command that a signal stopped did not fail.
        self.check().and(ran)
    }
}

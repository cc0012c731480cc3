//! What the machine has, wherever the command is started.

use std::path::Path;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Told;
use crate::agent::find;
use crate::cli::environment::Environment;
use crate::cli::locate;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::git::Git;
use crate::git::store::upkeep::Upkeep;
use crate::process::command::Command;
use crate::process::confine;
use crate::process::guard::GuardProgram;
use crate::process::supervise::{Supervision, supervise};
use crate::report::doctor::Finding;
use crate::report::size::size;
use crate::store::file_system::FileSystem;
use crate::store::probe;

/// What review stores may take before `cleanup` takes from them: its own default.
const STORE_BUDGET: u64 = 2 << 30;
/// Less free space than this is told.
const LITTLE: u64 = 512 << 20;
/// How long the guard's trial may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The git program, if it will do.
pub(super) fn git(environment: &Environment, told: &mut Told) -> Option<Git> {
    match locate::git(environment) {
        Ok(git) => {
            let (major, minor) = git.version();
            let program = git.program().display();
            told.add(Finding::ok("git", format!("{major}.{minor}, {program}")));
            Some(git)
        }
        Err(failure) => {
            told.add(Finding::problem("git", failure));
            None
        }
    }
}

/// The folder for what can be made again: job folders, review trees, review stores.
pub(super) fn cache(environment: &Environment, told: &mut Told) {
    let root = match environment.cache_root() {
        Ok(root) => root,
        Err(failure) => return told.add(Finding::problem("cache", failure)),
    };
    told.add(match folder(&root) {
        Ok(folder) => space("cache", &root, folder),
        Err(failure) => Finding::problem("cache", failure),
    });
    let stores = Upkeep::open(&root).and_then(|upkeep| {
        let listed = upkeep.map(|upkeep| upkeep.list()).transpose();
        listed.map_err(|error| Failure::new(Code::StateUnwritable, error.to_string()))
    });
    told.add(match stores {
        Err(failure) => Finding::problem("review stores", failure),
        Ok(stores) => {
            let stores = stores.unwrap_or_default();
            let bytes: u64 = stores.iter().map(|store| store.bytes).sum();
            let text = format!("{}, {}", stores.len(), size(bytes));
            if bytes > STORE_BUDGET {
                let text = format!("{text}, more than the {} they may have", size(STORE_BUDGET));
                Finding::warning("review stores", text, ["run-loop", "cleanup"])
            } else {
                Finding::ok("review stores", text)
            }
        }
    });
}

/// A folder that is to be written to, or the one above it that it will be made in.
#[derive(Clone, Copy)]
pub(super) struct Written {
    /// Whether it is there already.
    there: bool,
    system: FileSystem,
}

/// Tries a folder; what is not there yet must be possible to make.
pub(super) fn folder(path: &Path) -> Result<Written, Failure> {
    let unusable = |shown: &Path, error: std::io::Error| {
        let shown = shown.display().to_string();
        Failure::new(
            Code::StateUnwritable,
            format!("{shown} cannot be used: {error}"),
        )
        .next(["ls", "-ld", "--", &shown])
    };
    let there = path
        .ancestors()
        .find(|folder| fs_err::symlink_metadata(folder).is_ok())
        .unwrap_or_else(|| Path::new("/"));
    let is_there = there == path;
    if is_there {
        probe::probe(path)?;
    } else {
        use rustix::fs::{Access, access};
        access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(|e| unusable(there, e.into()))?;
    }
    let system = FileSystem::of(there).map_err(|error| unusable(there, error))?;
    Ok(Written {
        there: is_there,
        system,
    })
}

/// How a folder stands that can be written to.
pub(super) fn space(about: &str, path: &Path, folder: Written) -> Finding {
    let Written { there, system } = folder;
    let shown = path.display().to_string();
    let name = system.name.unwrap_or("an unknown file system");
    let state = if there {
        "files, locks and journals work"
    } else {
        "not there yet, and can be made"
    };
    let text = format!("{shown} ({name}): {state}; {} free", size(system.available));
    if system.is_shared {
        let text = format!("{text}; on {name} a lock may not hold other machines off");
        Finding::warning(about, text, ["df", "-T", "--", &shown])
    } else if system.available < LITTLE {
        Finding::warning(about, text, ["run-loop", "cleanup", "--dry-run"])
    } else {
        Finding::ok(about, text)
    }
}

/// Whether what a job starts and leaves behind is ended: a real job is tried.
pub(super) fn guard(told: &mut Told) {
    told.add(match trial() {
        Ok(()) => Finding::ok("guard", "ends what a job leaves running"),
        Err(why) => Finding::problem(
            "guard",
            Failure::new(
                Code::Internal,
                format!("a job cannot be guarded here: {why}"),
            )
            .next(["run-loop", "demo"]),
        ),
    });
}

fn trial() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    // The sleeper loses its parent and is then a child of whoever is its subreaper.
    let command = Command::new("/bin/sh", folder.path())
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .args(["-c", "sleep 600 & exit 0"]);
    let limits = Supervision::new(&GuardProgram::own(), LIMIT, &folder.path().join("capture"));
    let done = runtime.block_on(supervise(&command, limits, CancellationToken::new()));
    match done.ended {
        Ended::Exited { code: 0 } if done.gone => Ok(()),
        Ended::Exited { code: 0 } => Err("what a job leaves running is not ended".to_owned()),
        Ended::NotStarted { failure } => Err(failure.message),
        other @ (Ended::Exited { .. }
        | Ended::Failed { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::Stopped
        | Ended::Lost
        | Ended::Interrupted) => Err(format!("a trial ended otherwise than it should: {other:?}")),
    }
}

/// What there is to confine agents with.
pub(super) fn confinement(environment: &Environment, told: &mut Told) {
    told.add(match confine::landlock_version() {
        Some(version) => Finding::ok("confinement", format!("Landlock, version {version}")),
        None => Finding::warning(
            "confinement",
            "the kernel has no Landlock of version 3 or newer: agents that are to be confined are not",
            ["uname", "-r"],
        ),
    });
    if rustix::process::geteuid().is_root() {
        let text = "this is root: a job that is not confined can read the keys of all agents in run-loop's \
                    environment";
        told.add(Finding::warning("keys", text, ["run-loop", "agents"]));
    }
    told.add(match user_namespaces(environment) {
        Some(true) => Finding::ok(
            "user namespaces",
            "allowed; codex confines its commands by them",
        ),
        Some(false) => Finding::warning(
            "user namespaces",
            "not allowed: programs that confine their own commands by them (codex) cannot",
            ["sysctl", "user.max_user_namespaces"],
        ),
        None => Finding::warning(
            "user namespaces",
            "it is not known whether they are allowed: `unshare` is not on PATH",
            ["sysctl", "user.max_user_namespaces"],
        ),
    });
}

/// Whether this user may make one: it is tried.
fn user_namespaces(environment: &Environment) -> Option<bool> {
    let unshare = find::program("unshare", environment.path(), Path::new("/")).ok()?;
    let command = Command::new(unshare, "/").args(["--user", "--map-root-user", "/bin/true"]);
    command.output().ok().map(|output| output.status.success())
}

//! The repository and the working tree that a command is about.

use std::path::{Path, PathBuf};

use crate::cli::environment::{Environment, WORKTREE};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::read::layout;
use crate::git::repository::worktree_source;
use crate::git::store::upkeep::Upkeep;
use crate::git::{Git, GitEnvironment, Repository};

/// Git, and the working tree that the command is about.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The program.
    pub(crate) git: Git,
    /// The working tree, with its repository.
    pub(crate) source: Repository,
}

/// Finds git, and the working tree: `--worktree`, else its variable, else the current folder's.
///
/// # Errors
/// `GitTooOld`, `NotARepository`, `NoWorkingTree`, or why the option's folder is refused (M-020).
pub(crate) fn locate(environment: &Environment, worktree: Option<&Path>) -> Result<Place, Failure> {
    let git = git(environment)?;
    let here = environment.current_dir();
    let Some(path) = named(environment, worktree) else {
        let source = Repository::discover(&git, here)
            .map_err(|failure| towards_a_known_one(failure, environment))?;
        return Ok(Place { git, source });
    };
    let control = match Repository::discover(&git, here) {
        // Started outside of any repository, there is none that the folder could be foreign to.
        Err(failure) if failure.code == Code::NotARepository && path.is_dir() => {
            Repository::discover(&git, &path)?
        }
        other => other?,
    };
    let source = worktree_source(&git, &control, &path);
    let source = source.map_err(|failure| match worktree {
        Some(_) => failure,
        // Nobody typed the option.
        None => Failure {
            message: format!(
                "the variable {} names the working tree: {}",
                WORKTREE.name, failure.message
            ),
            ..failure
        }
        .next(WORKTREE.unset()),
    })?;
    Ok(Place { git, source })
}

/// Where a folder is in no repository at all, the next command is about one whose runs are known here.
fn towards_a_known_one(failure: Failure, environment: &Environment) -> Failure {
    let here = environment.current_dir();
    let is_in_one = here.ancestors().any(|it| it.join(".git").exists());
    if failure.code != Code::NotARepository || is_in_one {
        return failure;
    }
    let cache = environment.cache_root().ok();
    let upkeep = cache.and_then(|cache| Upkeep::open(&cache).ok().flatten());
    let stores = upkeep
        .and_then(|upkeep| upkeep.list().ok())
        .unwrap_or_default();
    let mut roots = stores.into_iter().filter_map(|store| {
        let common = store.common_dir?;
        let root = common
            .parent()
            .filter(|_| common.ends_with(".git") && common.is_dir())?;
        root.to_str().map(str::to_owned)
    });
    match roots.next() {
        Some(root) => failure.next(["run-loop", "status", "--worktree", &root]),
        None => failure.next(["run-loop", "--help"]),
    }
}

/// The working tree that a command is about which only reads what we wrote: git is started only where
/// the place cannot be told without it.
///
/// # Errors
/// As [`locate`].
pub(crate) fn source(
    environment: &Environment,
    worktree: Option<&Path>,
) -> Result<Repository, Failure> {
    let here = fs_err::canonicalize(environment.current_dir()).ok();
    let here = here.filter(|_| named(environment, worktree).is_none());
    match here.and_then(|here| layout::of(&here).ok()) {
        Some(found) => Ok(found),
        None => locate(environment, worktree).map(|place| place.source),
    }
}

/// The working tree that the option or its variable names.
fn named(environment: &Environment, worktree: Option<&Path>) -> Option<PathBuf> {
    worktree
        .map(Path::to_owned)
        .or_else(|| environment.get(WORKTREE.name).map(PathBuf::from))
        .map(|path| environment.current_dir().join(path))
}

/// Finds git with what it may see of the user's environment.
///
/// # Errors
/// `GitTooOld`.
pub(crate) fn git(environment: &Environment) -> Result<Git, Failure> {
    let variable = |name: &str| environment.get(name).map(ToOwned::to_owned);
    Git::find_in(&GitEnvironment {
        path: environment.path().to_owned(),
        home: variable("HOME"),
        xdg_config_home: variable("XDG_CONFIG_HOME"),
        allow_protocol: variable("GIT_ALLOW_PROTOCOL"),
        ..GitEnvironment::default()
    })
}

//! The repository and the working tree that a command is about.

use std::path::{Path, PathBuf};

use crate::cli::environment::{Environment, WORKTREE};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::repository::worktree_source;
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
    let worktree: Option<PathBuf> = worktree
        .map(Path::to_owned)
        .or_else(|| environment.get(WORKTREE.name).map(PathBuf::from))
        .map(|path| here.join(path));
    let Some(path) = worktree else {
        let source = Repository::discover(&git, here)?;
        return Ok(Place { git, source });
    };
    let control = match Repository::discover(&git, here) {
        // Started outside of any repository, there is none that the folder could be foreign to.
        Err(failure) if failure.code == Code::NotARepository && path.is_dir() => {
            Repository::discover(&git, &path)?
        }
        other => other?,
    };
    let source = worktree_source(&git, &control, &path)?;
    Ok(Place { git, source })
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
        ..GitEnvironment::default()
    })
}

//! Opening what the commands that read have in common.

use std::io::Write;

use crate::cli::args::{Format, RepositoryArgs};
use crate::cli::environment::Environment;
use crate::cli::history::History;
use crate::cli::locate;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::runtime::clock;
use crate::store::StateFolder;

/// Runs a command that reads, on the state of the repository that is meant. Nothing is made.
pub(crate) fn with_history(
    repository: &RepositoryArgs,
    environment: &Environment,
    format: Format,
    run: impl FnOnce(&History<'_>, &mut dyn Write) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let source = locate::source(environment, repository.worktree.as_deref())?;
    let state = StateFolder::find(&source.common_dir)?;
    let history = History {
        state: state.as_ref(),
        source_root: Some(&source.source_root),
        control_root: Some(&source.control_root),
        format,
        now: clock::now(),
    };
    run(&history, &mut anstream::stdout().lock())
}

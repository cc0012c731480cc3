//! Opening what the commands that read have in common.

use std::io::Write;

use crate::cli::args::{Format, RepositoryArgs};
use crate::cli::environment::Environment;
use crate::cli::history::History;
use crate::cli::{found, locate, output};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::git::Repository;
use crate::runtime::clock;
use crate::store::StateFolder;

/// The state of the repository that a command is about which reads.
pub(crate) struct Reading {
    state: Option<StateFolder>,
    /// The working tree of this place; `None` where the run is of another repository.
    source: Option<Repository>,
    format: Format,
}

impl Reading {
    /// The state of this place, unless the run that is named is not there and another repository that is
    /// known here has it. Nothing is made.
    ///
    /// # Errors
    /// As [`locate::source`]; else when nobody knows the run, or several repositories do.
    pub(crate) fn open(
        repository: &RepositoryArgs,
        named: Option<&str>,
        environment: &Environment,
        format: Format,
    ) -> Result<Self, Failure> {
        let here = locate::source(environment, repository.worktree.as_deref());
        let state = match &here {
            Ok(source) => StateFolder::find(&source.common_dir)?,
            Err(_) => None,
        };
        if let Some(named) = named.filter(|named| !named.is_empty())
            && !found::knows(state.as_ref(), named)?
            && let Some(there) = found::elsewhere(environment, named, here.as_ref().err())?
        {
            return Ok(Self {
                state: StateFolder::find(&there)?,
                source: None,
                format,
            });
        }
        Ok(Self {
            state,
            source: Some(here?),
            format,
        })
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The command's own.
    pub(crate) fn with(
        &self,
        run: impl FnOnce(&History<'_>, &mut dyn Write) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let source = self.source.as_ref();
        let history = History {
            state: self.state.as_ref(),
            source_root: source.map(|source| source.source_root.as_path()),
            control_root: source.map(|source| source.control_root.as_path()),
            format: self.format,
            now: clock::now(),
        };
        run(&history, &mut output::stdout())
    }
}

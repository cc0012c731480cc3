//! The commands that go on with a run, or end it: `resume`, `cancel`.

use clap::Args;

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// `run-loop resume` and `run-loop cancel`.
#[derive(Debug, Clone, Args)]
pub struct ControlArgs {
    /// A run's id or a unique prefix; default the newest run of this source that did not end
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

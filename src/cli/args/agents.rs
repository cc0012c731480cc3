//! `run-loop agents`.

use clap::Args;

use crate::cli::args::FormatArgs;

/// `run-loop agents`.
#[derive(Debug, Clone, Args)]
pub struct AgentsArgs {
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

//! `run-loop doctor`.

use clap::Args;

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// Check what a review needs.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct DoctorArgs {
    /// Also ask this agent one small question; this costs one call of its model
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The base whose run-loop.yaml counts; default HEAD
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

const HELP: &str = "\
Ends 0 when a review can run, warnings or not; else as a run would that meets the first problem. \
Without --agent no agent is asked for more than its version.";

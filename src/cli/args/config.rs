//! `run-loop config`.

use clap::{Args, Subcommand};

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// What to do with the configuration.
#[derive(Debug, Clone, Subcommand)]
pub enum ConfigCommand {
    /// Print the effective configuration
    Show(ShowArgs),
    /// Let the commands in the working copy's run-loop.yaml run, as it is now
    Trust(TrustArgs),
}

/// `run-loop config show`.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Also print which layer, file and line each value comes from
    #[arg(long)]
    pub origin: bool,
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

/// `run-loop config trust`.
#[derive(Debug, Clone, Args)]
pub struct TrustArgs {
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
}

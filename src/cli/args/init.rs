//! `run-loop init`.

use clap::Args;

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// Write a first `run-loop.yaml`.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct InitArgs {
    /// Write it without asking
    #[arg(long)]
    pub yes: bool,
    /// Let this agent review, such as claude or codex:MODEL; may be given more than once
    #[arg(long, value_name = "AGENT")]
    pub reviewer: Vec<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

const HELP: &str = "\
The file names the commands that the repository defines (Makefile, justfile, Cargo.toml, package.json, \
pyproject.toml, go.mod) and no others. It is shown before it is written, what is there is never \
overwritten, and the file that was written is trusted as `run-loop config trust` does.";

//! The commands that read what runs left: `status`, `list`, `show`, `log`, `events`.

use clap::Args;

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// `run-loop status`.
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// A run's id or a unique prefix; default the newest run of this source
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop list`.
#[derive(Debug, Clone, Args)]
pub struct ListArgs {
    /// How many runs at most, newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop show`.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Show tokens and cost, by job, round and agent
    #[arg(long)]
    pub cost: bool,
    /// A run's id or a unique prefix; default the newest run of this source
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Its findings: who raised each one, and what was said of it since
    #[arg(long, conflicts_with = "cost")]
    pub findings: bool,
    /// Its plan, and what challenge and refinement changed in it
    #[arg(long, conflicts_with_all = ["findings", "cost"])]
    pub plan: bool,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop log`.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// A run's id or a unique prefix; default the newest run of this source
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Go on until the run ends, and tell what its jobs do meanwhile
    #[arg(long, short)]
    pub follow: bool,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop events`.
#[derive(Debug, Clone, Args)]
pub struct EventsArgs {
    /// A run's id or a unique prefix; default the newest run of this source
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// Go on until the run ends
    #[arg(long, short)]
    pub follow: bool,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
}

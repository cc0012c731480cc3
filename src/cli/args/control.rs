//! The commands that go on with a run, or end it: `resume`, `cancel`.

use clap::Args;

use crate::cli::args::review::usd;
use crate::cli::args::{FormatArgs, RepositoryArgs};

/// `run-loop resume`.
#[derive(Debug, Clone, Args)]
pub struct ResumeArgs {
    /// The run.
    #[command(flatten)]
    pub control: ControlArgs,
    /// What its jobs may cost in all, with what they cost before
    #[arg(long, value_name = "USD", value_parser = usd)]
    pub max_cost: Option<f64>,
    /// How many seconds it may run in all, with those that it ran before
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub max_wall: Option<u64>,
    /// Wait in place until a rate limit or quota is lifted, now and from here on
    #[arg(long)]
    pub wait_for_limits: bool,
}

/// `run-loop cancel`, and what `run-loop resume` has in common with it.
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

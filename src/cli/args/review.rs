//! The loop's own options.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::FormatArgs;
use crate::domain::isolation::Isolation;
use crate::domain::severity::Severity;

/// The bare command: the loop.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
#[derive(Debug, Clone, Default, Args)]
pub struct LoopArgs {
    /// What the change is for: one argument with white space in it
    #[arg(value_name = "TASK", num_args = 0..)]
    pub task: Vec<String>,
    /// A task of a single word
    #[arg(last = true, value_name = "TASK", num_args = 0..)]
    pub task_after: Vec<String>,
    /// Read the task from a file, found from the repository's main working tree
    #[arg(long, value_name = "FILE", help_heading = "What is reviewed")]
    pub task_file: Option<PathBuf>,
    /// The working tree to review; default the current one, or `RUN_LOOP_WORKTREE`
    #[arg(long, value_name = "PATH", help_heading = "What is reviewed")]
    pub worktree: Option<PathBuf>,
    /// What the change is judged against: the merge base of REF and HEAD
    #[arg(long, value_name = "REF", help_heading = "What is reviewed")]
    pub base: Option<String>,
    /// Review only: nothing is written to the source but promoted evidence
    #[arg(long, help_heading = "What is reviewed")]
    pub review_only: bool,
    /// Accept an unfinished merge, rebase, cherry-pick, revert or bisect
    #[arg(long, help_heading = "What is reviewed")]
    pub allow_in_progress: bool,
    /// Let this content filter of your git configuration run; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "What is reviewed")]
    pub allow_filter: Vec<String>,
    /// Keep each snapshot as refs/run-loop/RUN/ROUND
    #[arg(long, help_heading = "What is reviewed")]
    pub keep_snapshots: bool,
    /// An agent that reviews, in place of those configured; may be repeated
    #[arg(long, value_name = "AGENT", help_heading = "Who works")]
    pub reviewer: Vec<String>,
    /// The agent that writes
    #[arg(long, value_name = "AGENT", help_heading = "Who works")]
    pub creator: Option<String>,
    /// The agent that plans
    #[arg(long, value_name = "AGENT", help_heading = "Who works")]
    pub planner: Option<String>,
    /// The agent that rules on disputed findings
    #[arg(long, value_name = "AGENT", help_heading = "Who works")]
    pub arbiter: Option<String>,
    /// Let the planner write a plan first
    #[arg(long, help_heading = "Who works")]
    pub plan: bool,
    /// Work by this plan, found from the repository's main working tree
    #[arg(long, value_name = "FILE", help_heading = "Who works")]
    pub plan_file: Option<PathBuf>,
    /// Findings at least this bad block; default medium
    #[arg(long, value_name = "SEVERITY", value_parser = severity, help_heading = "Rules")]
    pub fail_on: Option<Severity>,
    /// How many rounds at most; default 5, and 3 or 4 for a small change
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = "Rules")]
    pub max_rounds: Option<u32>,
    /// A job's budget; default 3600
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800), help_heading = "Rules")]
    pub job_timeout: Option<u64>,
    /// How reviewers are kept apart from the source; default worktree
    #[arg(long, value_name = "MODE", help_heading = "Rules")]
    pub review_isolation: Option<IsolationArg>,
    /// Let reviewers that cannot see this machine judge by the diff alone
    #[arg(long, value_name = "MODE", help_heading = "Rules")]
    pub remote_review: Option<RemoteArg>,
    /// Also wait for open jobs that no job started
    #[arg(long, help_heading = "Rules")]
    pub wait_open_jobs: bool,
    /// How long delegated jobs are waited for; default a job's budget and 300
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800), help_heading = "Rules")]
    pub job_wait: Option<u64>,
    /// Put the run aside when its jobs have cost this much, before the next one is asked
    #[arg(long, value_name = "USD", value_parser = usd, help_heading = "Rules")]
    pub max_cost: Option<f64>,
    /// Put the run aside when it ran for this time; what is running is ended
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800), help_heading = "Rules")]
    pub max_wall: Option<u64>,
    /// Wait in place until a rate limit or quota is lifted, in place of ending with 75
    #[arg(long, help_heading = "Rules")]
    pub wait_for_limits: bool,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// A value of `--review-isolation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationArg {
    /// A detached checkout for each slot
    Worktree,
    /// The source itself
    Env,
}

impl From<IsolationArg> for Isolation {
    fn from(value: IsolationArg) -> Self {
        match value {
            IsolationArg::Worktree => Self::Worktree,
            IsolationArg::Env => Self::Env,
        }
    }
}

/// A value of `--remote-review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RemoteArg {
    /// The whole diff stands in the prompt, uncut, and is all they see
    DiffOnly,
}

fn severity(text: &str) -> Result<Severity, String> {
    Severity::parse(text)
        .ok_or_else(|| "use critical, high, medium, low or info (P0 to P3 are read too)".to_owned())
}

pub(super) fn usd(text: &str) -> Result<f64, String> {
    let amount: Option<f64> = text
        .parse()
        .ok()
        .filter(|usd: &f64| usd.is_finite() && *usd > 0.0);
    amount.ok_or_else(|| "use an amount above 0".to_owned())
}

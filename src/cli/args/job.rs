//! `run-loop job`: single delegations.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::cli::args::{FormatArgs, RepositoryArgs};
use crate::domain::delegation::Signal;

/// `run-loop job …`.
#[derive(Debug, Clone, Subcommand)]
pub enum JobCommand {
    /// Delegate a job: inside a job as its sub-job, beside a running loop to that loop, else as a run of its own
    Submit(SubmitArgs),
    /// Wait until a job is over
    Wait(WaitArgs),
    /// List delegated jobs
    List(JobListArgs),
    /// Show where a job stands, or its report
    Show(JobShowArgs),
    /// Say what happens in a job; meant for its agent
    Event(EventArgs),
    /// End a job
    Cancel(JobCancelArgs),
    /// Dispatch a job that ended once more, as a new attempt
    Redispatch(RedispatchArgs),
}

/// `run-loop job submit`.
#[derive(Debug, Clone, Args)]
pub struct SubmitArgs {
    /// Who is asked: an agent of the configuration
    #[arg(long, value_name = "AGENT")]
    pub agent: String,
    /// The model, where its program takes one; default its entry's, then the program's own
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// The effort, where its program takes one; default its entry's, then the program's own
    #[arg(long, value_name = "EFFORT")]
    pub effort: Option<String>,
    /// What it is asked, as a file
    #[arg(long, value_name = "FILE")]
    pub prompt_file: PathBuf,
    /// A JSON Schema that its answer must fit: given to the agent, checked here, and asked for once more
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Its budget; default its agent's, then that of the run that it is a job of, which is `RUN_LOOP_TIMEOUT`, else 3600, where it is one of its own
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub timeout: Option<u64>,
    /// Go on in the session of this delegated job, which is over, with the same agent; where that is gone, in a new one that is told what was reported
    #[arg(long = "continue", value_name = "JOB")]
    pub continues: Option<String>,
    /// The job inside which it is delegated; inside a job that is the job itself
    #[arg(long, value_name = "JOB")]
    pub parent_job: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop job wait`.
#[derive(Debug, Clone, Args)]
pub struct WaitArgs {
    /// The job's id, or a unique prefix
    #[arg(value_name = "JOB")]
    pub job: String,
    /// How long; default the job's budget and 300 seconds more
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub timeout: Option<u64>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop job list`.
#[derive(Debug, Clone, Args)]
pub struct JobListArgs {
    /// Only jobs that were delegated inside this one, at whatever depth
    #[arg(long, value_name = "JOB")]
    pub parent: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop job show`.
#[derive(Debug, Clone, Args)]
pub struct JobShowArgs {
    /// The job's id, or a unique prefix
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Print its report and nothing else
    #[arg(long)]
    pub report: bool,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// What can be said of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EventKind {
    /// It began
    Started,
    /// It makes progress
    Progress,
    /// It waits for somebody's permission
    // Messages and events spell it so (row M-140).
    #[value(alias = "permission_required")]
    PermissionRequired,
    /// It is done
    Completed,
    /// It failed
    Error,
}

impl From<EventKind> for Signal {
    fn from(kind: EventKind) -> Self {
        match kind {
            EventKind::Started => Self::Started,
            EventKind::Progress => Self::Progress,
            EventKind::PermissionRequired => Self::PermissionRequired,
            EventKind::Completed => Self::Completed,
            EventKind::Error => Self::Error,
        }
    }
}

/// `run-loop job event`.
#[derive(Debug, Clone, Args)]
pub struct EventArgs {
    /// What happened
    #[arg(value_name = "KIND")]
    pub kind: EventKind,
    /// In general words: no paths, keys or tokens
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub detail: String,
    /// The job; inside a job that job
    #[arg(long, value_name = "JOB", requires_all = ["attempt", "token"])]
    pub job: Option<String>,
    /// Its attempt
    #[arg(long, value_name = "N", requires = "job")]
    pub attempt: Option<u32>,
    /// The attempt's token
    #[arg(long, value_name = "TOKEN", requires = "job")]
    pub token: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop job cancel`.
#[derive(Debug, Clone, Args)]
pub struct JobCancelArgs {
    /// The job's id, or a unique prefix
    #[arg(value_name = "JOB")]
    pub job: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "asked")]
    pub reason: String,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop job redispatch`.
#[derive(Debug, Clone, Args)]
pub struct RedispatchArgs {
    /// The job's id, or a unique prefix
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

impl JobCommand {
    /// How output is written.
    #[must_use]
    pub fn output(&self) -> &FormatArgs {
        match self {
            Self::Submit(args) => &args.output,
            Self::Wait(args) => &args.output,
            Self::List(args) => &args.output,
            Self::Show(args) => &args.output,
            Self::Event(args) => &args.output,
            Self::Cancel(args) => &args.output,
            Self::Redispatch(args) => &args.output,
        }
    }
    /// The repository.
    #[must_use]
    pub fn repository(&self) -> &RepositoryArgs {
        match self {
            Self::Submit(args) => &args.repository,
            Self::Wait(args) => &args.repository,
            Self::List(args) => &args.repository,
            Self::Show(args) => &args.repository,
            Self::Event(args) => &args.repository,
            Self::Cancel(args) => &args.repository,
            Self::Redispatch(args) => &args.repository,
        }
    }
}

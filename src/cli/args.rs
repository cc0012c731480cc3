//! The command line as clap reads it: one file per command or for those that belong together. These types never leave `cli`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub mod agents;
pub mod cleanup;
pub mod config;
pub mod control;
pub mod doctor;
pub mod gate;
pub mod history;
pub mod init;
pub mod job;
pub mod later;
pub mod review;
pub mod skills;
pub mod worktree;

/// Review a change with agents, and prove which exact content was approved
#[derive(Debug, Clone, Parser)]
#[command(
    name = "run-loop",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    infer_long_args = false,
    after_help = AFTER_HELP
)]
pub struct Cli {
    /// A sub-command; without one, the loop runs.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The loop's options.
    #[command(flatten)]
    pub review: review::LoopArgs,
}

const AFTER_HELP: &str = "\
Exit codes: 0 approved, 1 NOT PASS, 2 usage, 3 refused, 4 stale, 5 inconclusive, 6 a tool failed, \
7 a limit, 8 a human must decide, 75 parked on a limit, 126 a job could not be started, 130 interrupted, 143 terminated.
Every other end than 0 prints a code; `run-loop explain CODE` says what to do.";

/// What is not the loop.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Check that a commit is exactly what was approved
    Gate(gate::GateArgs),
    /// Show how the newest run, or the named one, stands
    Status(history::StatusArgs),
    /// Go on with a run that was interrupted or put aside, or whose engine died
    Resume(control::ResumeArgs),
    /// End a run for good
    Cancel(control::ControlArgs),
    /// List the runs of this repository
    List(history::ListArgs),
    /// Show one run: its identity, slots, findings and files
    Show(history::ShowArgs),
    /// Print a run's events
    Log(history::LogArgs),
    /// Print a run's events for programs, one JSON document per line
    Events(history::EventsArgs),
    /// See the whole thing work in a throw-away repository, with scripted agents
    Demo(DemoArgs),
    /// The demo's scripted agent, started by the engine.
    #[command(name = "__demo-agent", hide = true)]
    DemoAgent(DemoAgentArgs),
    /// Show the configuration, or trust a working copy's
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Print a JSON schema
    Schema(SchemaArgs),
    /// Explain a reason code
    Explain(ExplainArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Prepare or remove a working tree
    #[command(subcommand)]
    Worktree(worktree::WorktreeCommand),
    /// Delegate single jobs to agents
    #[command(subcommand)]
    Job(job::JobCommand),
    /// List the agent programs that are known, and which of them are here
    Agents(agents::AgentsArgs),
    /// Write a first run-loop.yaml from what the repository is
    Init(init::InitArgs),
    /// Check whether a review can run here
    Doctor(doctor::DoctorArgs),
    /// Remove what dead runs left, and nothing else
    Cleanup(cleanup::CleanupArgs),
    /// Install skills for agents
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    /// Commands of later versions, known so that a typo is not taken for a task.
    #[command(flatten)]
    Later(later::LaterCommand),
}

/// How output is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    Human,
    /// One JSON document
    Json,
    /// One JSON document per line, while things happen
    Ndjson,
}

/// The option that every printing command has.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatArgs {
    /// How output is written; default human, or `RUN_LOOP_FORMAT`
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
}

/// `run-loop demo`.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Keep the throw-away repository and print where it lies
    #[arg(long)]
    pub keep: bool,
}

/// `run-loop __demo-agent`.
#[derive(Debug, Clone, Args)]
pub struct DemoAgentArgs {
    /// A file that it saves while the review goes on
    #[arg(long, value_name = "PATH")]
    pub edits: Option<PathBuf>,
}

/// `run-loop schema`.
#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Which schema
    #[arg(value_name = "NAME")]
    pub name: SchemaName,
}

/// A schema that can be printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// The block that ends a review report
    Verdict,
    /// `run-loop.yaml`
    Config,
    /// A promoted report's identity file
    Sidecar,
    /// What makes promoted reports count
    Manifest,
    /// A profile of an agent program: how it is started, and where what it prints says what
    Profile,
    /// The templates of prompts: their names, what each may name, and the built-in texts
    Templates,
}

/// `run-loop explain`.
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// A reason code, such as RL0007; without one, every code is listed
    #[arg(value_name = "CODE")]
    pub code: Option<String>,
}

/// `run-loop completions`.
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// The repository that a command is about.
#[derive(Debug, Clone, Args)]
pub struct RepositoryArgs {
    /// A working tree of the repository; default the current one, or (but for the gate) `RUN_LOOP_WORKTREE`
    #[arg(long, value_name = "PATH")]
    pub worktree: Option<PathBuf>,
}

//! `run-loop skills`.

use clap::{Args, Subcommand};

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// Skills for agents.
#[derive(Debug, Clone, Subcommand)]
pub enum SkillsCommand {
    /// Write the skills of run-loop into the folders that agents read
    #[command(after_help = INSTALL_HELP)]
    Install(InstallArgs),
}

const INSTALL_HELP: &str = "\
Writes planner, creator, reviewer, arbiter and run-loop into .claude/skills and .agents/skills of the \
working tree. A skill of the same name and other content is left alone and refused (3). Such files \
instruct agents, so a review names a change to them: commit them at the base.";

/// `run-loop skills install`.
#[derive(Debug, Clone, Args)]
pub struct InstallArgs {
    /// Install for yourself, below your home folder, and not in the working tree
    #[arg(long, conflicts_with = "worktree")]
    pub user: bool,
    /// Replace skills of the same name whatever they say
    #[arg(long)]
    pub force: bool,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

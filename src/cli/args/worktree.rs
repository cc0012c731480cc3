//! `run-loop worktree`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::FormatArgs;

/// Prepare or remove a working tree.
#[derive(Debug, Clone, Subcommand)]
pub enum WorktreeCommand {
    /// Make a working tree for a branch beside the repository, and run `setup:` in it
    #[command(after_help = PREPARE_HELP)]
    Prepare(PrepareArgs),
    /// Remove a working tree, unless something would be lost with it
    #[command(after_help = REMOVE_HELP)]
    Remove(RemoveArgs),
}

const PREPARE_HELP: &str = "\
Prints BASE= and WORKTREE= to stdout, each to the end of its line and unquoted: what `run-loop --worktree .. --base .. --review-only` takes. \
When a step fails, everything that was made is taken back. Run again, it keeps what is there.";

const REMOVE_HELP: &str = "\
Refuses (3) while it holds uncommitted, untracked or ignored files, commits that no branch or tag \
has, submodule commits that no remote has, stashes of submodules, an unfinished operation, a lock, \
or a running loop. The branch stays.";

/// `run-loop worktree prepare`.
#[derive(Debug, Clone, Args)]
pub struct PrepareArgs {
    /// The branch; made at the base where there is none
    #[arg(value_name = "BRANCH")]
    pub branch: String,
    /// Where a new branch starts, and what it is judged against; default HEAD
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// Where the working tree goes, from the main working tree; default beside it
    #[arg(long, value_name = "PATH")]
    pub at: Option<PathBuf>,
    /// Initialise submodules, nested ones too
    #[arg(long)]
    pub submodules: bool,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

/// `run-loop worktree remove`.
#[derive(Debug, Clone, Args)]
pub struct RemoveArgs {
    /// The working tree, from the current folder
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Look at everything and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Give ignored files up
    #[arg(long)]
    pub delete_ignored: bool,
    /// Let a content filter run besides LFS; can be given more than once
    #[arg(long, value_name = "NAME")]
    pub allow_filter: Vec<String>,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

//! `run-loop gate`.

use clap::Args;

use crate::cli::args::{FormatArgs, RepositoryArgs};

/// Check that a commit is exactly what was approved.
#[derive(Debug, Clone, Args)]
pub struct GateArgs {
    /// Where it merges; its tip must be an ancestor of head
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// What merges; default HEAD
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// Fail unless head is this commit: a full object id
    #[arg(long, value_name = "OID")]
    pub expect_head: Option<String>,
    /// The repository.
    #[command(flatten)]
    pub repository: RepositoryArgs,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

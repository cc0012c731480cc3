//! Commands that the design names and this version does not have. They parse, so that a typo of
//! one is no task, and end 2.

use clap::{Args, Subcommand};

/// A command of a later version.
#[derive(Debug, Clone, Subcommand)]
pub enum LaterCommand {
    /// Install hooks
    #[command(hide = true)]
    Hook(Rest),
    /// Render a report
    #[command(hide = true)]
    Report(Rest),
}

impl LaterCommand {
    /// The command's name, and a command that helps today.
    #[must_use]
    pub fn instead(&self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Hook(_) => ("hook", &["run-loop", "gate", "--help"]),
            Self::Report(_) => ("report", &["run-loop", "show"]),
        }
    }
}

/// Whatever stands after the command.
#[derive(Debug, Clone, Args)]
pub struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<std::ffi::OsString>,
}

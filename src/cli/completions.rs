//! `run-loop completions SHELL`.

use clap::CommandFactory as _;

use crate::cli::args::{Cli, CompletionsArgs};
use crate::cli::output;
use crate::domain::exit::Exit;

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "run-loop", &mut script);
    output::data(&String::from_utf8_lossy(&script));
    Exit::Approved
}

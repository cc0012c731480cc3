//! The command line: clap types, one file per command, wiring.
//!
//! Owns: reading arguments and the environment, choosing the command, printing its failure, the
//! exit code. Never: logic. Tests: `tests/cli.rs`, through the built binary.

use std::ffi::OsString;

use clap::Parser as _;

use crate::cli::args::{Cli, Command, Format};
use crate::cli::environment::Environment;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

pub mod args;
mod completions;
pub mod environment;
mod explain;
pub mod history;
mod later;
pub mod list;
pub mod log;
pub mod output;
mod schema;
pub mod show;
pub mod status;
mod task;
mod usage;

/// Runs a command line and returns how it ended; everything is printed by then.
#[must_use]
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Exit {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let cli = match Cli::try_parse_from(&argv) {
        Ok(cli) => cli,
        Err(error) => return usage::end(&error, &argv),
    };
    let given = format_of(&cli);
    let result = Environment::capture().and_then(|environment| {
        let format = output::format(given, &environment)?;
        dispatch(cli, &argv, &environment, format).map_err(|failure| {
            output::failure(&failure, format);
            failure
        })
    });
    result.unwrap_or_else(|failure| failure.code.exit())
}

/// Runs the command; one call site for each.
fn dispatch(
    cli: Cli,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    match cli.command {
        None => {
            drop((task::single(&cli.review, argv)?, environment, format));
            // CALL SITE: the loop (`cli::loop_command`).
            Err(later::command("the loop", ["run-loop", "--help"]))
        }
        // CALL SITE: `cli::gate`.
        Some(Command::Gate(_)) => Err(later::command("gate", ["run-loop", "--help"])),
        // CALL SITE: `cli::status`.
        Some(Command::Status(_)) => Err(later::command("status", ["run-loop", "--help"])),
        // CALL SITE: `cli::list`.
        Some(Command::List(_)) => Err(later::command("list", ["run-loop", "--help"])),
        // CALL SITE: `cli::show`.
        Some(Command::Show(_)) => Err(later::command("show", ["run-loop", "--help"])),
        // CALL SITE: `cli::log`.
        Some(Command::Log(_)) => Err(later::command("log", ["run-loop", "--help"])),
        // CALL SITE: `cli::demo`.
        Some(Command::Demo(_)) => Err(later::command("demo", ["run-loop", "--help"])),
        Some(Command::Config(_)) => Err(later::command("config", ["run-loop", "--help"])),
        Some(Command::Schema(args)) => schema::run(&args),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Completions(args)) => Ok(completions::run(&args)),
        Some(Command::Later(command)) => {
            let (name, instead) = command.instead();
            Err(later::command(name, instead.iter().copied()))
        }
    }
}

/// The format that the command line asks for.
fn format_of(cli: &Cli) -> Option<Format> {
    match &cli.command {
        None => cli.review.output.format,
        Some(Command::Gate(args)) => args.output.format,
        Some(Command::Status(args)) => args.output.format,
        Some(Command::List(args)) => args.output.format,
        Some(Command::Show(args)) => args.output.format,
        Some(Command::Log(args)) => args.output.format,
        Some(Command::Config(args::config::ConfigCommand::Show(args))) => args.output.format,
        Some(
            Command::Config(args::config::ConfigCommand::Trust(_))
            | Command::Demo(_)
            | Command::Schema(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Later(_),
        ) => None,
    }
}

//! The command line: clap types, one file per command, wiring.
//!
//! Owns: reading arguments and the environment, choosing the command, printing its failure, the
//! exit code. Never: logic. Tests: `tests/cli.rs`, through the built binary.

use std::ffi::OsString;
use std::panic::AssertUnwindSafe;

use clap::Parser as _;

use crate::cli::args::config::ConfigCommand;
use crate::cli::args::skills::SkillsCommand;
use crate::cli::args::worktree::WorktreeCommand;
use crate::cli::args::{Cli, Command, Format};
use crate::cli::environment::Environment;
use crate::cli::read::Reading;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

mod activity;
mod agents;
pub mod args;
mod cancel;
mod cleanup;
mod completions;
mod config_show;
mod config_trust;
mod demo;
mod diagnostics;
mod doctor;
pub mod environment;
mod explain;
mod found;
mod gate;
pub mod history;
mod init;
mod job;
mod later;
pub mod list;
mod live;
mod locate;
pub mod log;
mod loop_command;
mod newer_rules;
mod notices;
mod open_files;
mod options;
pub mod output;
mod own_cache;
mod plan_source;
mod read;
mod redirected;
mod resume;
mod running;
mod schema;
pub mod show;
mod skills_install;
mod sources;
pub mod status;
mod task;
mod templates;
mod text_file;
mod unread;
mod usage;
pub mod validate;
mod worktree;

/// Runs a command line and returns how it ended; everything is printed by then.
#[must_use]
pub fn run(argv: impl IntoIterator<Item = OsString>) -> Exit {
    let argv: Vec<OsString> = argv.into_iter().collect();
    let cli = match Cli::try_parse_from(&argv) {
        Ok(cli) => cli,
        Err(error) => return usage::end(&error, &argv),
    };
    let given = format_of(&cli);
    let mut format = given.unwrap_or(Format::Human);
    let result = Environment::capture().and_then(|environment| {
        diagnostics::start(&environment)?;
        format = output::format(given, &environment)?;
        open_files::enough()?;
        caught(|| dispatch(cli, &argv, &environment, format))
    });
    // An answer that nobody got is none.
    let result = result.and_then(|exit| output::complete().map(|()| exit));
    result.unwrap_or_else(|failure| {
        output::failure(&failure, format);
        failure.code.exit()
    })
}

/// What a command comes to. A panic is a case that cannot be; what it said stands on stderr, and it ends as a
/// failure of ours does: 101 is none of our exit codes.
fn caught(command: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    let ended = std::panic::catch_unwind(AssertUnwindSafe(command));
    ended.unwrap_or_else(|_| {
        let message = "this program met a case that cannot be; what it said of it stands above";
        Err(Failure::new(Code::Internal, message))
    })
}

/// Runs the command; one call site for each.
fn dispatch(
    cli: Cli,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    match cli.command {
        None => loop_command::run(&cli.review, argv, environment, format),
        Some(Command::Gate(args)) => gate::run(&args, environment, format),
        Some(Command::Status(args)) => {
            let named = args.run.as_deref();
            Reading::open(&args.repository, named, environment, format)?
                .with(|history, out| status::run(&args, history, out))
        }
        Some(Command::Resume(args)) => resume::run(&args, environment, format),
        Some(Command::Cancel(args)) => cancel::run(&args, environment, format),
        Some(Command::List(args)) => Reading::open(&args.repository, None, environment, format)?
            .with(|history, out| list::run(&args, history, out)),
        Some(Command::Show(args)) => {
            let named = args.run.as_deref();
            Reading::open(&args.repository, named, environment, format)?
                .with(|history, out| show::run(&args, history, out))
        }
        Some(Command::Log(args)) => {
            let (named, follow) = (args.run.as_deref(), args.follow.then_some(environment));
            Reading::open(&args.repository, named, environment, format)?
                .with(|history, out| log::run(named, follow, history, out))
        }
        Some(Command::Events(args)) => {
            let (named, follow) = (args.run.as_deref(), args.follow.then_some(environment));
            Reading::open(&args.repository, named, environment, Format::Ndjson)?
                .with(|history, out| log::run(named, follow, history, out))
        }
        Some(Command::Demo(args)) => demo::run(&args, environment),
        Some(Command::DemoAgent(args)) => demo::agent::run(environment, args.edits.as_deref()),
        Some(Command::Config(ConfigCommand::Show(args))) => {
            config_show::run(&args, environment, format)
        }
        Some(Command::Config(ConfigCommand::Trust(args))) => config_trust::run(&args, environment),
        Some(Command::Schema(args)) => Ok(schema::run(&args)),
        Some(Command::Explain(args)) => explain::run(&args),
        Some(Command::Completions(args)) => Ok(completions::run(&args)),
        Some(Command::Worktree(WorktreeCommand::Prepare(args))) => {
            worktree::prepare(&args, environment, format)
        }
        Some(Command::Worktree(WorktreeCommand::Remove(args))) => {
            worktree::remove(&args, environment, format)
        }
        Some(Command::Job(command)) => job::run(&command, argv, environment, format),
        Some(Command::Cleanup(args)) => cleanup::run(&args, environment, format),
        Some(Command::Skills(SkillsCommand::Install(args))) => {
            skills_install::run(&args, environment, format)
        }
        Some(Command::Agents(args)) => agents::run(&args, environment, format),
        Some(Command::Doctor(args)) => doctor::run(&args, environment, format),
        Some(Command::Init(args)) => init::run(&args, environment, format),
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
        Some(Command::Resume(args)) => args.control.output.format,
        Some(Command::Cancel(args)) => args.output.format,
        Some(Command::List(args)) => args.output.format,
        Some(Command::Show(args)) => args.output.format,
        Some(Command::Log(args)) => args.output.format,
        Some(Command::Config(ConfigCommand::Show(args))) => args.output.format,
        Some(Command::Worktree(WorktreeCommand::Prepare(args))) => args.output.format,
        Some(Command::Worktree(WorktreeCommand::Remove(args))) => args.output.format,
        Some(Command::Job(command)) => command.output().format,
        Some(Command::Cleanup(args)) => args.output.format,
        Some(Command::Skills(SkillsCommand::Install(args))) => args.output.format,
        Some(Command::Agents(args)) => args.output.format,
        Some(Command::Doctor(args)) => args.output.format,
        Some(Command::Init(args)) => args.output.format,
        Some(
            Command::Config(ConfigCommand::Trust(_))
            | Command::Demo(_)
            | Command::DemoAgent(_)
            | Command::Events(_)
            | Command::Schema(_)
            | Command::Explain(_)
            | Command::Completions(_)
            | Command::Later(_),
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exit codes are public, and 101 is none.
    #[test]
    fn a_panic_ends_as_a_failure_of_ours() {
        let failure = caught(|| panic!("cannot be")).unwrap_err();
        assert_eq!(failure.code, Code::Internal);
        assert_eq!(caught(|| Ok(Exit::Approved)).unwrap(), Exit::Approved);
    }
}

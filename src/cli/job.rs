//! `run-loop job`: delegating single jobs, from inside a job or from outside.
//!
//! Inside a job everything goes through that job's mailbox: the agent need not find the state of
//! the run, and can ask about nothing but itself and what it delegated. Outside, the state is
//! read, and a running engine is asked through its run's inbox.

mod desk;
mod event;
mod list;
mod registry;
mod show;
mod single;
mod submit;
mod wait;

use std::ffi::OsString;

use crate::cli::args::Format;
use crate::cli::args::job::JobCommand;
use crate::cli::environment::Environment;
use crate::cli::job::desk::{Beside, Desk};
use crate::cli::output;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::store::inbox::Ask;

/// Runs a command about jobs.
///
/// # Errors
/// Why it was not done; each command says what else.
pub(crate) fn run(
    command: &JobCommand,
    argv: &[OsString],
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let mut desk = Desk::open(environment, command.repository());
    match command {
        JobCommand::Submit(args) => submit::run(args, &mut desk, argv, environment, format),
        JobCommand::Wait(args) => wait::run(args, &mut desk, environment, format),
        JobCommand::List(args) => list::run(args, &mut desk, environment, format),
        JobCommand::Show(args) => show::run(args, &mut desk, environment, format),
        JobCommand::Event(args) => event::run(args, &mut desk, environment, format),
        JobCommand::Cancel(args) => {
            let job = desk.find(environment, &args.job)?;
            let reason = args.reason.clone();
            let asked = desk.ask(
                environment,
                Some(job),
                Ask::Cancel { job, reason },
                Beside::default(),
            )?;
            said(asked, "is cancelled", format)
        }
        JobCommand::Redispatch(args) => {
            let job = desk.find(environment, &args.job)?;
            let asked = desk.ask(
                environment,
                Some(job),
                Ask::Redispatch { job },
                Beside::default(),
            )?;
            said(asked, "is dispatched once more", format)
        }
    }
}

fn said(job: JobId, what: &str, format: Format) -> Result<Exit, Failure> {
    match format {
        Format::Human => output::data(&format!("job {job} {what}\n")),
        Format::Json | Format::Ndjson => {
            let value = serde_json::json!({ "version": 1, "job": job });
            output::data(&crate::report::ndjson::document(&value)?);
        }
    }
    Ok(Exit::Approved)
}

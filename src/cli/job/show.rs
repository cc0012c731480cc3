//! `run-loop job show`: where a job stands. Whether it lives and whether it makes progress are two
//! questions: a hung agent lives.

use std::path::Path;

use crate::cli::args::Format;
use crate::cli::args::job::JobShowArgs;
use crate::cli::environment::Environment;
use crate::cli::job::desk::Desk;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::job_view::JobView;
use crate::domain::time::Timestamp;
use crate::process::guard::{Probe, probe};
use crate::report::jobs::{self, Signs};
use crate::report::ndjson;
use crate::runtime::clock;

/// Shows a job, or its report.
pub(super) fn run(
    args: &JobShowArgs,
    desk: &mut Desk,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let job = desk.find(environment, &args.job)?;
    let view = desk.view(environment, job)?;
    if args.report {
        let bytes = report(desk, environment, &view)?;
        let Some(bytes) = bytes else {
            let message = format!("job {job} has no report: it is {}", view.status);
            let job = job.to_string();
            return Err(
                Failure::new(Code::JobRefused, message).next(["run-loop", "job", "show", &job])
            );
        };
        output::data(&output::printable(&String::from_utf8_lossy(&bytes)));
        return Ok(Exit::Approved);
    }
    told(desk, environment, &view, format)?;
    Ok(Exit::Approved)
}

/// Prints where a job stands.
pub(super) fn told(
    desk: &mut Desk,
    environment: &Environment,
    view: &JobView,
    format: Format,
) -> Result<(), Failure> {
    let signs = match desk {
        // The engine alone sees the guard.
        Desk::Inside(_) => None,
        Desk::Outside { .. } => {
            let capture = desk.registry(environment)?.capture_of(view)?;
            capture.as_deref().map(signs)
        }
    };
    match format {
        Format::Human => output::data(&jobs::lines(view, signs.as_ref(), clock::now())),
        Format::Json | Format::Ndjson => {
            output::data(&ndjson::document(&jobs::document(view, signs))?);
        }
    }
    Ok(())
}

/// A job's report.
pub(super) fn report(
    desk: &mut Desk,
    environment: &Environment,
    view: &JobView,
) -> Result<Option<Vec<u8>>, Failure> {
    match desk {
        Desk::Inside(mailbox) => mailbox.outbox.report(view).map_err(|error| {
            let message = format!("the report of job {} cannot be read: {error}", view.job);
            Failure::new(Code::StateUnwritable, message)
        }),
        Desk::Outside { .. } => desk.registry(environment)?.report(view),
    }
}

/// What can be seen of a dispatch from outside.
fn signs(capture: &Path) -> Signs {
    let alive = probe(capture)
        .ok()
        .map(|probe| matches!(probe, Probe::Running { .. }));
    let newest = ["stdout", "stderr", "activity"]
        .iter()
        .filter_map(|name| {
            fs_err::symlink_metadata(capture.join(name))
                .ok()?
                .modified()
                .ok()
        })
        .max();
    let last = newest
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_millis()).ok())
        .map(Timestamp::from_millis);
    Signs { alive, last }
}

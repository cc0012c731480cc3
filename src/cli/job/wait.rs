//! `run-loop job wait`.

use std::time::Duration;

use tokio::time::Instant;

use crate::cli::args::Format;
use crate::cli::args::job::WaitArgs;
use crate::cli::environment::Environment;
use crate::cli::job::desk::Desk;
use crate::cli::job::show;
use crate::domain::code::Code;
use crate::domain::delegation::{LOST, NOT_STARTED, RUN_ENDED, WAIT_GRACE, WALL_CLOCK_TIMEOUT};
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::job_view::JobView;

/// How often a job is looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// Waits until a job is over, within a limit: its budget and the grace, unless told otherwise
/// (row M-122, scenario T-101).
pub(super) fn run(
    args: &WaitArgs,
    desk: &mut Desk,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let job = desk.find(environment, &args.job)?;
    let mut view = desk.view(environment, job)?;
    let limit = args
        .timeout
        .unwrap_or_else(|| view.budget.saturating_add(WAIT_GRACE));
    // As its budget: the time in which the machine sleeps does not count.
    let until = Instant::now() + Duration::from_secs(limit);
    let runtime = clockwork()?;
    while !view.over {
        if let Desk::Outside { .. } = desk
            && !desk.registry(environment)?.is_driven(view.run)?
        {
            // It may have ended in between.
            view = desk.view(environment, job)?;
            if view.over {
                break;
            }
            return Err(desk.registry(environment)?.put_aside(view.run, job)?);
        }
        if Instant::now() >= until {
            let message = format!("job {job} is {} after {limit} s", view.status);
            let job = job.to_string();
            return Err(
                Failure::new(Code::WaitTimedOut, message).next(["run-loop", "job", "show", &job])
            );
        }
        runtime.block_on(async { tokio::time::sleep(PAUSE).await });
        view = desk.view(environment, job)?;
    }
    show::told(desk, environment, &view, format)?;
    match ended(&view) {
        None => Ok(Exit::Approved),
        // Nobody dispatches it again: it is delegated anew.
        Some(failure) if kind(&view) == RUN_ENDED => match desk {
            Desk::Inside(_) => Err(failure),
            Desk::Outside { .. } => {
                let again = desk.registry(environment)?.again(view.run, job)?;
                Err(failure.next(again))
            }
        },
        // While its run goes on, whoever knows that nothing of it is left may ask for it again.
        Some(failure) if is_lost(&view) && goes_on(desk, environment, &view)? => {
            Err(failure.next(["run-loop", "job", "redispatch", &job.to_string()]))
        }
        Some(failure) => Err(failure),
    }
}

/// Whether nobody saw the job end.
fn is_lost(view: &JobView) -> bool {
    kind(view) == LOST
}

fn goes_on(desk: &mut Desk, environment: &Environment, view: &JobView) -> Result<bool, Failure> {
    match desk {
        Desk::Inside(_) => Ok(true),
        Desk::Outside { .. } => desk.registry(environment)?.is_driven(view.run),
    }
}

/// The kind of what a job ended with: the first word of its reason.
fn kind(view: &JobView) -> &str {
    let first = view.detail.split_ascii_whitespace().next();
    first.unwrap_or_default().trim_end_matches(':')
}

/// Why a job that is over did not complete; `None` when it did.
pub(super) fn ended(view: &JobView) -> Option<Failure> {
    let job = view.job;
    let code = match (view.status.as_str(), kind(view)) {
        ("completed", _) => return None,
        ("cancelled", _) => Code::Cancelled,
        (_, WALL_CLOCK_TIMEOUT) => Code::JobTimedOut,
        (_, NOT_STARTED) => Code::JobNotStarted,
        _ => Code::JobFailed,
    };
    let message = format!("job {job} is {}: {}", view.status, view.detail);
    Some(Failure::new(code, message).next(next(job)))
}

fn next(job: JobId) -> [String; 4] {
    ["run-loop", "job", "show", &job.to_string()].map(str::to_owned)
}

/// Something that can wait.
pub(super) fn clockwork() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

//! `run-loop job event`: what happens in a dispatch, said by its agent.

use crate::cli::args::Format;
use crate::cli::args::job::EventArgs;
use crate::cli::environment::Environment;
use crate::cli::job::desk::{Beside, Desk};
use crate::domain::code::Code;
use crate::domain::delegation::Fence;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::store::inbox::Ask;

/// Sends it. Job, attempt and token fence it: inside a job they are the job's own.
pub(super) fn run(
    args: &EventArgs,
    desk: &mut Desk,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let of = match (&args.job, args.attempt, &args.token, &*desk) {
        (Some(job), Some(attempt), Some(token), _) => Fence {
            job: JobId::parse(job).ok_or_else(|| {
                let message = format!("--job {job:?} is no whole id of a job");
                Failure::new(Code::BadValue, message).next(["run-loop", "job", "list"])
            })?,
            attempt,
            token: token.clone(),
        },
        (_, _, _, Desk::Inside(mailbox)) => mailbox.card.fence.clone(),
        (_, _, _, Desk::Outside { .. }) => {
            let message = "outside of a job, --job, --attempt and --token say which dispatch";
            return Err(Failure::new(Code::BadArguments, message).next(["run-loop", "job", "list"]));
        }
    };
    let job = of.job;
    let ask = Ask::Signal {
        of,
        signal: args.kind.into(),
        detail: args.detail.clone(),
    };
    let job = desk.ask(environment, Some(job), ask, Beside::default())?;
    super::said(job, "was told", format)
}

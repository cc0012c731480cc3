//! `run-loop job list`.

use serde_json::json;

use crate::cli::args::Format;
use crate::cli::args::job::JobListArgs;
use crate::cli::environment::Environment;
use crate::cli::job::desk::{Desk, choose, views};
use crate::cli::output;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::job_view::{JobView, is_below};
use crate::report::public::VERSION;
use crate::report::{jobs, ndjson};
use crate::runtime::clock;

/// Lists the jobs: inside a job those that it delegated, else those of the repository.
pub(super) fn run(
    args: &JobListArgs,
    desk: &mut Desk,
    environment: &Environment,
    format: Format,
) -> Result<Exit, Failure> {
    let listed: Vec<JobView> = match desk {
        Desk::Inside(mailbox) => {
            let all = views(mailbox)?;
            match &args.parent {
                None => all,
                Some(given) => {
                    let own = mailbox.card.fence.job;
                    let named = all.iter().flat_map(|view| [Some(view.job), view.parent]);
                    let mut known: Vec<JobId> = named.flatten().chain([own]).collect();
                    known.sort_unstable();
                    known.dedup();
                    let parent = choose(given, &known)?;
                    let below = all.iter().filter(|view| is_below(&all, view, parent));
                    below.cloned().collect()
                }
            }
        }
        Desk::Outside { .. } => {
            let registry = desk.registry(environment)?;
            let below = match &args.parent {
                Some(given) => Some(choose(given, &registry.parents()?)?),
                None => None,
            };
            registry.views(below)?
        }
    };
    match format {
        Format::Human => output::data(&jobs::list(&listed, clock::now())),
        Format::Json => output::data(&ndjson::document(
            &json!({"version": VERSION, "jobs": listed}),
        )?),
        Format::Ndjson => {
            for view in &listed {
                output::data(&ndjson::document(view)?);
            }
        }
    }
    Ok(Exit::Approved)
}

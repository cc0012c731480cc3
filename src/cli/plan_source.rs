//! Where a run's plan comes from.

use crate::cli::environment::Environment;
use crate::cli::options::{Options, PlanOption};
use crate::cli::{text_file, validate};
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::run_spec::PlanSource;
use crate::git::Repository;

/// The plan, read before any job where it is a file (row M-041), and what is to be told of that.
pub(super) fn read(
    options: &Options,
    repository: &Repository,
    environment: &Environment,
) -> Result<(PlanSource, Option<String>), Failure> {
    let given = match &options.plan {
        PlanOption::Nobody => return Ok((PlanSource::Nobody, None)),
        PlanOption::Planner => return Ok((PlanSource::Planner, None)),
        PlanOption::File(given) => given,
    };
    // A `~` that the shell left alone is not rewritten, and means nothing but a folder's name.
    let root = if given.as_os_str().as_encoded_bytes().starts_with(b"~") {
        environment.current_dir()
    } else {
        &repository.control_root
    };
    let file = text_file::Named {
        option: "--plan-file",
        given,
        root,
        here: environment.current_dir(),
        line: &options.argv,
    }
    .read()?;
    let plan = PlanSource::File {
        path: validate::text(&file.path)?,
        sha256: Digest::of(file.text.as_bytes()),
        text: file.text,
    };
    Ok((plan, file.notice))
}

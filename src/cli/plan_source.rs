//! Where a run's plan comes from.

use crate::cli::environment::Environment;
use crate::cli::options::PlanOption;
use crate::cli::{text_file, validate};
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::run_spec::PlanSource;
use crate::git::Repository;

/// The plan, read before any job where it is a file (row M-041).
pub(super) fn read(
    plan: &PlanOption,
    repository: &Repository,
    environment: &Environment,
) -> Result<PlanSource, Failure> {
    let given = match plan {
        PlanOption::Nobody => return Ok(PlanSource::Nobody),
        PlanOption::Planner => return Ok(PlanSource::Planner),
        PlanOption::File(given) => given,
    };
    // A `~` that the shell left alone is not rewritten, and means nothing but a folder's name.
    let place = if given.as_os_str().as_encoded_bytes().starts_with(b"~") {
        environment.current_dir()
    } else {
        &repository.control_root
    };
    let path = place.join(given);
    let text = text_file::read("--plan-file", &path)?;
    let sha256 = Digest::of(text.as_bytes());
    Ok(PlanSource::File {
        path: validate::text(&path)?,
        text,
        sha256,
    })
}

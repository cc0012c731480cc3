//! The plan in hand, as text.

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::run_spec::PlanSource;
use crate::engine::State;
use crate::store::Artifacts;

/// The text of the plan that the run works by: what the planner wrote last, else the file's.
///
/// # Errors
/// When the planner's report is not in the artifacts any more: nobody is asked by half a plan.
pub(in crate::runtime) fn text(
    artifacts: &Artifacts,
    state: &State,
) -> Result<Option<String>, Failure> {
    if let Some(job) = state.plan {
        let outcome = state
            .jobs
            .get(&job)
            .and_then(|record| record.outcome.as_ref());
        let report = outcome.and_then(|outcome| outcome.report.as_ref());
        let stored = report.ok_or_else(|| {
            Failure::new(
                Code::Internal,
                format!("the plan of job {job} was not kept"),
            )
        })?;
        let bytes = artifacts.get(&stored.sha256)?;
        return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
    }
    Ok(match state.run.as_ref().map(|run| &run.plan) {
        Some(PlanSource::File { text, .. }) => Some(text.clone()),
        Some(PlanSource::Planner | PlanSource::Nobody) | None => None,
    })
}

/// The text of the plan with its hash, as it is promoted.
pub(in crate::runtime) fn hashed(
    artifacts: &Artifacts,
    state: &State,
) -> Result<Option<(String, Digest)>, Failure> {
    Ok(text(artifacts, state)?.map(|text| {
        let sha256 = Digest::of(text.as_bytes());
        (text, sha256)
    }))
}

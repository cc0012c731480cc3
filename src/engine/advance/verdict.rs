//! What one answer says: PASS, NOT PASS, or nothing. Silence is never either.

use crate::domain::agent::Agent;
use crate::domain::id::JobId;
use crate::domain::job::{JobOutcome, Reading, Review};
use crate::domain::severity::Severity;
use crate::domain::verdict::{PassedBy, Verdict};
use crate::engine::state::State;

/// An answer, judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// It passes, by this.
    Pass(PassedBy),
    /// It does not pass.
    NotPass,
    /// It is no verdict.
    None,
}

/// Judges an answer: only a valid review of an agent that ended by itself with 0 is a verdict.
pub(super) fn of(
    state: &State,
    job: JobId,
    outcome: &JobOutcome,
    agent: Option<&Agent>,
    fail_on: Severity,
) -> Judged {
    let Some(agent) = agent.filter(|_| outcome.ended.is_success()) else {
        return Judged::None;
    };
    match &outcome.reading {
        Reading::Review(review) => judge(state, job, review, agent, fail_on),
        // They answer other questions than a review.
        Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => Judged::None,
    }
}

fn judge(state: &State, job: JobId, review: &Review, agent: &Agent, fail_on: Severity) -> Judged {
    let findings = state.findings_of(job);
    let blocks = review.findings.iter().any(|claim| claim.blocks(fail_on));
    let covered = agent.contract.is_covered(review);
    match review.verdict {
        // The contract refuses such a report; should one come through, it is no PASS.
        Verdict::Pass if blocks => Judged::NotPass,
        Verdict::Pass if !covered => Judged::None,
        Verdict::Pass if agent.is_checks() => Judged::Pass(PassedBy::Checks),
        Verdict::Pass => Judged::Pass(PassedBy::Reviewer),
        // None of its findings blocks (scenario P02), or those that would are lowered. A reviewer
        // that did not read and answer everything cannot pass that way either.
        Verdict::NotPass
            if !findings.is_empty() && covered && !findings.iter().any(|it| it.blocking) =>
        {
            Judged::Pass(state.ground(job))
        }
        Verdict::NotPass => Judged::NotPass,
    }
}

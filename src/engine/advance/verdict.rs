//! What one answer says: PASS, NOT PASS, or nothing. Silence is never either.

use crate::domain::agent::{Agent, Contract};
use crate::domain::job::{JobOutcome, Reading, Review};
use crate::domain::severity::Severity;
use crate::domain::verdict::{Coverage, PassedBy, Verdict};

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
pub(super) fn of(outcome: &JobOutcome, agent: Option<&Agent>, fail_on: Severity) -> Judged {
    let Some(agent) = agent.filter(|_| outcome.ended.is_success()) else {
        return Judged::None;
    };
    match &outcome.reading {
        Reading::Review(review) => judge(review, agent, fail_on),
        // They answer other questions than a review.
        Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => Judged::None,
    }
}

fn judge(review: &Review, agent: &Agent, fail_on: Severity) -> Judged {
    let blocks = review.findings.iter().any(|claim| claim.blocks(fail_on));
    let covered = match agent.contract {
        Contract::Json => review.coverage == Coverage::Full,
        Contract::Line => true,
    };
    match review.verdict {
        // The contract refuses such a report; should one come through, it is no PASS.
        Verdict::Pass if blocks => Judged::NotPass,
        Verdict::Pass if !covered => Judged::None,
        Verdict::Pass if agent.is_checks() => Judged::Pass(PassedBy::Checks),
        Verdict::Pass => Judged::Pass(PassedBy::Reviewer),
        // All findings are below the bar (scenario P02). A reviewer that did not read everything
        // cannot pass that way either.
        Verdict::NotPass if !blocks && !review.findings.is_empty() && covered => {
            Judged::Pass(PassedBy::Threshold)
        }
        Verdict::NotPass => Judged::NotPass,
    }
}

/// Whether what was decoded, valid or not and however the job ended, claims NOT PASS: it bars PASS
/// for the identity (design, section 6: claims never vanish).
pub(in crate::engine) fn claims_not_pass(reading: &Reading, fail_on: Severity) -> bool {
    match reading {
        Reading::Review(review) => {
            let blocks = review.findings.iter().any(|claim| claim.blocks(fail_on));
            blocks || (review.verdict == Verdict::NotPass && review.findings.is_empty())
        }
        Reading::Invalid {
            claimed, claims, ..
        } => *claimed == Some(Verdict::NotPass) || claims.iter().any(|claim| claim.blocks(fail_on)),
        Reading::Reply { .. } | Reading::Silent => false,
    }
}

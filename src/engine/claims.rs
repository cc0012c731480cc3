//! What a report claims, whatever came of it.

use crate::domain::job::Reading;
use crate::domain::severity::Severity;
use crate::domain::verdict::Verdict;

/// Whether a report that calls earlier findings open claims something besides: a NOT PASS alone is
/// about what it calls open.
pub(super) fn claims_besides(reading: &Reading, fail_on: Severity) -> bool {
    match reading {
        Reading::Review(review) => review.findings.iter().any(|claim| claim.blocks(fail_on)),
        // What NOT PASS is about in a report that does not read, nobody knows.
        Reading::Invalid { .. } => claims_not_pass(reading, fail_on),
        Reading::Reply { .. } | Reading::Silent => false,
    }
}

/// Whether what was decoded, valid or not and however the job ended, claims NOT PASS: it bars PASS
/// for the identity (design, section 6: claims never vanish).
pub(super) fn claims_not_pass(reading: &Reading, fail_on: Severity) -> bool {
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

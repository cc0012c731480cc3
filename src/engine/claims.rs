//! What a report claims, whatever came of it.

use crate::domain::job::Reading;
use crate::domain::severity::Severity;

/// Whether a report that calls earlier findings open claims something besides: a NOT PASS alone is
/// about what it calls open.
pub(super) fn claims_besides(reading: &Reading, fail_on: Severity) -> bool {
    match reading {
        Reading::Review(review) => review.findings.iter().any(|claim| claim.blocks(fail_on)),
        // What NOT PASS is about in a report that does not read, nobody knows.
        Reading::Invalid { .. } => reading.claims_not_pass(fail_on),
        Reading::Reply { .. } | Reading::Silent => false,
    }
}

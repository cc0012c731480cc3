//! Whether a turn of work led anywhere (design, section 4, Convergence).

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{FindingId, JobId};
use crate::domain::oid::Oid;
use crate::domain::ruled::Ledger as _;
use crate::engine::state::{ClosedRound, State};

/// What became of each blocking finding; of one that is found again, what was said last.
pub(super) type Standing = BTreeMap<FindingId, Disposition>;

impl State {
    /// How the blocking findings stand now.
    pub(super) fn standing(&self) -> Standing {
        let blocking = self.findings.iter().filter(|finding| finding.blocking);
        blocking
            .map(|finding| (finding.again.unwrap_or(finding.id), finding.disposition))
            .collect()
    }
    /// Whether every blocking finding stands as it did when the last round closed, so that nothing was said
    /// since; or as after an earlier turn on the same content, so that another one would say the same.
    pub(super) fn stands_as_before(&self) -> bool {
        let last = self.rounds.last();
        last.is_some_and(|last| last.stood == self.standing()) || self.turned_before()
    }
    /// Whether an earlier turn on the content of the last round left every blocking finding as it is now.
    pub(super) fn turned_before(&self) -> bool {
        let Some((last, earlier)) = self.rounds.split_last() else {
            return false;
        };
        let (now, here) = (self.standing(), content(last));
        let mut earlier = earlier.iter();
        earlier.any(|round| content(round) == here && round.left.as_ref() == Some(&now))
    }
    /// The blocking findings that bar PASS on this content, as long as no ruling takes their force here:
    /// nothing can have mended them.
    pub(super) fn unsettled_on(&self, here: &Oid) -> Vec<&Finding> {
        let bars = self.bars.iter().filter(|bar| bar.content_tree == *here);
        let bars: Vec<JobId> = bars
            .map(|bar| bar.job)
            .filter(|job| !self.is_resolved(*job))
            .collect();
        let raised = |finding: &Finding| {
            bars.contains(&finding.job) && finding.blocking && !self.is_ruled_on(finding, here)
        };
        let kept: BTreeSet<FindingId> = bars
            .iter()
            .flat_map(|job| self.kept_by(*job, here))
            .map(|finding| finding.id)
            .collect();
        let findings = self.findings.iter();
        findings
            .filter(|finding| raised(finding) || kept.contains(&finding.id))
            .collect()
    }
}

/// What was under review in a round.
fn content(round: &ClosedRound) -> Option<&Oid> {
    Some(&round.pin.as_ref()?.identity.content_tree)
}

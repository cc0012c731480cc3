//! Delegations that are no review: planning, writing, ruling.

use serde::{Deserialize, Serialize};

use crate::domain::id::RoundNumber;
use crate::domain::job::Role;
use crate::domain::slot::SlotName;

/// One step of work: one job, asked again at most once for its form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// What for.
    pub role: Role,
    /// Who does it: the creator, the planner, the arbiter, or a reviewer that rules on its own.
    pub slot: SlotName,
    /// Which of a reviewer's agents: 0 is its own, then its fallbacks; 0 for everybody else. Journals of
    /// older engines do not say it.
    #[serde(default)]
    pub rank: usize,
    /// The round it follows; `None` before the first.
    pub after: Option<RoundNumber>,
}

impl Work {
    /// The number under which the source is pinned: that of the round which comes next.
    #[must_use]
    pub fn round(&self) -> RoundNumber {
        RoundNumber(self.after.map_or(1, |after| after.0 + 1))
    }
    /// What people and programs are to know of a step that gave no answer, where the run goes on all the
    /// same (row M-044).
    #[must_use]
    pub fn warning(&self, answered: bool) -> Option<&'static str> {
        let kept = "the refinement gave no plan: the plan in hand stays as it is";
        (self.role == Role::Refine && !answered).then_some(kept)
    }
}

/// The branches, as they were before a step of work.
pub const BRANCHES: &str = "branches";
/// HEAD's commits and the stash, as they were before a step of work.
pub const UNHELD: &str = "unheld";
/// The commit that has what was in the index alone before a step of work; empty where nothing was.
pub const STAGED: &str = "staged";
/// The same of the sides of conflicts.
pub const UNMERGED: &str = "unmerged";
/// The source right before the step's newest job, where an earlier one had been asked.
pub const ANEW: &str = "anew";
/// The endings of all such files.
pub const KINDS: [&str; 5] = [BRANCHES, UNHELD, STAGED, UNMERGED, ANEW];

/// How the names begin of what holds how things were before a step of work: files with these endings,
/// and the snapshots in the review store.
#[must_use]
pub fn before(round: RoundNumber, role: Role) -> String {
    format!("{round}-{}", role.as_str())
}

//! Which delegated jobs are waited for, and what keeps one from working: what deciding and folding
//! both ask.

use crate::domain::time::Timestamp;
use crate::engine::delegation::{DelegationRecord, JobStatus, Root};
use crate::engine::state::State;

impl State {
    /// The delegated jobs that may still write to the source and are to be waited for.
    pub(super) fn writers(&self) -> impl Iterator<Item = &DelegationRecord> {
        let open = self.delegations.values().filter(|record| record.is_open());
        open.filter(|record| !self.awaited.contains(&record.id) && self.is_waited_for(record.id))
    }
    /// The jobs under way that somebody asked for who is no job: what they cost, and have half written, is not
    /// to be lost with a loop that they happen to run beside.
    pub(super) fn lingering(&self) -> impl Iterator<Item = &DelegationRecord> {
        let open = self.delegations.values().filter(|record| record.is_open());
        let open = open.filter(|it| !self.awaited.contains(&it.id) && !self.is_kept(it));
        open.filter(|it| matches!(self.root_of(it.id), Some(Root::Delegated(_))))
    }
    /// Whether a limit keeps a delegated job from being dispatched.
    pub(super) fn is_kept(&self, record: &DelegationRecord) -> bool {
        record.status() == JobStatus::Pending && self.is_in_force(record.limited_until)
    }
    /// Whether a limit is still in force.
    pub(super) fn is_in_force(&self, until: Option<Timestamp>) -> bool {
        let now = self.stamp.map(|stamp| stamp.at);
        until > now
    }
}

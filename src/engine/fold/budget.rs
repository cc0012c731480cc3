//! Folding budgets.

use std::sync::Arc;

use crate::domain::limits::Allowed;
use crate::domain::run_spec::RunSpec;
use crate::domain::time::{Stamp, Timestamp};
use crate::engine::state::State;

pub(super) fn started(state: &mut State, stamp: &Stamp, run: &Arc<RunSpec>) {
    state.budget.limits = run.limits.clone();
    state.budget.since = Some(stamp.at);
}

/// An engine takes the run up again: what the engine before it ran is added, by its own clock where it
/// noted that, which stands still while the machine sleeps; else up to its newest input, or to where it
/// was last seen alive. That is never more than the time that has passed since.
///
/// Gives whether agents that met a limit are asked again at once: who takes up a run that does not
/// wait, or that was parked, wants to know whether the limit still holds.
pub(super) fn resumed(
    state: &mut State,
    stamp: &Stamp,
    allowed: Allowed,
    seen: Option<Timestamp>,
    ran: Option<u64>,
) -> bool {
    let parking = state.parking.take();
    let parked = parking.is_some_and(|parking| parking.until.is_some());
    let budget = &mut state.budget;
    if let (Some(since), Some(last)) = (budget.since, state.stamp) {
        let to = |end: Timestamp| end.as_millis().saturating_sub(since.as_millis());
        let ran = match (ran, seen) {
            (Some(ran), _) => i64::try_from(ran).unwrap_or(i64::MAX).min(to(stamp.at)),
            (None, Some(seen)) => to(seen.min(stamp.at).max(last.at)),
            (None, None) => to(last.at),
        };
        budget.ran = budget.ran.saturating_add(ran.max(0));
    }
    budget.since = Some(stamp.at);
    let limits = &mut budget.limits;
    limits.max_wall = allowed.max_wall.or(limits.max_wall);
    limits.max_cost_micro_usd = allowed.max_cost_micro_usd.or(limits.max_cost_micro_usd);
    limits.wait |= allowed.wait;
    budget.time_is_spent = limits.max_wall.is_some_and(|seconds| {
        let all = i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        budget.ran >= all
    });
    !limits.wait || (parked && !allowed.wait)
}

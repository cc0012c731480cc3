//! A slot's review tree, proved to hold exactly the snapshot.

use std::sync::Arc;

use crate::domain::effect::ReviewTree;
use crate::domain::failure::Failure;
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::slot::SlotName;
use crate::engine::State;
use crate::runtime::rim::Rim;

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    slot: &SlotName,
    snapshot: &Oid,
    tree: &Oid,
    base: &Oid,
) -> Result<ReviewTree, Failure> {
    rim.trees
        .open(slot, snapshot, tree, base, base_name(&run.base))
}

/// Has the slots of the round before looked at while the next one is pinned; a step of work uses none of
/// them, or one. Nobody waits for it: who opens a slot does. Where any job is at work, which could be in a
/// slot, each waits for its own look.
pub(super) fn look_over(rim: &Arc<Rim>, state: &State, work: Option<Role>) {
    let is_at_work = state.open.values().any(|it| it.dispatched().is_some());
    if work.is_some() || is_at_work {
        return;
    }
    rim.trees.take_back();
    let rim = Arc::clone(rim);
    drop(tokio::task::spawn_blocking(move || rim.trees.look_over()));
}

/// The name under which the agent's repository knows the base.
fn base_name(base: &BaseSpec) -> &str {
    match base {
        BaseSpec::MergeBase { given, .. } => given,
        BaseSpec::StartHead { .. } => "base",
    }
}

//! A slot's review tree, proved to hold exactly the snapshot.

use crate::domain::effect::ReviewTree;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::slot::SlotName;
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

/// The name under which the agent's repository knows the base.
fn base_name(base: &BaseSpec) -> &str {
    match base {
        BaseSpec::MergeBase { given, .. } => given,
        BaseSpec::StartHead { .. } => "base",
    }
}

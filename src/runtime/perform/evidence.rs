//! The evidence of a round, made once for all slots.

use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::git::evidence;
use crate::runtime::rim::Rim;

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    pin: &Pin,
    receipt_seed: &str,
    since: &[Oid],
) -> Result<Evidence, Failure> {
    let folder = rim.evidence_folder(run.loop_id, round);
    let mut evidence = evidence::make(
        &rim.git,
        &rim.store,
        pin,
        &run.review,
        receipt_seed,
        &folder,
    )?;
    evidence.since = evidence::since(&rim.git, &rim.store, since, &pin.identity.tree);
    Ok(evidence)
}

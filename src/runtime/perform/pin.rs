//! A round or a step of work opens: the source is captured into the review store.

use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::job::Role;
use crate::domain::run_spec::RunSpec;
use crate::git::snapshot;
use crate::runtime::rim::Rim;

pub(super) fn perform(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    work: Option<Role>,
) -> Result<Pin, Failure> {
    snapshot::pin(&rim.git, &rim.repository, &rim.store, run, round, work)
}

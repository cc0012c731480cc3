//! A round opens: the source is captured into the review store.

use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::Pin;
use crate::domain::run_spec::RunSpec;
use crate::git::snapshot;
use crate::runtime::rim::Rim;

pub(super) fn perform(rim: &Rim, run: &RunSpec, round: RoundNumber) -> Result<Pin, Failure> {
    snapshot::pin(&rim.git, &rim.repository, &rim.store, run, round)
}

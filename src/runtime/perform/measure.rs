//! A later measurement, by the same function as the pin's.

use crate::domain::failure::Failure;
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::run_spec::RunSpec;
use crate::git::measure;
use crate::runtime::rim::Rim;

pub(super) fn perform(rim: &Rim, run: &RunSpec, pinned: &Pin) -> Result<Remeasured, Failure> {
    measure::measure(&rim.git, &rim.repository, &rim.store, run, pinned)
}

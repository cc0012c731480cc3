//! Publishing the evidence of the approved identity, under a permit.

use std::path::Path;

use crate::domain::effect::Promotion;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::engine::State;
use crate::promote::{Permit, publish};
use crate::runtime::perform::{plan, run_of};
use crate::runtime::rim::Rim;
use crate::runtime::{clock, facts};

pub(super) fn perform(rim: &Rim, state: &State, round: RoundNumber) -> Result<Promotion, Failure> {
    let run = run_of(state)?;
    let plan = plan::hashed(&rim.artifacts, state)?;
    let permit = Permit::grant(facts::approved(state, round, plan)?, rim.lock.proof())?;
    publish(
        &permit,
        Path::new(&run.control_root),
        &mut |sha256| rim.artifacts.get(sha256),
        clock::now(),
    )
}

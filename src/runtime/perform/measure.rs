//! A later measurement, by the same function as the pin's.

use std::io;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::Role;
use crate::domain::run_spec::RunSpec;
use crate::git::{branches, measure, operation};
use crate::runtime::perform::pin;
use crate::runtime::rim::Rim;

/// Bytes of a list of branches.
const TIPS_CAP: u64 = 64 << 20;

pub(super) fn perform(rim: &Rim, run: &RunSpec, pinned: &Pin) -> Result<Remeasured, Failure> {
    measure::measure(&rim.git, &rim.repository, &rim.store, run, pinned)
}

/// The measurement after a job that may write: also which other branches it moved, and how an
/// operation that it left open is ended without losing anything.
pub(super) fn after_work(
    rim: &Rim,
    run: &RunSpec,
    round: RoundNumber,
    role: Role,
    pinned: &Pin,
) -> Result<Remeasured, Failure> {
    let mut measured = match perform(rim, run, pinned) {
        Ok(measured) => measured,
        Err(failure) if failure.code == Code::SourceMoved => {
            let end = operation::ending(&rim.git, &rim.repository)?;
            return Err(match end {
                Some(command) => failure.next(command),
                None => failure,
            });
        }
        Err(failure) => return Err(failure),
    };
    let (folder, name) = pin::tips_file(rim, run, round, role)?;
    match folder.read(&name, TIPS_CAP) {
        Ok(before) => {
            let head = &measured.pin.identity.head;
            measured.elsewhere = branches::moved(&rim.git, &rim.repository, &before, head)?;
        }
        // The cache was cleared since: which branches moved is not known, and nothing is said.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            let message = format!("the branches before the job cannot be read: {error}");
            return Err(Failure::new(Code::MeasureFailed, message));
        }
    }
    Ok(measured)
}

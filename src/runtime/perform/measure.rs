//! A later measurement, by the same function as the pin's.

use std::io;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Kept, Pin, Remeasured};
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::git::{branches, measure, operation, staged, unheld};
use crate::runtime::perform::pin;
use crate::runtime::rim::Rim;

/// Bytes of a list of branches, or of HEAD's moves.
const TIPS_CAP: u64 = 64 << 20;

pub(super) fn perform(rim: &Rim, run: &RunSpec, pinned: &Pin) -> Result<Remeasured, Failure> {
    let mut measured = measure::measure(&rim.git, &rim.repository, &rim.store, run, pinned)?;
    if !measured.lost.is_empty() {
        measured.kept = Some(kept_in(rim, pinned, None));
    }
    Ok(measured)
}

/// What holds what is lost.
fn kept_in(rim: &Rim, pinned: &Pin, staged: Option<Oid>) -> Kept {
    Kept {
        store: rim.store.git_dir().display().to_string(),
        snapshot: pinned.snapshot.clone(),
        staged,
    }
}

/// The measurement after a job that may write: also where else it left work, what is gone from the
/// index, and how an operation that it left open is ended without losing anything.
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
    let (folder, name) = pin::before_file(rim, run, round, role)?;
    let kept = |kind: &str| match folder.read(format!("{name}.{kind}"), TIPS_CAP) {
        Ok(before) => Ok(Some(before)),
        // The cache was cleared since: what moved is not known, and nothing is said.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let message = format!("what was before the job cannot be read: {error}");
            Err(Failure::new(Code::MeasureFailed, message))
        }
    };
    let head = &measured.pin.identity.head;
    let mut elsewhere = Vec::new();
    if let Some(before) = kept(pin::BRANCHES)? {
        elsewhere = branches::moved(&rim.git, &rim.repository, &before, head)?;
    }
    if let Some(before) = kept(pin::UNHELD)? {
        let heads = [&pinned.identity.head, head];
        elsewhere.extend(unheld::found(&rim.git, &rim.repository, &before, heads)?);
    }
    measured.elsewhere = elsewhere;
    let staged = match kept(pin::STAGED)? {
        Some(name) if !name.is_empty() => Some(commit_of(&name)?),
        Some(_) | None => None,
    };
    if let Some(commit) = &staged {
        let (before, now) = (&pinned.identity, &measured.pin.identity);
        let gone = staged::gone(&rim.git, &rim.repository, &rim.store, commit, before, now)?;
        measured.unstaged = gone.staged;
        measured.lost.extend(gone.edits);
        measured.lost.sort();
        measured.lost.dedup();
    }
    if !measured.lost.is_empty() || !measured.unstaged.is_empty() {
        measured.kept = Some(kept_in(rim, pinned, staged));
    }
    Ok(measured)
}

fn commit_of(name: &[u8]) -> Result<Oid, Failure> {
    let commit = std::str::from_utf8(name).ok().and_then(Oid::parse);
    commit.ok_or_else(|| {
        let message = "what was staged before the job cannot be read";
        Failure::new(Code::MeasureFailed, message)
    })
}

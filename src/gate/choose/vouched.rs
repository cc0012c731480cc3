//! What the journals say of a manifest that was found.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::time::Timestamp;
use crate::gate::attest::{self, Approving};
use crate::gate::files::{self, Found};
use crate::gate::next;
use crate::gate::question::Question;
use crate::store::Attestations;

/// Checks that the journal vouches for exactly this manifest.
pub(super) fn vouched(
    question: &Question<'_>,
    found: &Found<'_>,
    approving: Approving<'_>,
) -> Result<(), Failure> {
    let run = approving.run.run;
    match &approving.run.manifest_sha256 {
        None => Err(unattested(
            question,
            format!("run {run} approved this content, and its journal holds no manifest"),
        )),
        Some(sha256) if *sha256 != found.sha256 => Err(files::damaged(&format!(
            "{} has the hash {}, and the journal of run {run} says {sha256}",
            found.path, found.sha256
        ))),
        Some(_) if found.manifest.identity != approving.round.identity => {
            Err(files::damaged(&format!(
                "{} names another identity than the journal of run {run}",
                found.path
            )))
        }
        Some(_) => Ok(()),
    }
}

/// Checks that no verdict against this content is newer than the approval.
pub(super) fn not_revoked(
    question: &Question<'_>,
    state: &Attestations,
    run: LoopId,
    at: Option<Timestamp>,
) -> Result<(), Failure> {
    let against = attest::against(state, question.content);
    match against
        .iter()
        .find(|against| against.run != run && against.is_since(at))
    {
        Some(against) => Err(Failure::new(
            Code::GateRevoked,
            format!(
                "run {run} approved this content, and the later run {} {} on it",
                against.run, against.how
            ),
        )
        .next(["run-loop", "show", &against.run.to_string()])),
        None => Ok(()),
    }
}

pub(super) fn unattested(question: &Question<'_>, message: String) -> Failure {
    Failure::new(Code::GateUnattested, message).next(next::review(question, None))
}

/// As [`unattested`]; a run of this repository that did not end is taken up: its engine died while it published.
pub(super) fn unattested_of(
    question: &Question<'_>,
    state: &Attestations,
    run: LoopId,
    message: String,
) -> Failure {
    let failure = unattested(question, message);
    let own = state.runs.iter().find(|it| it.run == run);
    if own.is_some_and(|own| own.end.is_none()) {
        return failure.next(["run-loop", "resume", &run.to_string()]);
    }
    failure
}

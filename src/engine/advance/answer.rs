//! What an answer puts into the ledger, before it is judged.

use crate::domain::event::Event;
use crate::domain::finding::{Claim, Disposition, Finding};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::job::{JobOutcome, Reading};
use crate::domain::ruled::Ledger as _;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::Slot;
use crate::engine::state::{Review, State};

/// What a report says of an earlier finding, and is not in the ledger yet: one that was called fixed or
/// left for later still holds, as does one whose ruling was about another content; or, in a review of
/// one's own work, it was wrong; or beside a NOT PASS it is mended, or was wrong.
pub(super) fn said_of_earlier(
    state: &State,
    review: &Review,
    job: JobId,
    outcome: &JobOutcome,
) -> Option<Event> {
    let said = match &outcome.reading {
        Reading::Review(said) => Some(said),
        Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent => None,
    };
    let open = outcome.reading.still_open();
    let (asked, content) = (
        &state.jobs.get(&job)?.job,
        &review.pin.identity.content_tree,
    );
    let word = |id: FindingId| {
        let mut prior = said.iter().flat_map(|said| &said.prior);
        prior.find(|prior| prior.finding == id)
    };
    state.findings.iter().find_map(|finding| {
        let spoken = asked.may_speak_of(finding) && finding.job != job;
        if !spoken || state.has_word(job, finding.id) {
            return None;
        }
        let answered = match finding.disposition {
            Disposition::Fixed | Disposition::Deferred => true,
            Disposition::Withdrawn | Disposition::Overruled => {
                let blob = outcome.reading.blob_of(finding.id);
                !state.is_ruled_here(finding, content, blob)
            }
            Disposition::Open
            | Disposition::Refuted
            | Disposition::Upheld
            | Disposition::Sustained => false,
        };
        let reopens = open.contains(&finding.id) && answered;
        // How the job ended matters for what it takes back, and not for what it still finds.
        let takes_back = outcome.ended.is_success()
            && said.is_some_and(|said| state.takes_back(&review.pin, finding, said));
        let disposition = if reopens {
            Disposition::Open
        } else if takes_back {
            Disposition::Withdrawn
        } else {
            state.newly_settled(asked, outcome, finding)?
        };
        Some(Event::FindingDisposed {
            finding: finding.id,
            disposition,
            job,
            note: word(finding.id).map_or_else(String::new, |prior| prior.note.clone()),
        })
    })
}

/// The next claim of this answer that is not in the ledger yet: claims never vanish, whatever the
/// report's validity.
pub(super) fn unrecorded(
    state: &State,
    run: &RunSpec,
    round: RoundNumber,
    review: &Review,
    slot: &Slot,
    job: JobId,
    reading: &Reading,
) -> Option<Finding> {
    let claims: &[Claim] = match reading {
        Reading::Review(review) => &review.findings,
        Reading::Invalid { claims, .. } => claims,
        // They answer other questions than a review.
        Reading::Reply { .. } | Reading::Silent => &[],
    };
    let recorded = state
        .findings
        .iter()
        .filter(|finding| finding.job == job)
        .count();
    let claim = claims.get(recorded)?.clone();
    let number = u32::try_from(state.findings.len() + 1).unwrap_or(u32::MAX);
    let blocks = claim.blocks(run.review.fail_on);
    let lowered = if blocks {
        state.lowered(round, review, slot, job, &claim)
    } else {
        None
    };
    Some(Finding {
        id: FindingId(number),
        slot: slot.name.clone(),
        job,
        round,
        blocking: blocks && lowered.is_none(),
        again: state.repeated(&slot.name, job, &claim),
        lowered,
        claim,
        disposition: Disposition::Open,
    })
}

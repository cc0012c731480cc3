//! The permit to promote.

mod slots;

use std::collections::BTreeSet;

use crate::domain::code::Code;
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::finding::Disposition;
use crate::domain::glob::Glob;
use crate::domain::identity::{Remeasured, Trip};
use crate::domain::job::Reading;
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;
use crate::domain::slot::Slot;
use crate::domain::verdict::Verdict;
use crate::promote::layout;
use crate::promote::round::{ApprovedRound, EndedJob, SettledSlot};
use crate::store::LockProof;

/// The right to publish one round's evidence. Only [`Permit::grant`] makes one, and it cannot
/// outlive the lock of its run.
///
/// # Invariants
/// - Every slot that must pass did, by a job of this round that ended by itself with success and
///   whose report alone says so.
/// - Base and content tree were the same in all measurements of the round.
/// - Nobody's claim bars PASS on this identity, and no blocking finding is open.
#[derive(Debug)]
#[must_use = "a permit does nothing until the round is published"]
pub struct Permit<'lock> {
    round: ApprovedRound,
    lock: LockProof<'lock>,
}

impl<'lock> Permit<'lock> {
    /// Grants a permit after checking every fact of the round again.
    ///
    /// # Errors
    /// The reason why the round may not be promoted; a contradiction in the facts themselves is
    /// [`Code::Internal`].
    pub fn grant(round: ApprovedRound, lock: LockProof<'lock>) -> Result<Self, Failure> {
        if lock.run() != round.spec.loop_id {
            return Err(contradiction(format!(
                "the lock is held by run {}, not by run {}",
                lock.run(),
                round.spec.loop_id
            )));
        }
        lock.check()?;
        unmoved(&round, &round.sealed, "when the last report was sealed")?;
        unmoved(&round, &round.before_promotion, "right before promotion")?;
        if round.pinned.is_empty() {
            return Err(Failure::new(
                Code::ChangeSetBecameEmpty,
                format!(
                    "the content at {} equals that of its base {}",
                    round.pinned.identity.head, round.pinned.identity.base
                ),
            ));
        }
        shown(&round)?;
        unbarred(&round)?;
        panel(&round)?;
        Ok(Self { round, lock })
    }
    /// The facts it was granted on.
    pub(super) fn round(&self) -> &ApprovedRound {
        &self.round
    }
    /// Checks that the run's lock is still the one it took.
    pub(super) fn still_locked(&self) -> Result<(), Failure> {
        self.lock.check()
    }
}

/// A case that the engine does not produce.
fn contradiction(message: String) -> Failure {
    Failure::new(Code::Internal, message)
}

/// Checks that a later measurement agrees with the pin (rows M-080 and M-083, scenario T-010).
fn unmoved(round: &ApprovedRound, later: &Remeasured, when: &str) -> Result<(), Failure> {
    let drift = later.drift_from(&round.pinned);
    let (old, new) = (&round.pinned.identity, &later.pin.identity);
    if drift.base_moved {
        return Err(Failure::new(
            Code::BaseMoved,
            format!("the base was {} and is {} {when}", old.base, new.base),
        ));
    }
    if drift.content_moved {
        let paths: Vec<String> = later.moved_paths.iter().map(ToString::to_string).collect();
        return Err(Failure::new(
            Code::SourceMoved,
            format!(
                "the content was {} and is {} {when}: {}",
                old.content_tree,
                new.content_tree,
                paths.join(", ")
            ),
        ));
    }
    if !drift.trips.is_empty() {
        let parts: Vec<&str> = drift.trips.iter().copied().map(Trip::as_str).collect();
        return Err(Failure::new(
            Code::TripwireMoved,
            format!("{} moved while jobs ran, seen {when}", parts.join(" and ")),
        ));
    }
    Ok(())
}

/// Checks that the base allows every file whose bytes nobody was shown.
fn shown(round: &ApprovedRound) -> Result<(), Failure> {
    let allowed = |path: &RepoPath, kind| {
        let entries = round.spec.policy.allow_unreviewed.iter();
        // A glob that cannot be read allows nothing.
        let mut globs = entries
            .filter(|entry| entry.kind == kind)
            .filter_map(|entry| Glob::parse(&entry.paths).ok());
        globs.any(|glob| glob.matches(path.as_bytes()))
    };
    let hidden = round
        .evidence
        .unreviewed()
        .find(|(file, kind)| !allowed(&file.path, *kind));
    match hidden {
        Some((file, kind)) => Err(Failure::new(
            Code::Unreviewed,
            format!("{} was not shown ({})", file.path, kind.as_str()),
        )),
        None => Ok(()),
    }
}

/// Checks that no claim, of whatever attempt, stands against this identity.
fn unbarred(round: &ApprovedRound) -> Result<(), Failure> {
    let open = round
        .findings
        .iter()
        .find(|finding| finding.blocking && finding.disposition == Disposition::Open);
    if let Some(finding) = open {
        return Err(Failure::new(
            Code::FindingsStand,
            format!(
                "finding {} of {} is open: {}",
                finding.id, finding.slot, finding.claim.title
            ),
        ));
    }
    let bar = round.spec.review.fail_on;
    let jobs = round.slots.iter().flat_map(|slot| &slot.jobs);
    match jobs.into_iter().find(|ended| claims_not_pass(ended, bar)) {
        Some(ended) => Err(Failure::new(
            Code::NotPassUnexplained,
            format!(
                "job {} of {} claims NOT PASS on this identity",
                ended.job.id, ended.job.slot
            ),
        )),
        None => Ok(()),
    }
}

/// Whether anything decoded from the job's report, valid or not, claims NOT PASS.
fn claims_not_pass(ended: &EndedJob, bar: Severity) -> bool {
    match &ended.outcome.reading {
        Reading::Review(review) => {
            review.findings.iter().any(|claim| claim.blocks(bar))
                || (review.verdict == Verdict::NotPass && review.findings.is_empty())
        }
        Reading::Invalid {
            claimed, claims, ..
        } => *claimed == Some(Verdict::NotPass) || claims.iter().any(|claim| claim.blocks(bar)),
        Reading::Reply { .. } | Reading::Silent => false,
    }
}

/// Checks that the slots are the panel, and that those that must pass did.
fn panel(round: &ApprovedRound) -> Result<(), Failure> {
    let spec = &round.spec;
    let names: BTreeSet<_> = spec.panel.iter().map(|slot| &slot.name).collect();
    let settled: BTreeSet<_> = round.slots.iter().map(|slot| &slot.slot).collect();
    let sizes = [spec.panel.len(), round.slots.len(), names.len()];
    if names != settled || sizes.iter().any(|size| *size != settled.len()) || names.is_empty() {
        return Err(contradiction(format!(
            "the panel has {} slots and {} were settled",
            spec.panel.len(),
            round.slots.len()
        )));
    }
    let mut passed: Vec<(&Slot, &SettledSlot)> = Vec::new();
    for slot in &spec.panel {
        if slot.name.as_str() == layout::APPROVALS {
            return Err(Failure::new(
                Code::BadSlotName,
                format!("a slot cannot be called {}", slot.name),
            ));
        }
        for settled in round
            .slots
            .iter()
            .filter(|settled| settled.slot == slot.name)
        {
            if slots::passed(round, slot, settled)? {
                passed.push((slot, settled));
            }
        }
    }
    slots::enough(spec, &passed)
}

/// The job that a settlement names.
pub(super) fn passing_job(settled: &SettledSlot) -> Option<&EndedJob> {
    let Settlement::Passed { job, .. } = &settled.settlement else {
        return None;
    };
    settled.jobs.iter().find(|ended| ended.job.id == *job)
}

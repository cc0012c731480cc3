//! The permit to promote.

pub(super) mod ledger;
mod slots;

use std::collections::BTreeSet;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::finding::{Claim, Finding};
use crate::domain::glob::Glob;
use crate::domain::identity::{Remeasured, named};
use crate::domain::job::Reading;
use crate::domain::layout;
use crate::domain::path::RepoPath;
use crate::domain::ruled::Ledger as _;
use crate::domain::run_spec::PlanSource;
use crate::domain::severity::Severity;
use crate::domain::slot::Slot;
use crate::domain::verdict::Verdict;
use crate::promote::round::{ApprovedRound, EndedJob, SettledSlot};
use crate::store::LockProof;

/// The right to publish one round's evidence. Only [`Permit::grant`] makes one, and it cannot
/// outlive the lock of its run.
///
/// # Invariants
/// - Every slot that must pass did, by a job on this identity, of this round or an earlier one,
///   that ended by itself with success and whose report says so, alone or with rulings that took
///   the force of everything in it that blocked.
/// - Base and content tree were the same in all measurements of the round.
/// - Nobody's claim bars PASS on this identity, and no blocking finding stands on it.
/// - A run that had a plan publishes it.
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
        planned(&round)?;
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
        let what = named(&later.named(&round.pinned, &drift.trips));
        return Err(Failure::new(
            Code::TripwireMoved,
            format!("{what} moved since the round was pinned, seen {when}"),
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
    let open = round.findings.iter().find(|finding| {
        let content = &round.pinned.identity.content_tree;
        let settled = round.is_ruled_on(finding, content);
        finding.blocking && !settled && !ledger::is_taken_back(round, finding)
    });
    if let Some(finding) = open {
        return Err(Failure::new(
            Code::FindingsStand,
            format!(
                "finding {} of {} stands on this content: {}",
                finding.id, finding.slot, finding.claim.title
            ),
        ));
    }
    let bar = round.spec.review.fail_on;
    // Of whatever round and against whatever base: on the same content nothing can have mended what was
    // claimed. What it was asked on is not always known.
    let here = |ended: &&EndedJob| {
        let content = &round.pinned.identity.content_tree;
        ended.content.as_ref().is_none_or(|asked| asked == content)
    };
    let of_slots = round.slots.iter().flat_map(|slot| &slot.jobs);
    let jobs = of_slots.chain(round.reviews.iter().filter(here));
    if let Some((ended, finding)) = jobs
        .clone()
        .find_map(|ended| Some((ended, kept_open(round, ended)?)))
    {
        return Err(Failure::new(
            Code::FindingsStand,
            format!(
                "job {} of {} says on this content that finding {} still holds: {}",
                ended.job.id, finding.slot, finding.id, finding.claim.title
            ),
        ));
    }
    match jobs
        .into_iter()
        .find(|ended| claims_not_pass(round, ended, bar))
    {
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

/// An earlier finding, of whatever slot, of which the job's report, valid or not, says that it still
/// holds, and whose force nothing took here.
fn kept_open<'a>(round: &'a ApprovedRound, ended: &EndedJob) -> Option<&'a Finding> {
    let (job, reading) = (&ended.job, &ended.outcome.reading);
    let kept = round.kept_open(job, reading, &round.pinned.identity.content_tree);
    let mut kept = kept.into_iter();
    kept.find(|finding| !ledger::is_taken_back_after(round, finding, job.id))
}

/// Whether anything decoded from the job's report, valid or not, claims NOT PASS and stands.
fn claims_not_pass(round: &ApprovedRound, ended: &EndedJob, bar: Severity) -> bool {
    let blocking = |claims: &[Claim]| claims.iter().any(|claim| claim.blocks(bar));
    let stands = |claims: &[Claim]| {
        let mut blocking = claims.iter().filter(|claim| claim.blocks(bar));
        blocking.any(|claim| ledger::settled(round, ended, claim).is_none())
    };
    match &ended.outcome.reading {
        Reading::Review(review) => {
            stands(&review.findings)
                || (review.verdict == Verdict::NotPass
                    && review.findings.is_empty()
                    && !ledger::is_answered(round, ended))
        }
        // A NOT PASS that names nothing that blocks leaves nothing that could be ruled on.
        Reading::Invalid {
            claimed, claims, ..
        } => stands(claims) || (*claimed == Some(Verdict::NotPass) && !blocking(claims)),
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

/// Checks that the plan is there where the run has one, and is what its hash says.
fn planned(round: &ApprovedRound) -> Result<(), Failure> {
    match (&round.plan, &round.spec.plan) {
        (Some((text, sha256)), _) if Digest::of(text.as_bytes()) != *sha256 => Err(contradiction(
            format!("the plan is not the one with the hash {sha256}"),
        )),
        (None, PlanSource::Planner | PlanSource::File { .. }) => Err(contradiction(
            "the run works by a plan, and it is not there to be promoted".to_owned(),
        )),
        (Some(_), _) | (None, PlanSource::Nobody) => Ok(()),
    }
}

/// The job that a settlement names.
pub(super) fn passing_job(settled: &SettledSlot) -> Option<&EndedJob> {
    let Settlement::Passed { job, .. } = &settled.settlement else {
        return None;
    };
    settled.jobs.iter().find(|ended| ended.job.id == *job)
}

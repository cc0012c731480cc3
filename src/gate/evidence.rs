//! Whether the files of a manifest are all there, untouched, and say what the manifest says.

use std::collections::BTreeSet;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::job::RulingKind;
use crate::domain::layout;
use crate::domain::slot::SlotName;
use crate::domain::verdict::{Coverage, PassedBy, Verdict};
use crate::gate::files::{Found, damaged};
use crate::promote::manifest::{EvidenceFile, PanelSlot, Standing};
use crate::promote::{Manifest, Sidecar, canonical};

/// Proves every file of a manifest; the sidecars, in the order of the panel.
pub(super) fn prove(found: &Found<'_>, reports: &str) -> Result<Vec<Sidecar>, Failure> {
    let manifest = &found.manifest;
    consistent(found)?;
    let mut files = manifest.files.iter();
    let mut sidecars = Vec::new();
    for slot in &manifest.panel {
        let Standing::Passed { job, .. } = slot.standing else {
            continue;
        };
        let report = proven(
            found,
            files.next(),
            &layout::report_path(reports, &slot.slot, job),
        )?;
        let path = layout::sidecar_path(reports, &slot.slot, job);
        let bytes = proven(found, files.next(), &path)?;
        let sidecar: Sidecar = canonical::from_bytes(&bytes)
            .map_err(|error| damaged(&format!("{path} is {error}")))?;
        if let Some(field) = contradiction(manifest, slot, &sidecar, &Digest::of(&report)) {
            return Err(damaged(&format!(
                "{path} says another {field} than {} or its report",
                found.path
            )));
        }
        says_pass(found, &sidecar)?;
        sidecars.push(sidecar);
    }
    if let Some(sha256) = &manifest.plan_sha256 {
        let path = layout::plan_path(reports, manifest.loop_id);
        let plan = proven(found, files.next(), &path)?;
        if Digest::of(&plan) != *sha256 {
            let what = format!("{path} is not the plan that {} names", found.path);
            return Err(damaged(&what));
        }
    }
    match files.next() {
        None => Ok(sidecars),
        Some(file) => Err(damaged(&format!(
            "{} names {}, which belongs to no slot and is no plan",
            found.path, file.path
        ))),
    }
}

/// Checks what a manifest says about itself.
fn consistent(found: &Found<'_>) -> Result<(), Failure> {
    let manifest = &found.manifest;
    let wrong = |what: &str| Err(damaged(&format!("{} {what}", found.path)));
    let names: BTreeSet<_> = manifest.panel.iter().map(|slot| &slot.slot).collect();
    if names.len() != manifest.panel.len() {
        return wrong("names a slot twice");
    }
    let passed = |slot: &&PanelSlot| matches!(slot.standing, Standing::Passed { .. });
    let readers = manifest
        .panel
        .iter()
        .filter(passed)
        .filter(|slot| slot.reader);
    if u32::try_from(readers.count()) != Ok(manifest.readers) {
        return wrong("counts its readers wrongly");
    }
    if !manifest.panel.iter().any(|slot| passed(&slot)) {
        return wrong("names no slot that passed");
    }
    match canonical::digest(&manifest.policy) {
        Ok(sha256) if sha256 == manifest.policy_sha256 => Ok(()),
        Ok(_) | Err(_) => wrong("holds another policy than its hash says"),
    }
}

/// The bytes of the next file that the manifest names, which must be this one.
fn proven(found: &Found<'_>, file: Option<&EvidenceFile>, path: &str) -> Result<Vec<u8>, Failure> {
    let Some(file) = file.filter(|file| file.path == path) else {
        return Err(damaged(&format!("{} does not name {path}", found.path)));
    };
    let bytes = found.place.read(path)?;
    let sha256 = Digest::of(&bytes);
    if sha256 == file.sha256 {
        Ok(bytes)
    } else {
        Err(damaged(&format!(
            "{path} has the hash {sha256}, and {} says {}",
            found.path, file.sha256
        )))
    }
}

/// The first field in which a sidecar contradicts its manifest or its report.
fn contradiction(
    manifest: &Manifest,
    slot: &PanelSlot,
    sidecar: &Sidecar,
    report: &Digest,
) -> Option<&'static str> {
    let identity = &manifest.identity;
    let standing = Standing::Passed {
        job: sidecar.job,
        by: sidecar.by,
        coverage: sidecar.coverage,
        evidence: sidecar.evidence,
    };
    let checks = [
        ("run", sidecar.loop_id == manifest.loop_id),
        ("round", sidecar.round == manifest.round),
        ("round of the job", sidecar.job_round <= manifest.round),
        ("slot", sidecar.slot == slot.slot),
        ("standing", standing == slot.standing),
        ("agent", sidecar.agent == slot.agent),
        (
            "bar",
            sidecar.fail_on == slot.fail_on && sidecar.fail_on == manifest.policy.fail_on,
        ),
        ("base", sidecar.base == identity.base),
        ("base ref", sidecar.base_ref == manifest.base_ref),
        ("base tip", sidecar.base_tip == manifest.base_tip),
        ("head", sidecar.head == identity.head),
        (
            "head at promotion",
            sidecar.head_at_promotion == manifest.head_at_promotion,
        ),
        ("tree", sidecar.tree == identity.tree),
        (
            "content tree",
            sidecar.content_tree == identity.content_tree,
        ),
        ("snapshot", sidecar.snapshot == manifest.snapshot),
        ("policy", sidecar.policy_sha256 == manifest.policy_sha256),
        ("report", sidecar.report_sha256 == *report),
        ("version", sidecar.engine_version == manifest.engine_version),
    ];
    checks
        .into_iter()
        .find_map(|(field, same)| (!same).then_some(field))
}

/// Checks that a sidecar's own numbers amount to a pass.
fn says_pass(found: &Found<'_>, sidecar: &Sidecar) -> Result<(), Failure> {
    let findings = &sidecar.findings;
    let blocking = findings
        .at_least(sidecar.fail_on)
        .saturating_sub(findings.pre_existing);
    let late = u32::try_from(sidecar.advisory.len()).unwrap_or(u32::MAX);
    let unruled = sidecar.rulings.is_empty();
    let passes = match (sidecar.verdict, sidecar.by) {
        (Verdict::Pass, PassedBy::Reviewer | PassedBy::Checks | PassedBy::SelfReview) => {
            blocking == 0 && late == 0 && unruled
        }
        (Verdict::NotPass, PassedBy::SelfReview) => {
            blocking == 0 && late == 0 && findings.total() > 0 && unruled
        }
        // Each of those that came late is at or above the bar, and counted there.
        (Verdict::NotPass, PassedBy::Threshold) => {
            let covered = late == 0 || sidecar.coverage == Coverage::Full;
            blocking == late && findings.total() > 0 && unruled && covered
        }
        (Verdict::NotPass, by @ (PassedBy::Withdrawal | PassedBy::Arbitration)) => {
            late <= blocking && ruled_away(sidecar, by, blocking - late)
        }
        (Verdict::Pass, PassedBy::Threshold | PassedBy::Withdrawal | PassedBy::Arbitration)
        | (Verdict::NotPass, PassedBy::Reviewer | PassedBy::Checks) => false,
    };
    // A creator that reviews its own work is told apart from everybody else, in both directions.
    let own_work = sidecar.slot == SlotName::self_review();
    let passes = passes && own_work == (sidecar.by == PassedBy::SelfReview);
    if passes {
        return Ok(());
    }
    Err(Failure::new(
        Code::GateNotPass,
        format!(
            "slot {} said {} with {} findings at {} or worse, which {} counts as passed",
            sidecar.slot,
            sidecar.verdict,
            findings.at_least(sidecar.fail_on),
            sidecar.fail_on,
            found.path
        ),
    ))
}

/// Whether rulings took the force of everything that blocked. At least one did: without any, the
/// report would have passed by another ground, or not at all.
fn ruled_away(sidecar: &Sidecar, by: PassedBy, blocking: u32) -> bool {
    let count = |kind: RulingKind| {
        let rulings = sidecar.rulings.iter();
        rulings.filter(|settled| settled.ruling == kind).count()
    };
    let (withdrawn, overruled) = (count(RulingKind::Withdrawn), count(RulingKind::Overruled));
    let by_its_name = match by {
        PassedBy::Withdrawal => withdrawn > 0 && overruled == 0,
        PassedBy::Arbitration => overruled > 0,
        PassedBy::Reviewer | PassedBy::Threshold | PassedBy::Checks | PassedBy::SelfReview => false,
    };
    by_its_name
        && withdrawn + overruled == sidecar.rulings.len()
        && u32::try_from(sidecar.rulings.len()).is_ok_and(|ruled| ruled >= blocking)
        && sidecar.coverage == Coverage::Full
}

//! The gate's answer.

use serde::Serialize;

use crate::domain::digest::Digest;
use crate::domain::id::{JobId, LoopId};
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::domain::slot::SlotName;
use crate::domain::verdict::{Coverage, PassedBy, Verdict};
use crate::gate::choose::Chosen;
use crate::gate::question::Question;
use crate::promote::Sidecar;
use crate::promote::sidecar::FindingCounts;

/// A name that was resolved, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    /// The full ref name, or the revision as given.
    pub name: String,
    /// The commit.
    pub oid: Oid,
}

/// A commit is approved. Its full object ids are what was judged: a merge must use them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Approval {
    /// What merges.
    pub head: Commit,
    /// The tip of where it merges; the policy was read there.
    pub tip: Commit,
    /// Where the merge starts from: the tip, or the merge base where the policy says so.
    pub base: Oid,
    /// Head's content tree, which is the approved one.
    pub content_tree: Oid,
    /// The run that approved it.
    pub loop_id: LoopId,
    /// The manifest, relative to the control root.
    pub manifest: String,
    /// The manifest's hash.
    pub manifest_sha256: Digest,
    /// The base that was reviewed from.
    pub approved_base: Oid,
    /// HEAD when it was reviewed.
    pub approved_head: Oid,
    /// HEAD when it was promoted.
    pub head_at_promotion: Oid,
    /// How many slots read the change.
    pub readers: u32,
    /// The slots that passed.
    pub slots: Vec<ApprovedSlot>,
    /// Why the approval of another commit holds for this one; `null` for the same commit.
    pub carried: Option<String>,
    /// Who vouches for the files.
    pub attested: Attested,
    /// Things to tell.
    pub notices: Vec<String>,
}

/// Who vouches for promoted files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attested {
    /// This repository's own journal.
    Journal,
    /// Nobody: the files alone are believed (`policy.attest: files`).
    Nobody,
}

/// A slot that passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ApprovedSlot {
    /// Its name.
    pub slot: SlotName,
    /// The agent that filled it.
    pub agent: String,
    /// The job whose report says so.
    pub job: JobId,
    /// The verdict as given.
    pub verdict: Verdict,
    /// By what it passed.
    pub by: PassedBy,
    /// What the report says it read.
    pub coverage: Coverage,
    /// Findings at least this bad blocked.
    pub fail_on: Severity,
    /// How many findings the report has.
    pub findings: FindingCounts,
}

/// Puts the answer together.
pub(super) fn of(
    question: &Question<'_>,
    tip: Commit,
    chosen: Chosen<'_>,
    sidecars: &[Sidecar],
    carried: Option<String>,
) -> Approval {
    let manifest = chosen.found.manifest;
    let slots = sidecars.iter().map(|sidecar| ApprovedSlot {
        slot: sidecar.slot.clone(),
        agent: sidecar.agent.name.clone(),
        job: sidecar.job,
        verdict: sidecar.verdict,
        by: sidecar.by,
        coverage: sidecar.coverage,
        fail_on: sidecar.fail_on,
        findings: sidecar.findings,
    });
    Approval {
        head: question.head.clone(),
        tip,
        base: question.base.clone(),
        content_tree: question.content.clone(),
        loop_id: manifest.loop_id,
        manifest: chosen.found.path,
        manifest_sha256: chosen.found.sha256,
        approved_base: manifest.identity.base,
        approved_head: manifest.identity.head,
        head_at_promotion: manifest.head_at_promotion,
        readers: manifest.readers,
        slots: slots.collect(),
        carried,
        attested: chosen.attested,
        notices: chosen.notices,
    }
}

//! The bytes of everything that a permit allows to be published.

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::event::Settlement;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::job::{Reading, Review, Ruling, Stored};
use crate::domain::layout;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::slot::{Slot, SlotName};
use crate::domain::time::Timestamp;
use crate::domain::verdict::PassedBy;
use crate::promote::canonical;
use crate::promote::manifest::{
    EffectivePolicy, EvidenceFile, InstructionHash, Manifest, ManifestSchema, PanelSlot, Standing,
};
use crate::promote::normalise;
use crate::promote::permit::ledger::{self, Settled};
use crate::promote::permit::passing_job;
use crate::promote::round::{ApprovedRound, EndedJob, SettledSlot};
use crate::promote::sidecar::{
    AdvisoryFinding, AgentIdentity, DeviatedItem, FindingCounts, Receipts, Scope, SettledFinding,
    Sidecar, SidecarSchema, Transport,
};

/// Gives the bytes of an artifact by their hash.
pub(super) type Artifacts<'a> = dyn FnMut(&Digest) -> Result<Vec<u8>, Failure> + 'a;

/// Everything to be written.
pub(super) struct Composed {
    /// Reports and sidecars, in the order they are written in.
    pub(super) files: Vec<SlotFile>,
    /// The manifest, written last.
    pub(super) manifest: Manifest,
}

/// One file of a slot's folder.
pub(super) struct SlotFile {
    /// Whose folder.
    pub(super) slot: SlotName,
    /// The file's name.
    pub(super) name: String,
    /// What it holds.
    pub(super) bytes: Vec<u8>,
}

/// A slot that passed, with everything that says so.
struct Passed<'a> {
    slot: &'a Slot,
    agent: AgentIdentity,
    ended: &'a EndedJob,
    review: &'a Review,
    report: &'a Stored,
    by: PassedBy,
}

/// Composes all files of a round. What writes them needs its permit.
pub(super) fn compose(
    round: &ApprovedRound,
    artifacts: &mut Artifacts<'_>,
    now: Timestamp,
) -> Result<Composed, Failure> {
    let policy = EffectivePolicy::of(&round.spec).map_err(|error| broken(&error))?;
    let policy_sha256 = canonical::digest(&policy).map_err(|error| broken(&error))?;
    let (mut files, mut panel, mut readers) = (Vec::new(), Vec::new(), 0);
    for slot in &round.spec.panel {
        let settled = round.slots.iter().find(|settled| settled.slot == slot.name);
        let Some(passed) = settled.and_then(|settled| passed(slot, settled)) else {
            panel.push(panel_slot(
                &round.spec,
                slot,
                AgentIdentity::from(&slot.agent),
                0,
                None,
            ));
            continue;
        };
        readers += u32::from(slot.is_reader());
        let job = passed.ended.job.id;
        let report = report_bytes(&passed, artifacts)?;
        let sidecar = sidecar(round, &passed, &policy_sha256, &report);
        let sidecar = canonical::to_bytes(&sidecar).map_err(|error| broken(&error))?;
        for (name, bytes) in [
            (layout::report_name(job), report),
            (layout::sidecar_name(job), sidecar),
        ] {
            files.push(SlotFile {
                slot: slot.name.clone(),
                name,
                bytes,
            });
        }
        let standing = Standing::Passed {
            job,
            by: passed.by,
            coverage: passed.review.coverage,
            evidence: passed.ended.job.evidence,
        };
        let rank = passed.ended.job.rank;
        panel.push(panel_slot(
            &round.spec,
            slot,
            passed.agent,
            rank,
            Some(standing),
        ));
    }
    files.extend(plan_file(round));
    for file in &files {
        fits(&file.name, &file.bytes)?;
    }
    let listed = files
        .iter()
        .map(|file| listed(&round.spec.reports, file))
        .collect();
    let manifest = manifest(round, panel, readers, (policy, policy_sha256), listed, now);
    Ok(Composed { files, manifest })
}

/// The plan as it is promoted.
fn plan_file(round: &ApprovedRound) -> Option<SlotFile> {
    let (text, _) = round.plan.as_ref()?;
    Some(SlotFile {
        slot: SlotName::planner(),
        name: layout::plan_name(round.spec.loop_id),
        bytes: normalise::clean(text.as_bytes()),
    })
}

/// The failure of a value that has no JSON form.
pub(super) fn broken(error: &canonical::Error) -> Failure {
    Failure::new(
        Code::Internal,
        format!("a promoted file could not be composed: {error}"),
    )
}

/// Refuses a file that the content tree would count as content.
pub(super) fn fits(name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size <= layout::MAX_BYTES {
        return Ok(());
    }
    Err(Failure::new(
        Code::PromotionFailed,
        format!(
            "{name} has {size} bytes and promoted evidence may have {}",
            layout::MAX_BYTES
        ),
    ))
}

fn passed<'a>(slot: &'a Slot, settled: &'a SettledSlot) -> Option<Passed<'a>> {
    let Settlement::Passed { by, .. } = settled.settlement else {
        return None;
    };
    let ended = passing_job(settled)?;
    let Reading::Review(review) = &ended.outcome.reading else {
        return None;
    };
    let spent = &ended.outcome.spent;
    let defined = AgentIdentity::from(slot.agent_at(ended.job.rank)?);
    let agent = AgentIdentity {
        model: spent.model.clone().or(defined.model),
        version: spent.version.clone(),
        ..defined
    };
    Some(Passed {
        slot,
        agent,
        ended,
        review,
        report: ended.outcome.report.as_ref()?,
        by,
    })
}

/// The report as it is promoted.
fn report_bytes(passed: &Passed<'_>, artifacts: &mut Artifacts<'_>) -> Result<Vec<u8>, Failure> {
    let (stored, job) = (passed.report, passed.ended.job.id);
    let bytes = artifacts(&stored.sha256)?;
    if Digest::of(&bytes) != stored.sha256 {
        return Err(Failure::new(
            Code::PromotionFailed,
            format!("the stored report of job {job} is not the one that was read"),
        ));
    }
    Ok(normalise::clean(&bytes))
}

fn sidecar(
    round: &ApprovedRound,
    passed: &Passed<'_>,
    policy_sha256: &Digest,
    report: &[u8],
) -> Sidecar {
    let (job, outcome) = (&passed.ended.job, &passed.ended.outcome);
    let (pin, spec) = (&round.pinned, &round.spec);
    let agent = passed.slot.agent_at(job.rank).unwrap_or(&passed.slot.agent);
    let report_sha256 = Digest::of(report);
    let received = &passed.report.sha256;
    let (rulings, advisory) = settled(round, passed);
    Sidecar {
        schema: SidecarSchema::V1,
        loop_id: spec.loop_id,
        round: round.round,
        job: job.id,
        job_round: job.round,
        attempt: job.attempt,
        slot: passed.slot.name.clone(),
        agent: passed.agent.clone(),
        transport: Transport::from(&agent.kind),
        confinement: outcome.confinement,
        base: pin.identity.base.clone(),
        base_ref: base_ref(spec),
        base_tip: pin.base_tip.clone(),
        head: pin.identity.head.clone(),
        head_at_promotion: round.before_promotion.pin.identity.head.clone(),
        tree: pin.identity.tree.clone(),
        content_tree: pin.identity.content_tree.clone(),
        snapshot: pin.snapshot.clone(),
        evidence: job.evidence,
        verdict: passed.review.verdict,
        by: passed.by,
        coverage: passed.review.coverage,
        receipts: Receipts {
            shown: passed.review.receipts,
            of: u32::try_from(round.evidence.parts.len()).unwrap_or(u32::MAX),
        },
        findings: FindingCounts::of(&passed.review.findings),
        rulings,
        advisory,
        deviations: passed
            .review
            .deviations()
            .map(|answer| DeviatedItem {
                item: answer.item,
                note: answer.note.clone(),
            })
            .collect(),
        fail_on: spec.review.fail_on,
        scope: Scope::of(&round.evidence),
        report_received_sha256: (*received != report_sha256).then(|| received.clone()),
        report_sha256,
        diff_sha256: round.evidence.diff_sha256.clone(),
        prompt_sha256: outcome.prompt.as_ref().map(|prompt| prompt.sha256.clone()),
        policy_sha256: policy_sha256.clone(),
        engine_version: spec.engine_version.clone(),
        started_at: outcome.started_at,
        ended_at: outcome.ended_at,
    }
}

/// What took the force of the report's blocking findings: rulings, and those that came late.
fn settled(
    round: &ApprovedRound,
    passed: &Passed<'_>,
) -> (Vec<SettledFinding>, Vec<AdvisoryFinding>) {
    let bar = round.spec.review.fail_on;
    let (mut rulings, mut advisory) = (Vec::new(), Vec::new());
    for claim in passed
        .review
        .findings
        .iter()
        .filter(|claim| claim.blocks(bar))
    {
        match ledger::settled(round, passed.ended, claim) {
            Some(Settled::Ruled { finding, ruling }) => rulings.push(settled_by(finding, ruling)),
            Some(Settled::Late { finding }) => advisory.push(AdvisoryFinding {
                finding: finding.id.to_string(),
                title: finding.claim.title.clone(),
            }),
            // Such a report passes nothing: it is a later one that does.
            Some(Settled::TakenBack) | None => {}
        }
    }
    for (finding, ruling) in ledger::answered(round, passed.ended) {
        rulings.push(settled_by(finding, ruling));
    }
    (rulings, advisory)
}

fn settled_by(finding: &Finding, ruling: &Ruling) -> SettledFinding {
    SettledFinding {
        finding: finding.id.to_string(),
        title: finding.claim.title.clone(),
        ruling: ruling.ruling,
        note: ruling.note.clone(),
    }
}

fn base_ref(spec: &RunSpec) -> Option<String> {
    match &spec.base {
        BaseSpec::MergeBase { resolved, .. } => Some(resolved.clone()),
        BaseSpec::StartHead { .. } => None,
    }
}

fn panel_slot(
    spec: &RunSpec,
    slot: &Slot,
    agent: AgentIdentity,
    rank: usize,
    standing: Option<Standing>,
) -> PanelSlot {
    PanelSlot {
        slot: slot.name.clone(),
        reader: slot.is_reader(),
        contract: slot.agent_at(rank).unwrap_or(&slot.agent).contract,
        agent,
        fail_on: spec.review.fail_on,
        instructions: InstructionHash::of(slot),
        standing: standing.unwrap_or(Standing::NoVerdict),
    }
}

fn listed(reports: &str, file: &SlotFile) -> EvidenceFile {
    EvidenceFile {
        path: format!("{reports}/{}/{}", file.slot, file.name),
        sha256: Digest::of(&file.bytes),
    }
}

fn manifest(
    round: &ApprovedRound,
    panel: Vec<PanelSlot>,
    readers: u32,
    (policy, policy_sha256): (EffectivePolicy, Digest),
    files: Vec<EvidenceFile>,
    now: Timestamp,
) -> Manifest {
    let (pin, spec) = (&round.pinned, &round.spec);
    let plan_sha256 = plan_file(round).map(|file| Digest::of(&file.bytes));
    let received = round.plan.as_ref().map(|(_, sha256)| sha256.clone());
    Manifest {
        schema: ManifestSchema::V1,
        loop_id: spec.loop_id,
        round: round.round,
        identity: pin.identity.clone(),
        head_at_promotion: round.before_promotion.pin.identity.head.clone(),
        snapshot: pin.snapshot.clone(),
        branch: pin.branch.clone(),
        base_ref: base_ref(spec),
        base_tip: pin.base_tip.clone(),
        panel,
        readers,
        plan_received_sha256: received.filter(|received| Some(received) != plan_sha256.as_ref()),
        plan_sha256,
        policy,
        policy_sha256,
        config_sha256: spec.config_sha256.clone(),
        engine_version: spec.engine_version.clone(),
        started_at: round.started_at,
        promoted_at: now,
        files,
    }
}

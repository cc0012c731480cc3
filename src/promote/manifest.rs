//! The manifest of an approval: the whole panel, the identity, the policy, the hash of every file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::agent::Contract;
use crate::domain::digest::Digest;
use crate::domain::id::{JobId, LoopId, RoundNumber};
use crate::domain::identity::Identity;
use crate::domain::isolation::{EvidenceKind, Isolation};
use crate::domain::oid::Oid;
use crate::domain::policy::Policy;
use crate::domain::run_spec::{CheckSpec, Quorum, RunSpec};
use crate::domain::severity::Severity;
use crate::domain::slot::{Slot, SlotName};
use crate::domain::time::Timestamp;
use crate::domain::verdict::{Coverage, PassedBy};
use crate::promote::canonical;
use crate::promote::sidecar::AgentIdentity;

/// The file that makes promoted reports count. Read strictly: a newer schema is not guessed at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format.
    pub schema: ManifestSchema,
    /// The run.
    #[schemars(with = "String")]
    pub loop_id: LoopId,
    /// The round that was approved.
    #[schemars(with = "u32")]
    pub round: RoundNumber,
    /// What was approved.
    pub identity: Identity,
    /// HEAD when it was promoted.
    pub head_at_promotion: Oid,
    /// The commit that held the tree.
    pub snapshot: Oid,
    /// The source's branch; `null` when HEAD was detached.
    pub branch: Option<String>,
    /// The ref that the base came from; `null` where the base was HEAD at the start.
    pub base_ref: Option<String>,
    /// The tip of that ref when the round was pinned.
    pub base_tip: Option<Oid>,
    /// Every slot of the panel, in its order.
    pub panel: Vec<PanelSlot>,
    /// How many slots read the change and passed; 0 means that nobody read it.
    pub readers: u32,
    /// The hash of the plan's file, which is the last of `files`. `null` where there was no plan.
    pub plan_sha256: Option<Digest>,
    /// The hash of the plan as it was worked by, where that has trailing blanks or other line ends that the
    /// file has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_received_sha256: Option<Digest>,
    /// What the approval was measured by.
    pub policy: EffectivePolicy,
    /// The hash of `policy` in the form of these files.
    pub policy_sha256: Digest,
    /// The hash of the effective configuration.
    pub config_sha256: Digest,
    /// The version of `run-loop`.
    pub engine_version: String,
    /// When the run was started, in milliseconds since the Unix epoch.
    #[schemars(with = "i64")]
    pub started_at: Timestamp,
    /// When it was promoted, in milliseconds since the Unix epoch.
    #[schemars(with = "i64")]
    pub promoted_at: Timestamp,
    /// Every promoted file but this one.
    pub files: Vec<EvidenceFile>,
}

/// The format of a manifest; this version reads no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ManifestSchema {
    /// The first.
    #[serde(rename = "run-loop/manifest/1")]
    V1,
}

/// One slot of the panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelSlot {
    /// Its name.
    pub slot: SlotName,
    /// Whether somebody reads the change in it: every slot but `checks`.
    pub reader: bool,
    /// The agent that passed it; the slot's own where none did.
    pub agent: AgentIdentity,
    /// How that agent's report was read.
    pub contract: Contract,
    /// Findings at least this bad blocked.
    pub fail_on: Severity,
    /// The extra instructions it was given.
    pub instructions: Vec<InstructionHash>,
    /// How it stood at the end.
    pub standing: Standing,
}

/// How a slot stood at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "standing", rename_all = "snake_case", deny_unknown_fields)]
pub enum Standing {
    /// It passed.
    Passed {
        /// The job whose report says so.
        #[schemars(with = "String")]
        job: JobId,
        /// By what.
        by: PassedBy,
        /// What the report says it read.
        coverage: Coverage,
        /// What the reviewer saw.
        evidence: EvidenceKind,
    },
    /// It has no verdict, which the quorum forgives.
    NoVerdict,
}

/// A file of instructions, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionHash {
    /// Its path, relative to the repository's root.
    pub path: String,
    /// The hash of its text.
    pub sha256: Digest,
}

impl InstructionHash {
    /// The instructions of a slot.
    #[must_use]
    pub fn of(slot: &Slot) -> Vec<Self> {
        slot.instructions
            .iter()
            .map(|text| Self {
                path: text.path.clone(),
                sha256: text.sha256.clone(),
            })
            .collect()
    }
}

/// What an approval was measured by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EffectivePolicy {
    /// The policy proper.
    pub policy: Policy,
    /// Findings at least this bad blocked.
    pub fail_on: Severity,
    /// How reviewers were kept apart from the source.
    pub isolation: Isolation,
    /// How many slots had to have a verdict; `null` is all of them.
    pub quorum: Option<u32>,
    /// Globs of paths whose bytes were not shown.
    pub exclude: Vec<String>,
    /// The hash of the commands of `checks`, set-up included.
    pub checks_sha256: Digest,
}

impl EffectivePolicy {
    /// What a run is measured by.
    pub fn of(spec: &RunSpec) -> Result<Self, canonical::Error> {
        Ok(Self {
            policy: spec.policy.clone(),
            fail_on: spec.review.fail_on,
            isolation: spec.review.isolation,
            quorum: match spec.review.quorum {
                Quorum::All => None,
                Quorum::AtLeast(count) => Some(count),
            },
            exclude: spec.review.exclude.clone(),
            checks_sha256: checks_digest(&spec.checks, &spec.setup)?,
        })
    }
}

/// The hash of the commands of `checks`: what its definition is beside the built-in rules.
pub fn checks_digest(checks: &[CheckSpec], setup: &[String]) -> Result<Digest, canonical::Error> {
    canonical::digest(&(checks, setup))
}

/// A promoted file and its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceFile {
    /// The path, relative to the control root.
    pub path: String,
    /// The hash of its bytes.
    pub sha256: Digest,
}

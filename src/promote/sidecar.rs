//! The identity sidecar of one promoted report (row M-085).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::agent::{Agent, AgentKind};
use crate::domain::confinement::Confinement;
use crate::domain::digest::Digest;
use crate::domain::evidence::{Evidence, UnreviewedKind};
use crate::domain::finding::Claim;
use crate::domain::id::{JobId, LoopId, RoundNumber};
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::RulingKind;
use crate::domain::oid::Oid;
use crate::domain::severity::Severity;
use crate::domain::slot::SlotName;
use crate::domain::time::Timestamp;
use crate::domain::verdict::{Coverage, PassedBy, Verdict};

/// What one report approved, by whom, seen how. Read strictly: a newer schema is not guessed at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    /// The format.
    pub schema: SidecarSchema,
    /// The run.
    #[schemars(with = "String")]
    pub loop_id: LoopId,
    /// The round whose identity was approved.
    #[schemars(with = "u32")]
    pub round: RoundNumber,
    /// The job whose report this is.
    #[schemars(with = "String")]
    pub job: JobId,
    /// The round that the job was asked in: an earlier one where it was on the same base and
    /// content.
    #[schemars(with = "u32")]
    pub job_round: RoundNumber,
    /// Which attempt of the slot in the round, from 1.
    pub attempt: u32,
    /// The slot.
    pub slot: SlotName,
    /// Who reviewed.
    pub agent: AgentIdentity,
    /// How the agent was reached.
    pub transport: Transport,
    /// What kept the agent from writing outside its tree.
    pub confinement: Confinement,
    /// The commit that the change was judged against.
    pub base: Oid,
    /// The ref it came from; `null` where the base was HEAD at the start.
    pub base_ref: Option<String>,
    /// The tip of that ref when the round was pinned.
    pub base_tip: Option<Oid>,
    /// HEAD when the round was pinned.
    pub head: Oid,
    /// HEAD when it was promoted; another commit of the same content where the user committed it.
    pub head_at_promotion: Oid,
    /// The tree of the snapshot.
    pub tree: Oid,
    /// The same tree without promoted evidence: what the gate compares.
    pub content_tree: Oid,
    /// The commit that held the tree.
    pub snapshot: Oid,
    /// What the reviewer saw.
    pub evidence: EvidenceKind,
    /// The verdict as given.
    pub verdict: Verdict,
    /// By what the slot passed.
    pub by: PassedBy,
    /// What the report says it read.
    pub coverage: Coverage,
    /// Receipts of the diff's parts.
    pub receipts: Receipts,
    /// How many findings the report has.
    pub findings: FindingCounts,
    /// Blocking findings of the report that were withdrawn or overruled.
    pub rulings: Vec<SettledFinding>,
    /// Findings of the report that would block and came late, on lines that were not touched since
    /// the slot's last report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advisory: Vec<AdvisoryFinding>,
    /// Acceptance items of the plan that the change deviates from, as the report says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<DeviatedItem>,
    /// Findings at least this bad blocked.
    pub fail_on: Severity,
    /// What was and was not shown.
    pub scope: Scope,
    /// The hash of the promoted report.
    pub report_sha256: Digest,
    /// The hash of the report as received, where trailing blanks were taken off it.
    pub report_received_sha256: Option<Digest>,
    /// The hash of the whole diff.
    pub diff_sha256: Digest,
    /// The hash of the prompt; `null` for `checks`, which has none.
    pub prompt_sha256: Option<Digest>,
    /// The hash of the effective policy, which stands in the manifest.
    pub policy_sha256: Digest,
    /// The version of `run-loop`.
    pub engine_version: String,
    /// When the job was started, in milliseconds since the Unix epoch.
    #[schemars(with = "i64")]
    pub started_at: Timestamp,
    /// When it had ended, in milliseconds since the Unix epoch.
    #[schemars(with = "i64")]
    pub ended_at: Timestamp,
}

/// A blocking finding that no longer stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettledFinding {
    /// Its number in the run, as it is shown: `F-1`.
    pub finding: String,
    /// Its title.
    pub title: String,
    /// What was ruled: `withdrawn` by its reviewer, or `overruled` by the arbiter.
    pub ruling: RulingKind,
    /// Why, in the words of who ruled.
    pub note: String,
}

/// A finding that does not block since it came late.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvisoryFinding {
    /// Its number in the run, as it is shown: `F-1`.
    pub finding: String,
    /// Its title.
    pub title: String,
}

/// An acceptance item in whose place something else holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviatedItem {
    /// Its number in the plan.
    pub item: u32,
    /// Why, in the reviewer's words.
    pub note: String,
}

/// The format of a sidecar; this version reads no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SidecarSchema {
    /// The first.
    #[serde(rename = "run-loop/sidecar/1")]
    V1,
}

/// An agent's definition, as far as others may know it: no path, no arguments, no variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentIdentity {
    /// The name in the configuration, or a built-in name.
    pub name: String,
    /// The model that answered, as its program told; else the one that the definition states.
    pub model: Option<String>,
    /// The program's version, where it is known.
    pub version: Option<String>,
    /// Agents of one family share their blind spots.
    pub family: String,
    /// The hash of the whole definition.
    pub definition: Digest,
}

impl From<&Agent> for AgentIdentity {
    fn from(agent: &Agent) -> Self {
        let model = match &agent.kind {
            AgentKind::Profile(program) => program.model.clone(),
            AgentKind::Command(_) | AgentKind::Checks | AgentKind::Human => None,
        };
        Self {
            name: agent.name.clone(),
            model,
            version: None,
            family: agent.family.clone(),
            definition: agent.definition.clone(),
        }
    }
}

/// How an agent was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// A program of the user's, as a child process.
    Command,
    /// Built in.
    Checks,
    /// A person at a terminal.
    Human,
}

impl From<&AgentKind> for Transport {
    fn from(kind: &AgentKind) -> Self {
        match kind {
            AgentKind::Command(_) | AgentKind::Profile(_) => Self::Command,
            AgentKind::Checks => Self::Checks,
            AgentKind::Human => Self::Human,
        }
    }
}

/// Receipts of the diff's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receipts {
    /// How many the report showed, rightly.
    pub shown: u32,
    /// How many there were.
    pub of: u32,
}

/// How many findings a report has (scenario S26: none, and some below the bar, are two results).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingCounts {
    /// Critical ones.
    pub critical: u32,
    /// High ones.
    pub high: u32,
    /// Medium ones.
    pub medium: u32,
    /// Low ones.
    pub low: u32,
    /// Remarks.
    pub info: u32,
    /// How many of all these stood there before the change.
    pub pre_existing: u32,
}

impl FindingCounts {
    /// Counts the claims of a report.
    #[must_use]
    pub fn of(claims: &[Claim]) -> Self {
        let mut counts = Self::default();
        for claim in claims {
            let of_severity = match claim.severity {
                Severity::Critical => &mut counts.critical,
                Severity::High => &mut counts.high,
                Severity::Medium => &mut counts.medium,
                Severity::Low => &mut counts.low,
                Severity::Info => &mut counts.info,
            };
            *of_severity += 1;
            counts.pre_existing += u32::from(claim.pre_existing);
        }
        counts
    }
    /// How many there are at least as bad as `bar`, pre-existing ones included.
    #[must_use]
    pub fn at_least(&self, bar: Severity) -> u32 {
        [
            (Severity::Critical, self.critical),
            (Severity::High, self.high),
            (Severity::Medium, self.medium),
            (Severity::Low, self.low),
            (Severity::Info, self.info),
        ]
        .into_iter()
        .filter_map(|(severity, count)| (severity >= bar).then_some(count))
        .sum()
    }
    /// How many there are.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.at_least(Severity::Info)
    }
}

/// What was and was not shown to reviewers, in numbers of changed files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// All changed files.
    pub files: u32,
    /// Not shown: named by `review.exclude`.
    pub excluded: u32,
    /// Not shown: binary.
    pub binary: u32,
    /// Not shown: pointers of git-lfs.
    pub lfs_pointer: u32,
    /// Not shown: submodules.
    pub submodule: u32,
}

impl Scope {
    /// Counts the files of the evidence.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let mut scope = Self::default();
        for file in &evidence.files {
            scope.files += 1;
            if let Some(kind) = file.unreviewed {
                *scope.count_mut(kind) += 1;
            }
        }
        scope
    }
    /// How many changed files were not shown for this reason.
    #[must_use]
    pub fn unreviewed(&self, kind: UnreviewedKind) -> u32 {
        let mut copy = *self;
        *copy.count_mut(kind)
    }

    fn count_mut(&mut self, kind: UnreviewedKind) -> &mut u32 {
        match kind {
            UnreviewedKind::Excluded => &mut self.excluded,
            UnreviewedKind::Binary => &mut self.binary,
            UnreviewedKind::LfsPointer => &mut self.lfs_pointer,
            UnreviewedKind::Submodule => &mut self.submodule,
        }
    }
}

//! The merged configuration as types; every value is there, since the lowest layer has them all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::agent::{Contract, PromptChannel, ReportChannel};
use crate::domain::isolation::Isolation;
use crate::domain::job::Role;
use crate::domain::policy::{AllowFinding, AllowUnreviewed};
use crate::domain::run_spec::Quorum;
use crate::domain::severity::Severity;

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Settings {
    /// The version of the form.
    pub version: u32,
    /// Agents by name.
    pub agents: BTreeMap<String, AgentEntry>,
    /// Who does what.
    pub roles: Roles,
    /// The rules of the review.
    pub review: Review,
    /// Commands of `checks`.
    pub checks: Vec<CheckEntry>,
    /// Commands before them.
    pub setup: Vec<String>,
    /// Folders that are kept.
    pub cache: Vec<String>,
    /// A folder of templates.
    pub templates: Option<String>,
    /// Budgets.
    pub limits: Limits,
    /// What tokens cost.
    pub prices: Vec<PriceEntry>,
    /// What an approval must fulfil.
    pub policy: PolicyEntry,
    /// Where promoted evidence lies.
    pub reports: String,
}

/// An agent as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AgentEntry {
    /// A built-in profile.
    pub profile: Option<String>,
    /// The model, for a profile.
    pub model: Option<String>,
    /// The effort, for a profile.
    pub effort: Option<String>,
    /// What kind of agent it is.
    pub kind: Option<Kind>,
    /// The program and its arguments.
    pub command: Option<Vec<String>>,
    /// How the prompt is handed over.
    pub prompt: Option<PromptChannel>,
    /// What standard output holds.
    pub output: Option<String>,
    /// The report's channel.
    pub report: Option<ReportChannel>,
    /// How the report is read.
    pub contract: Option<Contract>,
    /// Whether it cannot see this machine.
    #[serde(default)]
    pub remote: bool,
    /// Its family.
    pub family: Option<String>,
    /// A job's budget in seconds.
    pub timeout: Option<u64>,
    /// Variables passed on.
    #[serde(default)]
    pub env: Vec<String>,
    /// Whether it is confined where it may not write; unsaid, what its profile says.
    pub confine: Option<bool>,
}

/// A kind of agent, as configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A program.
    Command,
    /// A person.
    Human,
    /// A program that speaks the Agent Client Protocol.
    Acp,
}

/// Who does what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Roles {
    /// The agent that plans.
    pub planner: Option<String>,
    /// The agent that writes.
    pub creator: Option<String>,
    /// The panel; `None` where nobody said.
    pub reviewers: Option<Vec<ReviewerEntry>>,
    /// The agent that rules on disputes.
    pub arbiter: Option<String>,
}

/// One slot, as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ReviewerEntry {
    /// The agent.
    pub agent: String,
    /// The slot's name.
    pub name: Option<String>,
    /// Files of extra instructions.
    #[serde(default)]
    pub instructions: Vec<String>,
    /// Agents tried next.
    #[serde(default)]
    pub fallback: Vec<String>,
    /// What its reports must show.
    pub coverage: Option<Coverage>,
}

/// What reports must show of what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// Receipts, and each changed file.
    Strict,
    /// Nothing.
    None,
}

/// The rules of the review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Review {
    /// How many rounds at most.
    pub max_rounds: u32,
    /// The bar.
    pub fail_on: Severity,
    /// What the base must be.
    pub base: BaseRule,
    /// What slots must show.
    pub coverage: Coverage,
    /// How many slots must have a verdict.
    pub quorum: Quorum,
    /// How reviewers are kept apart; what the gate asks for.
    pub isolation: Isolation,
    /// How many jobs run at once.
    pub max_parallel: u32,
    /// How many bytes of the diff stand in a prompt.
    pub diff_cap: u64,
    /// Globs of paths that are not shown.
    pub exclude: Vec<String>,
}

/// What the base must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseRule {
    /// The merge base of the name and HEAD.
    MergeBase,
    /// The name itself must be an ancestor of HEAD.
    Ancestor,
}

/// A command of `checks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CheckEntry {
    /// Its name.
    pub name: String,
    /// The command line.
    pub run: String,
    /// Its time limit in seconds.
    #[serde(default = "check_timeout")]
    pub timeout: u64,
}

/// As in the documented example.
fn check_timeout() -> u64 {
    900
}

/// Budgets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Limits {
    /// A job's budget in seconds.
    pub job_timeout: u64,
    /// How many seconds delegated jobs are waited for.
    pub job_wait: Option<u64>,
    /// A run's, in seconds.
    pub max_wall: Option<u64>,
    /// A run's, in USD.
    pub max_cost: Option<f64>,
    /// The most seconds for a job, by its role.
    pub phases: BTreeMap<Role, u64>,
}

/// What a million tokens of a model cost, as configured, in USD as decimal text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PriceEntry {
    /// The model.
    pub model: String,
    /// Read.
    pub input: String,
    /// Written.
    pub output: String,
    /// Read from a cache.
    pub cached: Option<String>,
    /// Written to a cache.
    pub cache_write: Option<String>,
}

/// What an approval must fulfil, as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyEntry {
    /// Slots that must have passed.
    pub require: Vec<String>,
    /// Who vouches for evidence files.
    pub attest: String,
    /// Which other commits an approval covers.
    pub carry: String,
    /// Whether the base's tip must be an ancestor of what merges.
    pub up_to_date: bool,
    /// How many families must have read.
    pub families: u32,
    /// What may stay unreviewed.
    pub allow_unreviewed: Vec<AllowUnreviewed>,
    /// Findings of `checks` that do not block.
    pub allow_findings: Vec<AllowFinding>,
}

//! What the gate is asked, and what the base says about it.

use std::path::Path;

use crate::domain::agent::Agent;
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::isolation::Isolation;
use crate::domain::oid::Oid;
use crate::domain::policy::Policy;
use crate::domain::run_spec::Quorum;
use crate::domain::severity::Severity;
use crate::domain::slot::Slot;
use crate::git::{Git, Repository};
use crate::store::Attestations;

/// A question to the gate.
#[derive(Clone, Copy)]
pub struct GateRequest<'a> {
    /// The git program.
    pub git: &'a Git,
    /// The repository.
    pub repository: &'a Repository,
    /// The git directory of the review store, if there is one: snapshots of uncommitted edits lie
    /// there, and only with them can the paths that differ be named.
    pub store: Option<&'a Path>,
    /// Where it merges (`--base`); the default branch when not given.
    pub base: Option<&'a str>,
    /// What merges (`--head`); HEAD when not given.
    pub head: Option<&'a str>,
    /// The commit that head must be (`--expect-head`).
    pub expect_head: Option<&'a str>,
    /// The rules that the configuration at a commit states; built-in defaults where it has none.
    /// It must not read a working copy, and need not find any agent's program.
    pub policy_at: &'a dyn Fn(&Oid) -> Result<GatePolicy, Failure>,
    /// What this repository's own state vouches for.
    pub attestations: &'a dyn Fn() -> Result<Attestations, Failure>,
}

impl std::fmt::Debug for GateRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GateRequest")
            .field("repository", self.repository)
            .field("base", &self.base)
            .field("head", &self.head)
            .field("expect_head", &self.expect_head)
            .finish_non_exhaustive()
    }
}

/// What the base asks of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatePolicy {
    /// The policy.
    pub policy: Policy,
    /// Where promoted evidence lies, relative to the control root.
    pub reports: String,
    /// Findings at least this bad must have blocked (`review.fail-on`).
    pub fail_on: Severity,
    /// How reviewers must have been kept apart (`review.isolation`).
    pub isolation: Isolation,
    /// How many slots must have a verdict (`review.quorum`).
    pub quorum: Quorum,
    /// The hash of the commands of `checks`, as
    /// [`checks_digest`](crate::promote::manifest::checks_digest) computes it.
    pub checks_sha256: Digest,
    /// The slots that the base defines (`roles.reviewers`).
    pub panel: Vec<Slot>,
    /// Every agent that the base defines.
    pub agents: Vec<Agent>,
}

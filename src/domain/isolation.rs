//! What a reviewer sees, and the name that goes into the sidecar.

use serde::{Deserialize, Serialize};

/// How reviewers are kept apart from the source (row M-070).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// A detached checkout of the snapshot for each slot.
    #[default]
    Worktree,
    /// The source root itself; only by explicit option.
    Env,
}

/// The evidence a slot judged by (rows M-085 and T-019).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// A detached review tree.
    ReviewTree,
    /// The source tree (`--review-isolation env`).
    SourceTree,
    /// The diff alone (`--remote-review diff-only`).
    DiffOnly,
}

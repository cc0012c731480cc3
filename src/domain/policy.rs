//! What an approval must fulfil; read from the base, never from the tree under review.

use serde::{Deserialize, Serialize};

use crate::domain::slot::SlotName;

/// The effective policy, with its defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Slots that must have passed; empty means any complete panel with at least one reader.
    pub require: Vec<SlotName>,
    /// Who vouches for the evidence files.
    pub attest: Attest,
    /// Which other commits an approval covers.
    pub carry: Carry,
    /// Whether the base's tip must be an ancestor of what merges.
    pub up_to_date: bool,
    /// How many agent families must have read the change.
    pub families: u32,
    /// Kinds and paths of files that may stay unreviewed.
    pub allow_unreviewed: Vec<AllowUnreviewed>,
    /// Findings of the `checks` reviewer that are reported, but do not block.
    #[serde(default)]
    pub allow_findings: Vec<AllowFinding>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            require: Vec::new(),
            attest: Attest::Journal,
            carry: Carry::Identity,
            up_to_date: true,
            families: 1,
            allow_unreviewed: Vec::new(),
            allow_findings: Vec::new(),
        }
    }
}

/// Who vouches for promoted files, which by themselves are claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Attest {
    /// This repository's own state must know the manifest's hash.
    Journal,
    /// Nobody: the files alone are believed, and the gate says so.
    Files,
}

/// Which other commits an approval covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Carry {
    /// Any commit with the same content: message, author and history do not matter.
    Identity,
    /// Only the very commit that was approved.
    None,
}

/// A kind of file, under a glob, that may stay unreviewed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowUnreviewed {
    /// The kind.
    pub kind: crate::domain::evidence::UnreviewedKind,
    /// A glob over repository paths: `*` within a component, `**` across them.
    pub paths: String,
}

/// A rule of the `checks` reviewer that does not block under a glob: test keys, instruction files
/// that the project edits on purpose. Read from the base, so that no change can allow itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowFinding {
    /// The rule's name as its findings print it (`private-key`, `control-file`).
    pub rule: String,
    /// A glob over repository paths: `*` within a component, `**` across them.
    pub paths: String,
}

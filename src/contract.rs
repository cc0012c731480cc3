//! What agents are asked, and what counts as their answer.
//!
//! Owns: the prompts (`templates/`), the report contract and its reading. Never: I/O beyond given
//! text, clocks, randomness.
//!
//! # Invariants
//!
//! - A reading is a verdict only if the whole report fulfils the contract: silence, an echo of the
//!   prompt, a torn or quoted block, a wrong nonce are never PASS.
//! - Claims never vanish: what can be decoded of an invalid report is kept, and never softened.
//! - Nothing here tells an agent a receipt that it did not read itself.
//!
//! Tests: `tests/contract.rs`.

pub mod acceptance;
mod claims;
pub mod delegation;
pub mod findings;
mod form;
mod json;
mod judge;
mod line;
mod markdown;
mod object;
pub mod prompt;
pub mod reply;
pub mod review;
pub mod schema;
pub mod structured;
mod text;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::domain::agent::Contract;
use crate::domain::evidence::Evidence;
use crate::domain::id::FindingId;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::severity::Severity;

pub use prompt::Error;

/// What a report must show to count.
#[derive(Clone, Copy)]
pub struct Expect<'a> {
    /// How the agent answers.
    pub contract: Contract,
    /// The job's nonce: lower-case hexadecimal.
    pub nonce: &'a str,
    /// The snapshot's tree (`identity.tree`).
    pub tree: &'a Oid,
    /// What the reviewer was shown.
    pub evidence: &'a Evidence,
    /// Findings at least this bad block.
    pub fail_on: Severity,
    /// The plan's acceptance items ([`acceptance::items`]); a PASS answers each of them.
    pub items: &'a BTreeSet<u32>,
    /// The earlier findings that the prompt shows, with the paths that they cite: a report speaks of no
    /// others.
    pub prior: &'a BTreeMap<FindingId, Option<RepoPath>>,
    /// What lies at a path in the snapshot's tree; `None` where no regular text file lies, or nobody
    /// knows. A place that does not resolve never lowers anything (scenario S26), so `&|_| None` is
    /// safe.
    pub text_at: &'a dyn Fn(&RepoPath) -> Option<TextFile>,
}

/// A regular text file of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its blob.
    pub blob: Oid,
    /// How many lines it has.
    pub lines: u32,
}

impl fmt::Debug for Expect<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expect")
            .field("contract", &self.contract)
            .field("tree", &self.tree)
            .field("fail_on", &self.fail_on)
            .finish_non_exhaustive()
    }
}

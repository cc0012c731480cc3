//! Reviewer positions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::domain::agent::Agent;
use crate::domain::digest::Digest;

/// A slot's name: `[a-z0-9][a-z0-9._-]{0,63}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct SlotName(String);

impl SlotName {
    /// Reads a slot name; one that does not match the pattern is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = text.bytes();
        let first = bytes.next()?;
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let ok = text.len() <= 64 && fits(first) && bytes.all(|b| fits(b) || b"._-".contains(&b));
        ok.then(|| Self(text.to_owned()))
    }
    /// The name of the built-in `checks` slot.
    #[must_use]
    pub fn checks() -> Self {
        Self("checks".to_owned())
    }
    /// The reserved name under which the creator's jobs run.
    #[must_use]
    pub fn creator() -> Self {
        Self("creator".to_owned())
    }
    /// The reserved name of the slot in which a creator reviews its own work.
    #[must_use]
    pub fn self_review() -> Self {
        Self("self-review".to_owned())
    }
    /// The reserved name under which the planner's jobs run.
    #[must_use]
    pub fn planner() -> Self {
        Self("planner".to_owned())
    }
    /// The reserved name under which the arbiter's jobs run.
    #[must_use]
    pub fn arbiter() -> Self {
        Self("arbiter".to_owned())
    }
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SlotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SlotName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a slot name"))
    }
}

/// One reviewer position of the panel, frozen at the start of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slot {
    /// The slot's name, unique in the panel.
    pub name: SlotName,
    /// The agent that fills the slot.
    pub agent: Agent,
    /// Agents tried in order when the one before gave no verdict.
    pub fallback: Vec<Agent>,
    /// Extra instructions for this slot, read from the base.
    pub instructions: Vec<Instruction>,
}

impl Slot {
    /// The agent of the given rank: 0 is the slot's own, then the fallbacks.
    #[must_use]
    pub fn agent_at(&self, rank: usize) -> Option<&Agent> {
        if rank == 0 {
            Some(&self.agent)
        } else {
            self.fallback.get(rank - 1)
        }
    }
    /// Whether an agent of this slot cannot see this machine's files.
    #[must_use]
    pub fn has_remote_agent(&self) -> bool {
        self.agent.remote || self.fallback.iter().any(|agent| agent.remote)
    }
    /// Whether somebody reads the change in this slot: every slot but `checks` is a reader.
    #[must_use]
    pub fn is_reader(&self) -> bool {
        !self.agent.is_checks()
    }
}

/// A file of instructions for one slot, with the text that was frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// Where the text was read, relative to the repository's root.
    pub path: String,
    /// The text.
    pub text: String,
    /// The text's hash.
    pub sha256: Digest,
}

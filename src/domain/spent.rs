//! What a job used, as its program told it. What is not told is not known, and never zero.

use serde::{Deserialize, Serialize};

/// What one job's program told of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Its session, by the program's own id.
    pub session: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The program's version.
    pub version: Option<String>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: Option<u64>,
    /// How many tool calls were denied to it.
    pub denied: u32,
}

/// Tokens of a job, as far as they were told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Read by the model, those from a cache among them or not as the program counts.
    pub input: Option<u64>,
    /// Written by it.
    pub output: Option<u64>,
    /// Read from a cache.
    pub cached: Option<u64>,
    /// Written to a cache.
    pub cache_write: Option<u64>,
    /// Spent on thinking.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Whether nothing is told: a job that answered and used no token at all did not count them.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let all = [
            self.input,
            self.output,
            self.cached,
            self.cache_write,
            self.reasoning,
        ];
        all.into_iter().all(|told| told.unwrap_or(0) == 0)
    }
    /// Both together; what one of them does not tell is what the other tells.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cached: sum(self.cached, other.cached),
            cache_write: sum(self.cache_write, other.cache_write),
            reasoning: sum(self.reasoning, other.reasoning),
        }
    }
}

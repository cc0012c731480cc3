//! What a job used, as its program told it. What is not told is not known, and never zero.

use serde::{Deserialize, Serialize};

use crate::domain::limits::Reset;

/// What one job's program told of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    /// Its session, by the program's own id.
    pub session: Option<String>,
    /// The tree that it was started for, of this machine: its session goes on there alone. A reader that
    /// is started elsewhere has one folder with each tree; none where its session goes on nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The model that answered; of several all names, as one that has no price.
    pub model: Option<String>,
    /// The program's version.
    pub version: Option<String>,
    /// Tokens.
    pub usage: Option<Usage>,
    /// Cost in millionths of a US dollar.
    pub cost_micro_usd: Option<u64>,
    /// How many tool calls were denied to it.
    pub denied: u32,
    /// When the limit is lifted that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<Reset>,
}

impl Spent {
    /// What was used since: of what a program counts on from job to job of a session, without what
    /// was used in it before. What cannot be told apart is not known.
    #[must_use]
    pub fn since(self, before: &Self, counted_on: &[Counted]) -> Self {
        let counts_on = |what| counted_on.contains(&what);
        let usage = if counts_on(Counted::Usage) {
            let both = self.usage.zip(before.usage);
            both.and_then(|(all, before)| all.minus(before))
        } else {
            self.usage
        };
        let cost_micro_usd = if counts_on(Counted::Cost) {
            let both = self.cost_micro_usd.zip(before.cost_micro_usd);
            both.and_then(|(all, before)| all.checked_sub(before))
        } else {
            self.cost_micro_usd
        };
        Self {
            usage,
            cost_micro_usd,
            ..self
        }
    }
}

impl Spent {
    /// Two jobs of one session together, as far as both told.
    #[must_use]
    pub fn together(self, other: &Self) -> Self {
        let cost = self.cost_micro_usd.zip(other.cost_micro_usd);
        Self {
            usage: self.usage.zip(other.usage).map(|(a, b)| a.plus(b)),
            cost_micro_usd: cost.map(|(a, b)| a.saturating_add(b)),
            ..self
        }
    }
}

/// What a program may count on from job to job of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Tokens.
    Usage,
    /// Cost.
    Cost,
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
    /// What is left of it without the other; `None` where that is more.
    #[must_use]
    pub fn minus(self, other: Self) -> Option<Self> {
        let rest = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => one.checked_sub(two).map(Some),
            (one, _) => Some(one),
        };
        Some(Self {
            input: rest(self.input, other.input)?,
            output: rest(self.output, other.output)?,
            cached: rest(self.cached, other.cached)?,
            cache_write: rest(self.cache_write, other.cache_write)?,
            reasoning: rest(self.reasoning, other.reasoning)?,
        })
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

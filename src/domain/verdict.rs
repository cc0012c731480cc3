//! What a reviewer said, and how it came to count.

use serde::{Deserialize, Serialize};

/// A verdict. "None" is not one: it is the absence of a verdict, with a reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Verdict {
    /// The change is approved.
    #[serde(rename = "PASS")]
    Pass,
    /// The change is not approved.
    #[serde(rename = "NOT PASS")]
    NotPass,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Pass => "PASS",
            Self::NotPass => "NOT PASS",
        })
    }
}

/// By what a slot passed; written to its sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PassedBy {
    /// The reviewer said PASS.
    Reviewer,
    /// The reviewer said NOT PASS, but every finding is below `--fail-on` (scenario P02).
    Threshold,
    /// The built-in checks found nothing that blocks.
    Checks,
    /// The reviewer took back everything that blocked.
    Withdrawal,
    /// What still blocked was overruled by the arbiter; it is listed in the sidecar.
    Arbitration,
    /// The creator reviewed its own work.
    SelfReview,
}

impl PassedBy {
    /// The word of a sidecar.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reviewer => "reviewer",
            Self::Threshold => "threshold",
            Self::Checks => "checks",
            Self::Withdrawal => "withdrawal",
            Self::Arbitration => "arbitration",
            Self::SelfReview => "self-review",
        }
    }
}

/// How much of the change a report says it read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Coverage {
    /// Every receipt, and every changed file as `read` (up to 200 files).
    Full,
    /// Nothing is claimed: `contract: line` and people.
    None,
}

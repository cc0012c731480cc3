//! How much a finding matters.

use serde::{Deserialize, Serialize};

/// A finding's severity, worst last, so that `>=` means "at least as bad as".
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// A remark.
    Info,
    /// Would be nice to mend.
    Low,
    /// Should be mended.
    Medium,
    /// Must be mended.
    High,
    /// Must not be merged.
    Critical,
}

impl Severity {
    /// Reads a severity by its name or as `P0` … `P3` (`P0` is critical); any other word is `None`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "info" => Some(Self::Info),
            "low" | "p3" => Some(Self::Low),
            "medium" | "p2" => Some(Self::Medium),
            "high" | "p1" => Some(Self::High),
            "critical" | "p0" => Some(Self::Critical),
            _ => None,
        }
    }
    /// The lower-case name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

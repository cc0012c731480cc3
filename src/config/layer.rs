//! Layers, and where a value comes from.

use std::fmt;

use serde::Serialize;

/// A layer, strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Built in.
    Default,
    /// The user's own file.
    User,
    /// `run-loop.yaml` in the working copy, where the base has none.
    WorkingCopy,
    /// `run-loop.yaml` at the base.
    Repository,
    /// A variable.
    Environment,
    /// An option.
    Flag,
}

impl Layer {
    /// The layer, for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::WorkingCopy => "working-copy",
            Self::Repository => "repository",
            Self::Environment => "environment",
            Self::Flag => "flag",
        }
    }
    /// Whether the layer may hold this section. The tree under review, and whoever starts a run,
    /// must not soften what an approval means: that comes from the base.
    #[must_use]
    pub fn may_hold(self, section: &str) -> bool {
        match self {
            Self::Default | Self::Repository | Self::Environment | Self::Flag => true,
            Self::User if section == "prices" => true,
            // A price of nothing would lift every limit of cost.
            Self::User | Self::WorkingCopy => {
                matches!(section, "version" | "agents" | "roles" | "limits")
            }
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// The file, the variable or the option; `None` for what is built in.
    pub file: Option<String>,
    /// The line in the file, from 1.
    pub line: Option<usize>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.layer.as_str())?;
        if let Some(file) = &self.file {
            write!(f, " {file}")?;
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        Ok(())
    }
}

//! What kept an agent from reading and writing what is not its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What confined a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Nothing but the tripwire, which notices afterwards.
    #[default]
    None,
    /// The kernel's Landlock: it could write its tree, its job's folder, devices such as `/dev/null`
    /// and what its profile says that the program keeps of its own, nothing else, and read nothing
    /// of other jobs and slots.
    Landlock,
}

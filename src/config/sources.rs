//! What a configuration is made from; the caller has read it all.

use serde_json::Value as Json;

use crate::config::layer::Layer;

/// The layers' raw material. `config` itself asks no git and reads no repository.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `run-loop.yaml` at the base.
    pub base_file: Option<File>,
    /// `run-loop.yaml` in the working copy; it counts only where the base has none.
    pub working_copy: Option<WorkingCopy>,
    /// The user's own file.
    pub user_file: Option<File>,
    /// Profiles of the user's own, by the names of their files.
    pub profiles: Vec<File>,
    /// Options and variables.
    pub overrides: Vec<Override>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name for people: `run-loop.yaml at 59a13650c1d2`, or a path.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The working copy's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingCopy {
    /// The file.
    pub file: File,
    /// Whether this user trusts exactly these bytes (`config::trust`).
    pub trusted: bool,
}

/// A value from an option or a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    /// `Flag` or `Environment`.
    pub layer: Layer,
    /// The option or variable: `--max-rounds`.
    pub name: &'static str,
    /// The section: `review`.
    pub section: &'static str,
    /// The key in the section: `max-rounds`.
    pub key: &'static str,
    /// The value.
    pub value: Json,
}

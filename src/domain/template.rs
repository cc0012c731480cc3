//! Templates of prompts that the base brings along.

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;

/// A template that stands for the built-in one of its name, with the text that was frozen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The built-in template's name (`review.md`).
    pub name: String,
    /// The text.
    pub text: String,
    /// The text's hash.
    pub sha256: Digest,
}

//! Why the change could not be examined: every one of these leaves the slot without a verdict.

use std::io;

use crate::checks::secret;
use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// Why the change could not be examined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("git could not be run: {0}")]
    Git(#[from] io::Error),
    #[error("git {what} failed ({status}): {stderr}")]
    GitEnded {
        what: &'static str,
        status: String,
        stderr: String,
    },
    #[error("git {what} answered with something else: {found}")]
    GitAnswer { what: &'static str, found: String },
    #[error("the list of changed files and the two trees differ at `{path}`")]
    Evidence { path: String },
    #[error(transparent)]
    Rules(#[from] secret::Error),
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// The failure that the slot ends with.
    pub(crate) fn into_failure(self) -> Failure {
        Failure::new(
            Code::NoVerdict,
            format!("the checks could not examine the change: {self}"),
        )
    }
}

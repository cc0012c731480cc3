//! Linked working trees: making one for a branch, and removing one without losing anything.
//!
//! [`prepare`] takes back whatever it made when a step fails, and nothing else. [`remove`] refuses
//! as long as something would be lost that exists nowhere else; what cannot be examined counts as
//! at risk (rows M-220 to M-231). Both write to the user's repository: a branch, a working tree,
//! and what `git submodule init` enters into the configuration. Tests: `tests/worktree.rs`.

pub mod brought_back;
pub(crate) mod commits;
pub(crate) mod contents;
pub(crate) mod head_log;
pub(crate) mod modules;
pub mod prepare;
pub(crate) mod registered;
pub mod remove;
pub(crate) mod shared_config;
pub(crate) mod submodules;
pub(crate) mod undo;

use std::path::Path;

use crate::git::Error;
use crate::git::error::path_shown;

/// Something that exists nowhere but in the working tree, and what saves or shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Risk {
    /// What it is, with its place.
    pub what: String,
    /// The command that saves it, or shows it.
    pub next: Vec<String>,
}

impl Risk {
    pub(crate) fn new<'a>(
        what: impl Into<String>,
        next: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            what: what.into(),
            next: next.into_iter().map(str::to_owned).collect(),
        }
    }
    /// What cannot be examined is at risk: no answer is not "nothing".
    pub(crate) fn unknown(place: &Path, error: &dyn std::fmt::Display) -> Self {
        Self::new(
            format!(
                "what {} holds cannot be examined: {error}",
                path_shown(place)
            ),
            ["ls", "-la", &place.to_string_lossy()],
        )
    }
}

/// Lines of git's, without the last empty one.
fn lines(answer: &[u8]) -> Result<Vec<&str>, Error> {
    let text = std::str::from_utf8(answer).map_err(|_| Error::answer("git", answer))?;
    Ok(text.lines().filter(|line| !line.is_empty()).collect())
}

/// A number of commits, in words.
fn commits_shown(number: usize) -> String {
    if number == 1 {
        "1 commit".to_owned()
    } else {
        format!("{number} commits")
    }
}

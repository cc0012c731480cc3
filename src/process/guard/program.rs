//! Which program guards are started from.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The only argument of a guard; everything else comes over its standard input.
pub(crate) const ARGUMENT: &str = "__guard";

/// The program that guards are started from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardProgram(PathBuf);

impl GuardProgram {
    /// The running program itself.
    ///
    /// The kernel resolves this to the file that runs, not to what lies at its path by now: an
    /// upgrade in the middle of a run does not mix two versions.
    #[must_use]
    pub fn own() -> Self {
        Self(PathBuf::from("/proc/self/exe"))
    }
    /// The `run-loop` program at a path; for programs that link the library.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Whether this command line asks for a guard.
#[must_use]
pub fn is_asked(argv: &[OsString]) -> bool {
    argv.get(1).map(OsString::as_os_str) == Some(OsStr::new(ARGUMENT)) && argv.len() == 2
}

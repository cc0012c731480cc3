//! A first `run-loop.yaml`: from what a repository is, and who could review it.
//!
//! Owns: which commands a repository defines, and the file's text. Never: asking, running a
//! command, a command that the repository does not define. Tests: beside the code,
//! `tests/cli/init.rs`.

mod file;
mod javascript;
mod project;
mod python;
mod targets;

pub use file::{Who, text};
pub use project::{Check, Project};

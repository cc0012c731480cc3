//! Agents: starting one with exactly what it may see, and taking back what it hands over.
//!
//! Owns: finding programs, job folders, the environment of a job, dispatch by kind, profiles and adapters, reading a report as bytes. Never: what a report says, verdicts. Tests: `tests/process.rs`.

pub mod acp;
pub mod activity;
pub mod adapter;
pub mod command;
pub mod confined;
pub mod dispatched;
pub mod environment;
pub mod find;
pub mod handed_over;
pub mod human;
pub mod job_folder;
pub mod profile;
pub mod redact;
pub mod report_file;
pub mod version;

mod arguments;
mod folder;
pub(crate) mod wrap_up;

//! The vocabulary: ids, identity, verdicts, findings, events, exit codes.
//!
//! Owns: plain data and rules that follow from data alone. Never: I/O, clocks, randomness.
//! Every other module speaks in these types; their JSON form is what the journal stores.

pub mod agent;
pub mod code;
pub mod confinement;
pub mod control_files;
pub mod delegation;
pub mod digest;
pub mod effect;
pub mod end;
pub mod event;
pub mod evidence;
pub mod exit;
pub mod failure;
pub mod finding;
pub mod glob;
pub mod id;
pub mod identity;
pub mod isolation;
pub mod job;
pub mod job_view;
pub mod layout;
pub mod limits;
pub mod lines;
pub mod look;
pub mod lowered;
pub mod oid;
pub mod path;
pub mod policy;
pub mod price;
pub mod profile;
pub mod restoring;
pub mod ruled;
pub mod run_spec;
pub mod sealed;
pub mod seen;
pub mod severity;
pub mod slot;
pub mod spent;
pub mod sub_jobs;
pub mod summary;
pub mod template;
pub mod time;
pub mod tripwire;
pub mod trouble;
pub mod verdict;
pub mod work;

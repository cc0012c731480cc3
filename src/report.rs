//! What people and programs see of a run: lines while it goes on, the verdict matrix, NDJSON.
//!
//! Owns: rendering. Never: state. Everything is made from a run's events, so that a run that is
//! followed and a run that is read later look the same. All text from agents, git and the
//! reviewed tree passes [`text`]; the redaction of secrets will stand there too.
//! Tests: beside the code, and `tests/store/read.rs`.

pub mod agents;
pub mod cost;
pub mod deviation;
pub mod doctor;
pub mod follow;
pub mod human;
pub mod jobs;
pub mod ledger;
pub mod live;
pub mod ndjson;
pub mod plans;
pub mod public;
pub mod run;
pub mod scope;
pub mod short_id;
pub mod size;
pub mod table;
pub mod text;
pub mod time;

//! Processes: the only home of `Command`.
//!
//! Owns: spawning, groups, signals, capture. Never: the meaning of output. Children get exactly
//! the environment they are given; nothing is inherited. Tests: `tests/process.rs`.

pub mod captured;
pub mod command;
pub mod stream;
pub mod supervise;

mod contained;
mod members;
mod refusal;

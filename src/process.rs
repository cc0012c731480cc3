//! Processes: the only home of `Command`.
//!
//! Owns: spawning, guards, groups, signals, capture. Never: the meaning of output. Children get
//! exactly the environment they are given; nothing is inherited. Tests: `tests/process.rs`,
//! `tests/guard.rs`.

pub mod captured;
pub mod command;
pub mod confine;
pub mod guard;
pub mod stream;
pub mod supervise;

pub(crate) mod capture;
pub(crate) mod partner;

mod hidden;
mod refusal;
mod unix;
mod within;

pub use hidden::hide_own_environment;
pub use unix::outlive_file_size_limits;

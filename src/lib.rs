//! `run-loop` lets AI coding agents plan, write and review a change, and proves which exact
//! content was approved.
//!
//! The core is pure: [`domain`] holds plain data, `engine` decides. Everything that touches the
//! world (git, processes, files, clocks) is an adapter at the rim. `docs/architecture.md` says
//! which module owns what, and a test holds it true.

pub mod agent;
pub mod checks;
pub mod cleanup;
pub mod cli;
pub mod config;
pub mod contract;
pub mod domain;
pub mod engine;
pub mod gate;
pub mod git;
pub mod init;
pub mod lock;
pub mod process;
pub mod promote;
mod random;
pub mod report;
pub mod runtime;
pub mod store;

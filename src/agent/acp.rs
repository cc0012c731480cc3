//! Agents that speak the Agent Client Protocol (ACP): our client of it.
//!
//! A job is a program with a prompt on its standard input and events on its standard output; nobody
//! talks with it while it runs. So the one who talks with such an agent is a program of ours, which the
//! guard starts as the job's (`run-loop __acp`), confined and held as any other: it starts the agent as
//! its child, asks it, answers what it asks, and takes everything down, one line of JSON each.
//! `adapter::acp` reads that like what other programs print.
//!
//! The client decides nothing but permissions: a job that may not write is refused each one, whatever
//! it is for; another is allowed what it asks for, once. Both go by the kind of an option, never by its
//! name.

use std::ffi::{OsStr, OsString};

pub(crate) mod order;

mod client;
mod permission;
mod protocol;
mod record;
mod session;
mod wire;

pub use client::main;

/// Whether this command line asks for a client.
#[must_use]
pub fn is_asked(argv: &[OsString]) -> bool {
    argv.get(1).map(OsString::as_os_str) == Some(OsStr::new(order::ARGUMENT)) && argv.len() > 2
}

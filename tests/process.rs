//! Processes and agents: supervision, job folders, dispatch.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the world without the product's adapters"
)]

mod support;

#[path = "process/supervise.rs"]
mod supervise;

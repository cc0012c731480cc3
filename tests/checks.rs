//! Tests of the `checks` area through its public surface.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "checks/blobs.rs"]
mod blobs;
#[path = "checks/caches.rs"]
mod caches;
#[path = "checks/change.rs"]
mod change;
#[path = "checks/commands.rs"]
mod commands;
#[path = "checks/entries.rs"]
mod entries;
#[path = "checks/secrets.rs"]
mod secrets;

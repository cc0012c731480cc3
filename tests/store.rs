//! What is kept: journals and their damage, locks, folders, artifacts, the index.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests look at the world without the product's adapters"
)]

mod support;

#[path = "store/artifacts.rs"]
mod artifacts;
#[path = "store/attestation.rs"]
mod attestation;
#[path = "store/damage.rs"]
mod damage;
#[path = "store/disk.rs"]
mod disk;
#[path = "store/folders.rs"]
mod folders;
#[path = "store/inbox.rs"]
mod inbox;
#[path = "store/index.rs"]
mod index;
#[path = "store/journal.rs"]
mod journal;
#[path = "store/killed.rs"]
mod killed;
#[path = "store/live.rs"]
mod live;
#[path = "store/lock.rs"]
mod lock;
#[path = "store/read.rs"]
mod read;
#[path = "store/reviewed.rs"]
mod reviewed;
#[path = "store/sample.rs"]
mod sample;
#[path = "store/scale.rs"]
mod scale;
#[path = "store/stalls.rs"]
mod stalls;
#[path = "store/writers.rs"]
mod writers;

//! What is kept: journals, the lock of a source, artifacts, and the index over all runs.
//!
//! Owns: `<git common dir>/run-loop/` and how anything durable is written. Never: decisions.
//! The truth of a run is its own journal; the index can be dropped at any time. Corrupt is never
//! "empty", and one damaged run never blocks another. Tests: `tests/store.rs`.

pub mod artifacts;
pub mod atomic;
pub mod attestation;
mod beat;
pub mod file_lock;
pub mod file_system;
pub mod folder;
pub mod home;
pub mod inbox;
pub mod index;
pub mod journal;
pub mod mailbox;
pub mod owner;
pub mod probe;
pub mod put_away;
pub mod run_lock;
pub mod state_folder;

pub use artifacts::Artifacts;
pub use attestation::{Attestation, Attestations, attestations};
pub use folder::{Access, Folder};
pub use inbox::Inbox;
pub use index::Index;
pub use journal::{Entry, Journal};
pub use mailbox::{Mailbox, Outbox};
pub use run_lock::{LockProof, RunLock};
pub use state_folder::StateFolder;

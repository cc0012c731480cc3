//! Publishing the evidence of an approved identity: reports, sidecars and, last, the manifest.
//!
//! Owns: the [`Permit`] that only a passed, re-measured, still locked round can build, the
//! [`Sidecar`] and [`Manifest`] formats, and the writing of both. Never: running agents, deciding
//! verdicts.
//!
//! # Invariants
//! - Without a permit nothing is written; a permit cannot outlive the lock of its run.
//! - What no complete manifest names is no evidence: the manifest is written last, and what was
//!   written before a failure is taken away again, as is what a crash left that no journal records.
//! - No promoted file of ours holds an absolute path, a token or a value of the environment.
//!
//! Tests: beside the code, and `tests/gate.rs`.

pub mod canonical;
mod compose;
pub mod manifest;
mod normalise;
pub mod permit;
mod publish;
pub mod round;
pub mod schema;
pub mod sidecar;
mod withdraw;

pub use manifest::Manifest;
pub use permit::Permit;
pub use publish::{publish, usable};
pub use round::{ApprovedRound, EndedJob, SettledSlot};
pub use sidecar::Sidecar;
pub use withdraw::{Withdrawn, withdraw};

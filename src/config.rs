//! Configuration: layers with provenance and trust.
//!
//! Owns: reading `run-loop.yaml` and the user's file, merging layers, naming where each value
//! comes from, trust, and resolving to the domain's types. Never: behaviour, git.

pub mod nearest;

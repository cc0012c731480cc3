//! Configuration: layers with provenance and trust.
//!
//! Owns: reading `run-loop.yaml` and the user's file, merging layers, naming where each value
//! comes from, trust, and resolving to the domain's types. Never: behaviour, git. Tests:
//! `tests/config.rs`.

pub mod agents;
pub mod keys;
pub mod layer;
pub mod load;
pub mod nearest;
pub mod panel;
pub mod profiles;
pub mod roles;
pub mod rules;
pub mod schema;
pub mod settings;
pub mod shape;
pub mod sources;
pub mod trust;
pub mod world;
pub mod yaml;

pub use load::{Config, load};
pub use sources::Sources;

//! What is tried: each target takes bytes and says by a panic that a law does not hold.

mod config;
mod contract;
mod inbox;
mod journal;
mod promoted;
mod streams;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    /// Inputs that are right, to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that inputs are made of.
    pub words: &'static [&'static str],
    pub run: fn(&[u8]),
}

pub const TARGETS: [Target; 7] = [
    contract::TARGET,
    journal::TARGET,
    promoted::SIDECAR,
    promoted::MANIFEST,
    config::TARGET,
    inbox::TARGET,
    streams::TARGET,
];

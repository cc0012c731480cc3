//! Shared by the test binaries: hermetic repositories and scripted agents.
#![expect(dead_code, reason = "each test binary uses its own part")]

pub mod agents;
pub mod repo;

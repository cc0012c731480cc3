//! Shared by the test binaries: hermetic repositories and scripted agents.
#![expect(dead_code, reason = "each test binary uses its own part")]
#![expect(unreachable_pub, reason = "a test binary has no outside")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

pub mod agents;
pub mod bench;
pub mod crash;
pub mod folders;
pub mod forge;
pub mod preload;
pub mod reading;
pub mod reference;
pub mod repo;
pub mod rights;
pub mod source;
pub mod terminal;

/// Says that a test could not be run here: past the capture of output, so that it is seen.
pub fn skipped(why: &str) {
    use std::io::Write as _;
    drop(writeln!(std::io::stderr(), "SKIPPED: {why}"));
}

/// The program that guards are started from: the one that was built with the tests.
pub fn guard() -> run_loop::process::guard::GuardProgram {
    run_loop::process::guard::GuardProgram::at(env!("CARGO_BIN_EXE_run-loop"))
}

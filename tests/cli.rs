//! The command line, through the built binary.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "cli/config.rs"]
mod config;
#[path = "cli/creates.rs"]
mod creates;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/init.rs"]
mod init;
#[path = "cli/later.rs"]
mod later;
#[path = "cli/machine.rs"]
mod machine;
#[path = "cli/refused.rs"]
mod refused;
#[path = "cli/skills.rs"]
mod skills;
#[path = "cli/usage.rs"]
mod usage;
#[path = "cli/validated.rs"]
mod validated;

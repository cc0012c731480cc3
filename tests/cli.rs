//! The command line, through the built binary.

mod support;

#[path = "cli/config.rs"]
mod config;
#[path = "cli/later.rs"]
mod later;
#[path = "cli/machine.rs"]
mod machine;
#[path = "cli/refused.rs"]
mod refused;
#[path = "cli/usage.rs"]
mod usage;

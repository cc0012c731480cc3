//! Agent programs: profiles, and adapters on output recorded from the real programs.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the homes and the care that these ask for are the product's"
)]

#[path = "agents/acp.rs"]
mod acp;
#[path = "agents/answers.rs"]
mod answers;
#[path = "agents/counted.rs"]
mod counted;
#[path = "agents/driven.rs"]
mod driven;
#[path = "agents/outcomes.rs"]
mod outcomes;
#[path = "agents/page.rs"]
mod page;
#[path = "agents/profiles.rs"]
mod profiles;
#[path = "agents/recorded.rs"]
mod recorded;
#[path = "agents/refused.rs"]
mod refused;
#[path = "agents/traps.rs"]
mod traps;

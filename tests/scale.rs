//! What must not grow: processes, captures and commits of a round, files hashed by a capture, and
//! what many rounds leave behind. Counts do not flake, so these stand where times cannot.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "scale/counts.rs"]
mod counts;
#[path = "scale/rounds.rs"]
mod rounds;
#[path = "scale/together.rs"]
mod together;

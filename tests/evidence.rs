//! Tests of the evidence of a round through its public surface; the reference is git itself.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "evidence/changes.rs"]
mod changes;
#[path = "evidence/fixture.rs"]
mod fixture;
#[path = "evidence/hidden.rs"]
mod hidden;
#[path = "evidence/hostile.rs"]
mod hostile;
#[path = "evidence/promised.rs"]
mod promised;
#[path = "evidence/scope.rs"]
mod scope;
#[path = "evidence/seen.rs"]
mod seen;
#[path = "evidence/size.rs"]
mod size;

//! Tests of promotion and of the gate through their public surface, on real repositories.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests look at the world without the product's adapters"
)]

mod support;

#[path = "gate/content.rs"]
mod content;
#[path = "gate/evidence.rs"]
mod evidence;
#[path = "gate/journal.rs"]
mod journal;
#[path = "gate/lowered.rs"]
mod lowered;
#[path = "gate/names.rs"]
mod names;
#[path = "gate/next.rs"]
mod next;
#[path = "gate/permit.rs"]
mod permit;
#[path = "gate/policy.rs"]
mod policy;
#[path = "gate/publish.rs"]
mod publish;
#[path = "gate/range.rs"]
mod range;
#[path = "gate/rulings.rs"]
mod rulings;
#[path = "gate/sample.rs"]
mod sample;
#[path = "gate/world.rs"]
mod world;

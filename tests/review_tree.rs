//! Tests of review trees through their public surface: real git, and agents that do their worst.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "review_tree/fixture.rs"]
mod fixture;
#[path = "review_tree/look_over.rs"]
mod look_over;
#[path = "review_tree/names.rs"]
mod names;
#[path = "review_tree/open.rs"]
mod open;
#[path = "review_tree/poison.rs"]
mod poison;
#[path = "review_tree/pool.rs"]
mod pool;
#[path = "review_tree/promised.rs"]
mod promised;
#[path = "review_tree/release.rs"]
mod release;
#[path = "review_tree/switch.rs"]
mod switch;
#[path = "review_tree/unseen.rs"]
mod unseen;

//! The laws of the engine, in a simulated world: no order of inputs passes what must not pass,
//! every run ends, and every prefix of every journal resumes to the same end.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    unreachable_pub,
    reason = "a test that cannot go on fails; its modules are its own"
)]

#[path = "engine/budgets.rs"]
mod budgets;
#[path = "engine/cancelled.rs"]
mod cancelled;
#[path = "engine/clock.rs"]
mod clock;
#[path = "engine/delegations.rs"]
mod delegations;
#[path = "engine/ends.rs"]
mod ends;
#[path = "engine/exact.rs"]
mod exact;
#[path = "engine/holds.rs"]
mod holds;
#[path = "engine/judged.rs"]
mod judged;
#[path = "engine/laws.rs"]
mod laws;
#[path = "engine/looks.rs"]
mod looks;
#[path = "engine/model.rs"]
mod model;
#[path = "engine/orders.rs"]
mod orders;
#[path = "engine/planners.rs"]
mod planners;
#[path = "engine/prefixes.rs"]
mod prefixes;
#[path = "engine/promoted.rs"]
mod promoted;
#[path = "engine/reserve.rs"]
mod reserve;
#[path = "engine/rounds.rs"]
mod rounds;
#[path = "engine/sessions.rs"]
mod sessions;
#[path = "engine/table.rs"]
#[expect(
    clippy::disallowed_methods,
    reason = "the page is read, and written where that is asked for"
)]
mod table;
#[path = "engine/trees.rs"]
mod trees;
#[path = "engine/words.rs"]
mod words;
#[path = "engine/world.rs"]
mod world;

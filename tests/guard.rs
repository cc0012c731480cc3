//! Guards: what holds a job's processes, and what becomes of them when somebody dies.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests look at the world without the product's adapters"
)]

mod support;

#[path = "process/bench.rs"]
mod bench;
#[path = "guard/engine.rs"]
mod engine;
#[path = "guard/killed.rs"]
mod killed;
#[path = "guard/left.rs"]
mod left;
#[path = "guard/order.rs"]
mod order;
#[path = "guard/probe.rs"]
mod probe;
#[path = "guard/suspended.rs"]
mod suspended;
#[path = "guard/trace.rs"]
mod trace;
#[path = "guard/tree.rs"]
mod tree;

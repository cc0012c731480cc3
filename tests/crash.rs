//! Engines killed at every point of real runs, with real git, real `SQLite` and scripted agents.
//!
//! No promise is tested by faith: the points are the lines of the event stream, and random times
//! after them, so that a kill also hits the middle of an effect. `RUN_LOOP_CRASH_ROUNDS` says how
//! many rounds each scenario gets; `RUN_LOOP_CRASH_SEED` repeats one.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "crash/alive.rs"]
mod alive;
#[path = "crash/kill.rs"]
mod kill;
#[path = "crash/ledger.rs"]
mod ledger;
#[path = "crash/processes.rs"]
mod processes;
#[path = "crash/promotion.rs"]
mod promotion;
#[path = "crash/scenario.rs"]
mod scenario;
#[path = "crash/truth.rs"]
mod truth;

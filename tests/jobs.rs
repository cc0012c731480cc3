//! Delegated jobs through the built program: alone, inside a job, and beside a run that goes on.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "jobs/inside.rs"]
mod inside;
#[path = "jobs/left_open.rs"]
mod left_open;
#[path = "jobs/many.rs"]
mod many;
#[path = "jobs/rows.rs"]
mod rows;
#[path = "jobs/sessions.rs"]
mod sessions;
#[path = "jobs/single.rs"]
mod single;
#[path = "jobs/stalled.rs"]
mod stalled;
#[path = "jobs/taken_over.rs"]
mod taken_over;
#[path = "jobs/words.rs"]
mod words;
#[path = "jobs/writers.rs"]
mod writers;

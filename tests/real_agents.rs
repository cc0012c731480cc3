//! The real agent programs as people install them, driven by the built program against a scripted
//! model, in a network namespace that holds nothing but loopback. `.ci/real-agents` installs the
//! pinned programs and runs this; without them each test says that it was skipped.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "real_agents/creator.rs"]
mod creator;
#[path = "agents/driven.rs"]
mod driven;
#[path = "real_agents/failures.rs"]
mod failures;
#[path = "real_agents/gate.rs"]
mod gate;
#[path = "real_agents/hostile.rs"]
mod hostile;
#[path = "real_agents/model.rs"]
mod model;
#[path = "real_agents/planner.rs"]
mod planner;
#[path = "real_agents/program.rs"]
mod program;
#[path = "real_agents/record.rs"]
mod record;
#[path = "real_agents/review.rs"]
mod review;
#[path = "real_agents/scripted.rs"]
mod scripted;
#[path = "real_agents/sessions.rs"]
mod sessions;
#[path = "real_agents/structured.rs"]
mod structured;
#[path = "real_agents/together.rs"]
mod together;

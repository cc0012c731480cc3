//! The main job through the built program: `run-loop --base main --review-only`, and the gate.
//!
//! A false PASS is tried here with executable agents: exit code and an empty reports folder.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "main_job/acp.rs"]
mod acp;
#[path = "main_job/bad_agents.rs"]
mod bad_agents;
#[path = "main_job/bad_repository.rs"]
mod bad_repository;
#[path = "main_job/budgets.rs"]
mod budgets;
#[path = "main_job/checks_only.rs"]
mod checks_only;
#[path = "main_job/confined.rs"]
mod confined;
#[path = "main_job/damage.rs"]
mod damage;
#[path = "main_job/disk.rs"]
mod disk;
#[path = "main_job/documented.rs"]
mod documented;
#[path = "main_job/elsewhere.rs"]
mod elsewhere;
#[path = "main_job/env_and_remote.rs"]
mod env_and_remote;
#[path = "main_job/false_pass.rs"]
mod false_pass;
#[path = "main_job/forged.rs"]
mod forged;
#[path = "main_job/from_the_base.rs"]
mod from_the_base;
#[path = "main_job/gate.rs"]
mod gate;
#[path = "main_job/held_up.rs"]
mod held_up;
#[path = "main_job/history.rs"]
mod history;
#[path = "main_job/installed.rs"]
mod installed;
#[path = "main_job/kept.rs"]
mod kept;
#[path = "main_job/keys.rs"]
mod keys;
#[path = "main_job/left_behind.rs"]
mod left_behind;
#[path = "main_job/lies_aside.rs"]
mod lies_aside;
#[path = "main_job/limits.rs"]
mod limits;
#[path = "main_job/live.rs"]
mod live;
#[path = "main_job/output.rs"]
mod output;
#[path = "main_job/pass.rs"]
mod pass;
#[path = "main_job/profiled.rs"]
mod profiled;
#[path = "main_job/refusals.rs"]
mod refusals;
#[path = "main_job/resume.rs"]
mod resume;
#[path = "main_job/scope.rs"]
mod scope;
#[path = "main_job/sessions.rs"]
mod sessions;
#[path = "main_job/signals.rs"]
mod signals;
#[path = "main_job/stale.rs"]
mod stale;
#[path = "main_job/taken_up.rs"]
mod taken_up;
#[path = "main_job/unrecorded.rs"]
mod unrecorded;
#[path = "main_job/unvouched.rs"]
mod unvouched;

//! `run-loop worktree prepare`, `worktree remove` and `cleanup`, on real repositories: what they
//! refuse is shown to change nothing at all, byte by byte.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails"
)]

mod support;

#[path = "worktree/cleanup.rs"]
mod cleanup;
#[path = "worktree/damaged.rs"]
mod damaged;
#[path = "worktree/dead.rs"]
mod dead;
#[path = "worktree/fixture.rs"]
mod fixture;
#[path = "worktree/lost.rs"]
mod lost;
#[path = "worktree/prepare.rs"]
mod prepare;
#[path = "worktree/refused.rs"]
mod refused;
#[path = "worktree/remove.rs"]
mod remove;
#[path = "worktree/stores.rs"]
mod stores;
#[path = "worktree/submodules.rs"]
mod submodules;
#[path = "worktree/submodules_lost.rs"]
mod submodules_lost;

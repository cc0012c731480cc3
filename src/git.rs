//! Everything that is asked of git: repositories, bases, snapshots, measurements.
//!
//! Owns: the hardened git program, the review store, pinning and measuring, review trees and
//! evidence. Never: agents, policy. A git error is an error: never "empty", never "unchanged".
//! Nothing here writes to the user's index, refs, objects, configuration or files; the
//! exceptions are `refs/run-loop/…` under `--keep-snapshots`, and `worktree`, which is asked to.

pub(crate) mod alternates;
pub mod base;
pub mod branches;
pub(crate) mod capture;
pub(crate) mod changes;
pub(crate) mod commit;
pub mod config;
pub mod content;
pub(crate) mod crew;
pub mod error;
pub mod evidence;
pub(crate) mod facts;
pub(crate) mod filter;
pub(crate) mod genuine;
pub(crate) mod index;
pub(crate) mod index_alone;
pub(crate) mod listing;
pub mod measure;
pub(crate) mod missing;
pub mod object;
pub(crate) mod object_id;
pub mod operation;
mod overwritten;
pub mod own;
pub mod program;
pub(crate) mod quoted;
pub(crate) mod raw_tree;
pub mod read;
pub(crate) mod refuse;
pub mod repository;
pub mod review_tree;
pub mod snapshot;
pub(crate) mod snapshot_commit;
pub mod staged;
pub mod store;
pub(crate) mod submodule;
pub mod tracked;
pub(crate) mod tree_id;
pub(crate) mod tripwire;
pub mod uncommitted;
pub mod unheld;
pub mod unmerged;
pub mod worktree;

pub use error::Error;
pub use program::{Git, GitEnvironment};
pub use repository::Repository;
pub use store::ReviewStore;

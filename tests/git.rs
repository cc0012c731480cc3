//! Tests of the `git` area through its public surface.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "git/base.rs"]
mod base;
#[path = "git/content.rs"]
mod content;
#[path = "git/damage.rs"]
mod damage;
#[path = "git/folders.rs"]
mod folders;
#[path = "git/left.rs"]
mod left;
#[path = "git/measure.rs"]
mod measure;
#[path = "git/mend.rs"]
mod mend;
#[path = "git/own.rs"]
mod own;
#[path = "git/pin.rs"]
mod pin;
#[path = "git/reading.rs"]
mod reading;
#[path = "git/repository.rs"]
mod repository;
#[path = "git/staged.rs"]
mod staged;
#[path = "git/store.rs"]
mod store;
#[path = "git/tidy.rs"]
mod tidy;
#[path = "git/unheld.rs"]
mod unheld;
#[path = "git/unmerged.rs"]
mod unmerged;

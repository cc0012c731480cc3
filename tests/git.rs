//! Tests of the `git` area through its public surface.

mod support;

#[path = "git/content.rs"]
mod content;
#[path = "git/fixture.rs"]
mod fixture;
#[path = "git/pin.rs"]
mod pin;
#[path = "git/repository.rs"]
mod repository;
#[path = "git/store.rs"]
mod store;

//! Documents that are held true: the architecture, the changelog, the list of test targets.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot go on fails; it reads the documents as they are"
)]

#[path = "docs/architecture.rs"]
mod architecture;
#[path = "docs/changelog.rs"]
mod changelog;
#[path = "docs/readme.rs"]
mod readme;
#[path = "docs/targets.rs"]
mod targets;

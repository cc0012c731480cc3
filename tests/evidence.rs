//! Tests of the evidence of a round through its public surface; the reference is git itself.

mod support;

#[path = "evidence/changes.rs"]
mod changes;
#[path = "evidence/fixture.rs"]
mod fixture;
#[path = "evidence/hostile.rs"]
mod hostile;
#[path = "evidence/scope.rs"]
mod scope;
#[path = "evidence/size.rs"]
mod size;

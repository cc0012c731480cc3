//! Configuration: layers, origins, suggestions, trust, and the panel that comes of it.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "config/json.rs"]
mod json;
#[path = "config/layers.rs"]
mod layers;
#[path = "config/panel.rs"]
mod panel;
#[path = "config/reference.rs"]
mod reference;
#[path = "config/schema.rs"]
mod schema;
#[path = "config/wrong.rs"]
mod wrong;

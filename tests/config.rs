//! Configuration: layers, origins, suggestions, trust, and the panel that comes of it.

mod support;

#[path = "config/layers.rs"]
mod layers;
#[path = "config/panel.rs"]
mod panel;
#[path = "config/reference.rs"]
mod reference;
#[path = "config/wrong.rs"]
mod wrong;

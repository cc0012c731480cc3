//! Hazards: what a repository can hold on which other ways of taking a snapshot go wrong. Each kind
//! has a test with its name (`hazards/kinds.txt`), which compares the tree of the production path
//! with plain git's own or shows the refusal.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    reason = "the homes and the care that these ask for are the product's"
)]

mod support;

#[path = "hazards/both_ways.rs"]
mod both_ways;
#[path = "hazards/clock.rs"]
mod clock;
#[path = "hazards/collected.rs"]
mod collected;
#[path = "hazards/conversions.rs"]
mod conversions;
#[path = "hazards/dice.rs"]
mod dice;
#[path = "hazards/excludes.rs"]
mod excludes;
#[path = "hazards/files.rs"]
mod files;
#[path = "hazards/filters.rs"]
mod filters;
#[path = "hazards/flags.rs"]
mod flags;
#[path = "hazards/formats.rs"]
mod formats;
#[path = "hazards/hostile.rs"]
mod hostile;
#[path = "hazards/moving.rs"]
mod moving;
#[path = "hazards/named.rs"]
mod named;
#[path = "hazards/names.rs"]
mod names;
#[path = "hazards/nested.rs"]
mod nested;
#[path = "hazards/places.rs"]
mod places;
#[path = "hazards/plain_rounds.rs"]
mod plain_rounds;
#[path = "hazards/refuse.rs"]
mod refuse;
#[path = "hazards/rounds.rs"]
mod rounds;
#[path = "hazards/settings.rs"]
mod settings;
#[path = "hazards/sparse.rs"]
mod sparse;
#[path = "hazards/sparse_rounds.rs"]
mod sparse_rounds;
#[path = "hazards/staged.rs"]
mod staged;
#[path = "hazards/submodule.rs"]
mod submodule;
#[path = "hazards/trial.rs"]
mod trial;
#[path = "hazards/unreadable.rs"]
mod unreadable;

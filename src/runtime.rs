//! The rim's motor: select, step, journal, fold, perform.
//!
//! Owns: the clock, signals, the tasks that perform effects. Never: deciding. What is performed
//! is `open - performing`; what winds up is stopped. Nothing is performed before the event that
//! requests it is durable, so a run taken up again performs the same.

pub mod clock;
pub mod drive;
pub mod facts;
pub mod messages;
mod perform;
pub mod remains;
pub mod restore;
pub mod rim;
pub mod signals;
pub(crate) mod taken_over;
mod unperformed;
pub mod unrecorded;
mod watch;
pub mod wind_up;

pub use drive::{Observer, drive};
pub use rim::Rim;

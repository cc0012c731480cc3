//! The home of the clock.

use std::time::Duration;

use crate::domain::time::{Stamp, Timestamp};

/// The wall clock's time.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this module is the home of the clock"
)]
pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// A stamp for an input: the time, and 32 bytes from the operating system's generator.
///
/// # Errors
/// When the operating system gives no randomness; nothing may be minted then.
pub fn stamp() -> std::io::Result<Stamp> {
    let seed = crate::random::bytes()?;
    Ok(Stamp { at: now(), seed })
}

/// What is left of a budget; a deadline that has passed leaves nothing.
#[must_use]
pub fn left_until(deadline: Timestamp) -> Duration {
    let millis = deadline.as_millis().saturating_sub(now().as_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or(0))
}

//! The time of a job, charged only while it could be used.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// How finely the time is charged.
const SLICE: Duration = Duration::from_secs(1);
/// How late a busy machine may wake the guard; more than that, and the guard stood still.
const LATE: Duration = Duration::from_secs(2);

/// Waits until the budget is used up.
///
/// The clock stands still while the machine sleeps (`CLOCK_MONOTONIC`). A guard that is stopped
/// (SIGSTOP) or frozen with its container wakes late; what it was late beyond [`LATE`] is not
/// charged. That its program was stopped alone is not seen, and is charged.
pub(crate) async fn used_up(budget: Duration) {
    let mut left = budget;
    while !left.is_zero() {
        let slice = left.min(SLICE);
        let before = Instant::now();
        sleep(slice).await;
        left = left.saturating_sub(charged(slice, before.elapsed()));
    }
}

/// What is charged for a sleep of `slice` that took so long.
fn charged(slice: Duration, took: Duration) -> Duration {
    took.min(slice + LATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_guard_stood_still_is_not_charged() {
        let (second, hour) = (Duration::from_secs(1), Duration::from_hours(1));
        assert_eq!(charged(second, second), second);
        assert_eq!(charged(second, second * 2), second * 2, "a busy machine");
        assert_eq!(charged(second, hour), second + LATE, "a stopped guard");
    }
}

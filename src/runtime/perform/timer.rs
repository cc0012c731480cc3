//! Waiting until a moment.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::effect::{Outcome, Timer};
use crate::domain::time::Timestamp;
use crate::runtime::clock::left_until;

/// How long is slept at once where the clock on the wall counts.
const NAP: Duration = Duration::from_secs(30);

/// Waits.
pub(super) async fn perform(
    of: Timer,
    until: Timestamp,
    stop: CancellationToken,
    kill: CancellationToken,
) -> Outcome {
    let elapsed = tokio::select! {
        () = stop.cancelled() => false,
        () = kill.cancelled() => false,
        () = wait(of, until) => true,
    };
    Outcome::TimerEnded { elapsed }
}

async fn wait(of: Timer, until: Timestamp) {
    match of {
        // This clock does not go back, and stands still while the machine sleeps.
        Timer::MaxWall => tokio::time::sleep(left_until(until)).await,
        // A provider's clock goes on while the machine sleeps.
        Timer::Limit => loop {
            let left = left_until(until);
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(NAP)).await;
        },
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::clock::now;

    /// The moment so many milliseconds from now.
    fn in_millis(millis: i64) -> Timestamp {
        Timestamp::from_millis(now().as_millis() + millis)
    }

    /// `--wait-for-limits`: the moment that a limit is lifted at comes, and not before it is there; one that is
    /// past comes at once.
    #[tokio::test]
    async fn a_moment_comes_when_it_is_there() {
        for of in [Timer::Limit, Timer::MaxWall] {
            for moment in [in_millis(30), in_millis(-1)] {
                let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
                let outcome = perform(of, moment, stop, kill).await;
                assert_eq!(outcome, Outcome::TimerEnded { elapsed: true }, "{of:?}");
                assert!(now() >= moment, "{of:?} came too early");
            }
        }
    }

    /// Nobody waits on for a run that stops.
    #[tokio::test]
    async fn a_wait_ends_with_its_run() {
        for of in [Timer::Limit, Timer::MaxWall] {
            for kills in [false, true] {
                let (stop, kill) = (CancellationToken::new(), CancellationToken::new());
                if kills {
                    kill.cancel();
                } else {
                    stop.cancel();
                }
                let outcome = perform(of, in_millis(3_600_000), stop, kill).await;
                assert_eq!(outcome, Outcome::TimerEnded { elapsed: false }, "{of:?}");
            }
        }
    }
}

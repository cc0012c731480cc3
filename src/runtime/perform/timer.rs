//! Waiting until a moment.

use tokio_util::sync::CancellationToken;

use crate::domain::effect::Outcome;
use crate::domain::time::Timestamp;
use crate::runtime::perform::job::left_until;

/// Waits. The clock of the wait does not go back, and stands still while the machine sleeps.
pub(super) async fn perform(
    until: Timestamp,
    stop: CancellationToken,
    kill: CancellationToken,
) -> Outcome {
    let elapsed = tokio::select! {
        () = stop.cancelled() => false,
        () = kill.cancelled() => false,
        () = tokio::time::sleep(left_until(until)) => true,
    };
    Outcome::TimerEnded { elapsed }
}

//! A guard's look at who descends from it, for the record.

use std::convert::Infallible;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::process::guard::lineage::{Lineage, Root};
use crate::process::guard::record::Record;

/// The pauses between two looks: the longer nobody new is seen, the longer.
const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(1);
/// How much longer than a look the pause after it is: where there are thousands of processes a
/// look takes long, and there may be a guard for each of fifty jobs.
const SHARE: u32 = 100;

/// Looks again and again, and writes down who is new.
pub(crate) async fn look(root: Root, mut record: Record) -> Infallible {
    let mut pause = SHORT;
    loop {
        let begun = Instant::now();
        let lineage = Lineage::of(root.clone());
        let new = lineage.map_or(0, |lineage| {
            record.add(lineage.living().map(|seen| seen.id))
        });
        let took = begun.elapsed();
        pause = if new > 0 {
            SHORT
        } else {
            (pause * 2).min(LONG)
        };
        sleep(pause.max(took * SHARE)).await;
    }
}

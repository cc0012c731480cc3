//! Several runs that write their journals at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use run_loop::domain::id::EffectId;
use run_loop::store::Journal;

use crate::sample::{Place, measured, run_id};

const RUNS: u8 = 4;
/// Durable commits of all of them together.
const ALL: u64 = 2_000;

/// Issue 4: four runs that write at once starve none. Counted within the same window, so that no clock is
/// asked: whatever the machine does besides, it does to all of them.
#[test]
fn runs_that_write_at_once_starve_none() {
    // Of working trees of one repository: they have one folder.
    let place = Place::new();
    let (start, done) = (Barrier::new(RUNS.into()), AtomicU64::new(0));
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=RUNS)
            .map(|run| {
                let mut journal = Journal::create(&place.state, run_id(run)).unwrap();
                let (start, done) = (&start, &done);
                scope.spawn(move || {
                    start.wait();
                    let mut own = 0;
                    while done.fetch_add(1, Ordering::Relaxed) < ALL {
                        own += 1;
                        journal.append(&measured(EffectId(own))).unwrap();
                    }
                    own
                })
            })
            .collect();
        let counts = writers.into_iter().map(|writer| writer.join().unwrap());
        counts.collect()
    });
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least >= most / 4, "{counts:?} commits of four runs");
}

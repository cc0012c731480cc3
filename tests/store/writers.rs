//! Several runs that write their journals at the same time.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use run_loop::domain::id::EffectId;
use run_loop::store::Journal;

use crate::sample::{Place, measured, run_id};

const RUNS: u8 = 4;
/// Durable commits of all of them together.
const ALL: u64 = 2_000;
/// What a commit may cost of a processor on average, unoptimised: two events each 2 ms are 1,000 a second, of which a sync
/// takes 0.1 ms, and four runs share two processors.
const COMMIT: Duration = Duration::from_micros(900);

/// Issue 4: four runs that write at once starve none, and need no more of a processor than 1,000 durable events
/// a second leave them. Commits are counted within the same window, and the clocks are those of the writers'
/// own work: whatever the machine does besides, it does to all of them. A clock goes in steps of 10 ms, so what
/// all of them worked is taken together.
#[test]
fn runs_that_write_at_once_starve_none() {
    // Of working trees of one repository: they have one folder.
    let place = Place::new();
    let (start, done) = (Barrier::new(RUNS.into()), AtomicU64::new(0));
    let writers: Vec<(u64, Duration)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (1..=RUNS)
            .map(|run| {
                let mut journal = Journal::create(&place.state, run_id(run)).unwrap();
                let (start, done) = (&start, &done);
                scope.spawn(move || {
                    start.wait();
                    let (mut own, before) = (0, worked());
                    while done.fetch_add(1, Ordering::Relaxed) < ALL {
                        own += 1;
                        journal.append(&measured(EffectId(own))).unwrap();
                    }
                    (own, worked().saturating_sub(before))
                })
            })
            .collect();
        let writers = writers.into_iter().map(|writer| writer.join().unwrap());
        writers.collect()
    });
    println!("commits of each run, and what they cost: {writers:?}");
    let counts = || writers.iter().map(|(count, _)| *count);
    let (least, most) = (counts().min().unwrap(), counts().max().unwrap());
    assert!(least >= most / 4, "{writers:?}");
    let count: u64 = counts().sum();
    let cost: Duration = writers.iter().map(|(_, cost)| *cost).sum();
    let each = cost / u32::try_from(count).unwrap();
    assert!(each < COMMIT, "{each:?} for each of {count} commits");
}

/// How long this thread has worked, for itself and in the kernel.
fn worked() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let ticks = fields.split(' ').skip(11).take(2);
    let ticks: u64 = ticks.map(|it| it.parse::<u64>().unwrap()).sum();
    // A hundred of them are a second, wherever Linux shows them.
    Duration::from_millis(ticks * 10)
}

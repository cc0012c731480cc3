//! What a killed guard left behind: ended by the engine, as far as it is proven to be the job's.

use std::io;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid};
use tokio::time::{Instant, sleep};

use crate::process::guard::lineage::{Lineage, Root, Seen};

/// How long it is tried.
const LIMIT: Duration = Duration::from_secs(10);

/// Kills everybody in the session of a dead guard, and who descends from them.
///
/// The guard must not be reaped yet: that keeps its number, which is its session's. A process
/// that left the session is found only while a parent of its own is still in it; so the caller may
/// never call the job gone.
pub(crate) async fn end(guard: &Child) {
    let deadline = Instant::now() + LIMIT;
    let leader = Pid::from_child(guard).as_raw_nonzero().get();
    let mut empty = 0;
    // One listing can miss a process that moves.
    while empty < 2 && Instant::now() < deadline {
        match turn(leader) {
            Ok(Turn::Wait | Turn::Killed) => empty = 0,
            Ok(Turn::Empty) => empty += 1,
            // Nothing is proven, so nothing is touched.
            Ok(Turn::NotOurs) | Err(_) => return,
        }
        sleep(Duration::from_millis(5)).await;
    }
}

enum Turn {
    /// The guard still dies.
    Wait,
    Killed,
    Empty,
    /// The number of the guard is no longer its own.
    NotOurs,
}

fn turn(leader: i32) -> io::Result<Turn> {
    match Seen::look(leader)? {
        Some(seen) if seen.parent == getpid().as_raw_nonzero().get() => {
            if seen.lives() {
                return Ok(Turn::Wait);
            }
        }
        Some(_) | None => return Ok(Turn::NotOurs),
    }
    let lineage = Lineage::of(Root::Session(leader))?;
    if lineage.living().next().is_none() {
        return Ok(Turn::Empty);
    }
    lineage.signal(&[Signal::KILL], |_| true);
    Ok(Turn::Killed)
}

//! Long runs: how fast a journal is read back and folded.

use std::time::{Duration, Instant};

use run_loop::domain::event::Event;
use run_loop::domain::id::EffectId;
use run_loop::engine::State;
use run_loop::store::Journal;

use crate::sample::{Place, approved, run_id};

/// A run's first event, and then one effect after the other, each with its outcome.
fn long(count: usize) -> Vec<Event> {
    let run = approved(1, std::path::Path::new("/src"), 'd');
    let find = |wanted: fn(&Event) -> bool| run.iter().find(|event| wanted(event)).unwrap().clone();
    let started = find(|event| matches!(event, Event::RunStarted { .. }));
    let requested = find(|event| matches!(event, Event::EffectRequested { .. }));
    let done = find(|event| matches!(event, Event::EffectDone { .. }));
    let mut events = vec![started];
    for number in 1.. {
        let mut next = [requested.clone(), done.clone()];
        for event in &mut next {
            if let Event::EffectRequested { id, .. } | Event::EffectDone { effect: id, .. } = event
            {
                *id = EffectId(number);
            }
        }
        events.extend(next);
        if events.len() >= count {
            break;
        }
    }
    events
}

/// Issue 4: 100,000 events are verified and folded in at most a second. Without optimisation a
/// tenth of them shows that it works; the time is asked of the built release alone.
#[test]
fn a_long_journal_is_folded_quickly() {
    let (count, limit) = if cfg!(debug_assertions) {
        (10_000, Duration::from_mins(5))
    } else {
        (100_000, Duration::from_secs(1))
    };
    let (place, run) = (Place::new(), run_id(1));
    let events = long(count);
    let mut journal = Journal::create(&place.state, run).unwrap();
    for chunk in events.chunks(500) {
        journal.append(chunk).unwrap();
    }
    drop(journal);
    let start = Instant::now();
    let entries = Journal::load(&place.state, run).unwrap();
    let read = start.elapsed();
    let state = State::replay(entries.iter().map(|entry| &entry.event));
    let took = start.elapsed();
    assert_eq!(entries.len(), events.len());
    assert_eq!(
        usize::try_from(state.requested).unwrap(),
        (events.len() - 1) / 2
    );
    assert_eq!(state.fault, None);
    println!(
        "{} events: read in {read:?}, folded after {took:?}",
        entries.len()
    );
    assert!(took < limit, "{took:?} for {} events", entries.len());
}

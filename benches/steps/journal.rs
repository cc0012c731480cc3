//! Durable commits, and taking up a long journal again.

use std::path::Path;

use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, LoopId, RoundNumber};
use run_loop::domain::identity::Pin;
use run_loop::domain::run_spec::RunSpec;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::engine::State;
use run_loop::store::{Journal, StateFolder};

use crate::corpus::{self, Corpus};
use crate::sample::{Technique, Watch, round_robin};
use crate::source::Source;
use crate::table::Table;

/// How many events a journal of the target holds.
const EVENTS: usize = 100_000;

/// A journal that is written to.
#[derive(Debug)]
pub struct Writing {
    journal: Journal,
    pin: Pin,
    next: u64,
}

impl Writing {
    pub fn begin(corpus: &Corpus, spec: &RunSpec, pin: Pin) -> Self {
        Self::begin_in(&corpus.scratch().join("journal"), spec, pin)
    }
    /// The same in a folder.
    pub fn begin_in(folder: &Path, spec: &RunSpec, pin: Pin) -> Self {
        let (state, id) = place_in(folder);
        let mut journal = Journal::create(&state, id).expect("a journal");
        let start = Event::RunStarted {
            stamp: stamp(0),
            spec: Box::new(spec.clone()),
        };
        journal.append(&[start]).expect("its first event");
        Self {
            journal,
            pin,
            next: 1,
        }
    }
    /// One durable commit of an effect's end and the next one's request.
    pub fn commit(&mut self) {
        let events = pair(self.next, &self.pin);
        self.next += 1;
        self.journal.append(&events).expect("a commit");
    }
}

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    corpus.enter(corpus::State::B);
    let source = Source::open(corpus, &corpus.scratch().join("cache"));
    let pin = source.pin();
    let (state, id) = place(corpus, "long");
    let mut journal = Journal::create(&state, id).expect("a journal");
    let mut events = vec![Event::RunStarted {
        stamp: stamp(0),
        spec: Box::new(source.spec.clone()),
    }];
    let mut number = 0;
    while events.len() < EVENTS {
        number += 1;
        events.extend(pair(number, &pin));
    }
    events.truncate(EVENTS);
    for chunk in events.chunks(1_000) {
        journal.append(chunk).expect("a commit");
    }
    drop(journal);
    let techniques = vec![Technique::new("load and fold", |watch: &mut Watch| {
        watch.time(|| {
            let entries = Journal::load(&state, id).expect("a sound journal");
            assert_eq!(entries.len(), EVENTS);
            State::replay(entries.iter().map(|entry| &entry.event))
        });
    })];
    let taken = round_robin(samples.min(5), techniques, || {});
    table.absolute(
        "loading and folding 100,000 events",
        taken[0].median(),
        1000.0,
    );
}

fn pair(number: u64, pin: &Pin) -> [Event; 2] {
    let id = EffectId(number);
    [
        Event::EffectRequested {
            id,
            effect: Box::new(Effect::Pin {
                round: RoundNumber(1),
                work: None,
            }),
        },
        Event::EffectDone {
            stamp: stamp(number),
            effect: id,
            outcome: Box::new(Outcome::Pinned {
                result: Done::Ok(pin.clone()),
            }),
        },
    ]
}

fn stamp(number: u64) -> Stamp {
    Stamp {
        at: Timestamp::from_millis(
            1_796_000_000_000 + i64::try_from(number).expect("a small number"),
        ),
        seed: [1; 32],
    }
}

fn place(corpus: &Corpus, name: &str) -> (StateFolder, LoopId) {
    place_in(&corpus.scratch().join(name))
}

fn place_in(folder: &Path) -> (StateFolder, LoopId) {
    std::fs::create_dir_all(folder).expect("a folder");
    let state = StateFolder::open(folder).expect("a state folder");
    (state, LoopId::mint(&stamp(0), "run"))
}

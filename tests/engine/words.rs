//! What the state keeps of what was said of findings.

use std::collections::BTreeMap;

use proptest::prelude::*;
use run_loop::domain::event::Event;
use run_loop::domain::finding::Word;
use run_loop::domain::id::{FindingId, JobId};
use run_loop::domain::job::Role;
use run_loop::domain::summary::Summary;
use run_loop::domain::time::Timestamp;
use run_loop::engine::{State, fold};

use crate::clock::jobs;
use crate::orders::{Driver, picks};
use crate::world::worlds;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// What people are told became of a finding is what the engine goes by, after every event.
    #[test]
    fn people_are_told_what_the_engine_goes_by(world in worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        let (mut state, mut summary) = (State::default(), Summary::default());
        for event in &driver.journal {
            fold(&mut state, event);
            summary.add(Timestamp::from_millis(0), event);
            prop_assert_eq!(&summary.findings, &state.findings);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each word on a finding stays, with the job that said it and what it was asked for; but for what a
    /// review settled in a void round.
    #[test]
    fn every_word_is_kept_with_who_said_it(world in worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        let roles: BTreeMap<JobId, (Role, u32)> = jobs(&driver.journal)
            .map(|job| (job.id, (job.role, job.round.0)))
            .collect();
        let mut words: BTreeMap<FindingId, Vec<Word>> = BTreeMap::new();
        for event in &driver.journal {
            match event {
                Event::FindingDisposed { finding, disposition, job, note } => {
                    words.entry(*finding).or_default().push(Word {
                        job: *job,
                        role: roles[job].0,
                        disposition: *disposition,
                        note: note.clone(),
                    });
                }
                Event::RoundClosed { round, result } if result.is_void() => {
                    for said in words.values_mut() {
                        said.retain(|word| {
                            roles[&word.job] != (Role::Review, round.0) || word.disposition.holds()
                        });
                    }
                }
                _ => {}
            }
        }
        words.retain(|_, said| !said.is_empty());
        let mut kept = driver.state.notes.clone();
        kept.retain(|_, said| !said.is_empty());
        prop_assert_eq!(kept, words);
    }
}

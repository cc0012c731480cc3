//! Crash safety of the shape: every prefix of every journal resumes to the same end, whatever was
//! under way when the engine died, and nothing that must happen once happens twice.

use std::collections::BTreeMap;

use proptest::prelude::*;
use run_loop::domain::effect::{Effect, MeasurePoint, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, JobId};

use crate::cancelled::measures_what_is_left;
use crate::ends;
use crate::laws::jobs_are_kept;
use crate::model;
use crate::orders::{Desk, Driver, picks, resume};
use crate::promoted::unearned;
use crate::world::{Answer, Fate, Helper, Then, World, any_worlds, little, worlds};

/// A run to its end, with what the world held after each event.
struct Run<'a> {
    driver: Driver<'a>,
    worlds: Vec<(u8, BTreeMap<JobId, Outcome>, Desk)>,
}

fn whole(world: &World, seed: u64) -> Run<'_> {
    let mut driver = Driver::new(world);
    driver.start();
    // What the world holds is the world's, not the journal's: it is kept per event.
    let held = |driver: &Driver<'_>| (driver.content, driver.bought.clone(), driver.desk.clone());
    let mut worlds = vec![held(&driver); driver.journal.len()];
    let mut pick = picks(seed);
    while driver.perform(pick()) {
        worlds.resize(driver.journal.len(), held(&driver));
    }
    Run { driver, worlds }
}

impl<'a> Run<'a> {
    /// The run as it lies there when its engine dies after `cut` events.
    fn cut(&self, world: &'a World, cut: usize) -> Driver<'a> {
        let (content, bought, desk) = &self.worlds[cut - 1];
        let mut dead = Driver::new(world);
        dead.journal = self.driver.journal[..cut].to_vec();
        dead.state = run_loop::engine::State::replay(&dead.journal);
        dead.content = *content;
        dead.bought.clone_from(bought);
        dead.desk.clone_from(desk);
        dead
    }
}

/// Publishing rests on a measurement of the engine that publishes, with nothing in between.
fn published_on_fresh_measurements(journal: &[Event]) -> bool {
    let mut measured = false;
    let mut requested = BTreeMap::new();
    for event in journal {
        match event {
            Event::RunResumed { .. } => measured = false,
            Event::EffectRequested { id, effect } => {
                if matches!(**effect, Effect::Promote { .. }) && !measured {
                    return false;
                }
                requested.insert(*id, (**effect).clone());
            }
            Event::EffectDone { effect, .. } => {
                if let Some(Effect::Measure { point, .. }) = requested.get(effect) {
                    measured = *point == MeasurePoint::BeforePromotion;
                }
            }
            _ => {}
        }
    }
    true
}

/// No report is bought again: one answer of the world for each that an undisturbed run buys.
fn bought(driver: &Driver<'_>) -> usize {
    driver.bought.len()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    /// Design, section 9: the journal is cut after every event, and the run taken up again, also where the
    /// guards ended what ran then: it is asked again, and the crash costs no attempt.
    #[test]
    fn every_prefix_resumes_to_the_same_end(world in worlds(), seed in any::<u64>()) {
        resumes_from_every_cut(&world, seed)?;
    }
}

fn resumes_from_every_cut(world: &World, seed: u64) -> Result<(), TestCaseError> {
    let run = whole(world, seed);
    let exit = run.driver.state.end().unwrap().exit().code();
    prop_assert_eq!(exit, model::exit(world));
    let whole = ends::of(&run.driver);
    for cut in 1..run.driver.journal.len() {
        for loses in [false, true] {
            let mut again = run.cut(world, cut).again();
            if loses && !again.lose_all() {
                continue;
            }
            again.run(picks(seed ^ cut as u64));
            prop_assert_eq!(&ends::of(&again), &whole, "cut after event {}", cut);
            prop_assert!(
                measures_what_is_left(&again.journal),
                "cut after event {}",
                cut
            );
            prop_assert!(
                published_on_fresh_measurements(&again.journal),
                "cut after event {}",
                cut
            );
            prop_assert_eq!(jobs_are_kept(&again), Ok(()), "cut after event {}", cut);
            prop_assert_eq!(
                unearned(world, &again.journal),
                None,
                "cut after event {}",
                cut
            );
        }
    }
    Ok(())
}

proptest! {
    // Such a run is five times as long, and every cut of it a run of its own: fewer worlds, and smaller.
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same of runs whose jobs delegate.
    #[test]
    fn every_prefix_of_a_run_with_sub_jobs_resumes_to_the_same_end(world in little(), seed in any::<u64>()) {
        resumes_from_every_cut(&world, seed)?;
    }
}

/// 4-37: the same of runs that a person's job outlasts: whoever takes it up waits for it as long as ever.
#[test]
fn every_prefix_of_a_run_that_waits_at_its_end_waits_anew() {
    for answer in [Answer::Pass, Answer::NotPass] {
        let mut world = crate::delegations::world();
        world.slots[0].answers = vec![answer];
        world.delegating.strangers = vec![Helper {
            fates: vec![Fate::Endless],
            awaited: false,
            then: Then::Nothing,
            helpers: Vec::new(),
        }];
        for seed in 0..8 {
            resumes_from_every_cut(&world, seed).unwrap();
        }
    }
}

proptest! {
    // Every cut of a run is resumed once for each effect that was open: fewer worlds.
    #![proptest_config(ProptestConfig { cases: 50, failure_persistence: None, ..ProptestConfig::default() })]

    /// The engine dies when an effect was performed and its outcome was not recorded: every subset
    /// of one, and all of those that were open. What can be done once only is not done again.
    #[test]
    fn an_effect_without_a_recorded_outcome_is_not_done_twice(world in worlds(), seed in any::<u64>()) {
        does_nothing_twice(&world, seed)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same of runs whose jobs delegate: of dispatches, and of messages that nobody took.
    #[test]
    fn what_sub_jobs_left_unheard_is_not_done_twice(world in little(), seed in any::<u64>()) {
        does_nothing_twice(&world, seed)?;
    }
}

fn does_nothing_twice(world: &World, seed: u64) -> Result<(), TestCaseError> {
    let run = whole(world, seed);
    let exit = run.driver.state.end().unwrap().exit().code();
    let whole = ends::of(&run.driver);
    for cut in 1..run.driver.journal.len() {
        let open: Vec<EffectId> = run.cut(world, cut).state.open.keys().copied().collect();
        for performed in open
            .iter()
            .map(|id| vec![*id])
            .chain([open.clone(), Vec::new()])
        {
            let mut dead = run.cut(world, cut);
            let mut any = performed.is_empty();
            for id in &performed {
                any |= dead.perform_unseen(*id);
            }
            if !any {
                continue;
            }
            if performed.is_empty() {
                let Some(letter) = dead.letters().into_iter().next() else {
                    continue;
                };
                dead.say_unseen(letter);
            }
            let reports = dead.bought.clone();
            let mut again = dead.again();
            again.run(picks(seed ^ cut as u64));
            prop_assert_eq!(
                &ends::of(&again),
                &whole,
                "cut after event {}, performed {:?}",
                cut,
                performed
            );
            prop_assert_eq!(
                jobs_are_kept(&again),
                Ok(()),
                "cut after event {}, performed {:?}",
                cut,
                performed
            );
            for (job, outcome) in &reports {
                prop_assert_eq!(again.bought.get(job), Some(outcome));
            }
            prop_assert!(published_on_fresh_measurements(&again.journal));
            prop_assert_eq!(unearned(world, &again.journal), None);
            if exit == 0 {
                prop_assert_eq!(
                    bought(&again),
                    bought(&run.driver),
                    "a report was bought twice"
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    /// A run that crashes again and again, at every third input, ends all the same.
    #[test]
    fn a_run_that_keeps_crashing_ends_the_same(world in any_worlds(), seed in any::<u64>()) {
        let whole = ends::of(&whole(&world, seed).driver);
        let mut driver = Driver::new(&world);
        driver.start();
        let mut pick = picks(seed);
        for _ in 0..1_500 {
            if driver.state.end().is_some() {
                break;
            }
            // Three inputs each: publishing takes two measurements and itself.
            for _ in 0..3 {
                driver.perform(pick());
            }
            driver = driver.again();
        }
        prop_assert_eq!(ends::of(&driver), whole);
        prop_assert_eq!(jobs_are_kept(&driver), Ok(()));
        prop_assert_eq!(unearned(&world, &driver.journal), None);
    }

    /// A journal read back from its JSON folds to the same run.
    #[test]
    fn a_journal_survives_its_json_form(world in any_worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        for event in &driver.journal {
            let text = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
        }
        // Resuming what is over does nothing.
        let mut again = Driver::resumed(&world, &driver.journal, driver.content, &driver.bought, resume());
        prop_assert_eq!(again.journal.len(), driver.journal.len());
        again.input(resume());
        prop_assert_eq!(again.journal.len(), driver.journal.len());
    }
}

//! What is never promoted, told by the journal alone: none of the engine's own words for it are used
//! (issue 5, "What it must show").

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome};
use run_loop::domain::event::{Event, Settlement};
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::Disposition;
use run_loop::domain::id::{FindingId, LoopId, RoundNumber};
use run_loop::domain::job::{Ended, Job, Role};
use run_loop::domain::oid::Oid;
use run_loop::domain::slot::SlotName;
use run_loop::engine::{State, fold};
use run_loop::promote::Permit;
use run_loop::runtime::facts;
use run_loop::store::{LockProof, RunLock, StateFolder};

use crate::orders::{Driver, picks};
use crate::world::{World, any_worlds, slot_index, stamp, worlds};

/// What a journal says up to where a promotion is requested.
#[derive(Default)]
struct Told<'a> {
    requested: BTreeMap<u64, &'a Effect>,
    pinned: Option<Oid>,
    measured: Option<Oid>,
    /// Each slot's newest word: on which content, and whether it passes.
    settled: BTreeMap<SlotName, (Option<Oid>, bool)>,
    /// Whether a finding blocks, and whether it is open.
    findings: BTreeMap<FindingId, (bool, bool)>,
}

impl<'a> Told<'a> {
    fn hear(&mut self, event: &'a Event) {
        match event {
            Event::RoundOpened { .. } => (self.pinned, self.measured) = (None, None),
            Event::EffectRequested { id, effect } => {
                self.requested.insert(id.0, &**effect);
            }
            Event::EffectDone {
                effect, outcome, ..
            } => match (self.requested.get(&effect.0), &**outcome) {
                (
                    Some(Effect::Pin { work: None, .. }),
                    Outcome::Pinned {
                        result: Done::Ok(pin),
                    },
                ) => self.pinned = Some(pin.identity.content_tree.clone()),
                (
                    Some(Effect::Measure { point, .. }),
                    Outcome::Measured {
                        result: Done::Ok(now),
                    },
                ) => {
                    let last = *point == MeasurePoint::BeforePromotion;
                    self.measured = last.then(|| now.pin.identity.content_tree.clone());
                }
                _ => {}
            },
            Event::SlotSettled {
                slot, settlement, ..
            } => {
                let passed = matches!(settlement, Settlement::Passed { .. });
                let word = (self.pinned.clone(), passed);
                self.settled.insert(slot.clone(), word);
            }
            // What passed in a void round is void.
            Event::RoundClosed { result, .. } if !result.is_refused() || result.is_void() => {
                self.settled.clear();
            }
            Event::FindingRaised { finding } => {
                self.findings.insert(finding.id, (finding.blocking, true));
            }
            Event::FindingDisposed {
                finding,
                disposition,
                ..
            } => {
                let settles = matches!(
                    disposition,
                    Disposition::Fixed | Disposition::Withdrawn | Disposition::Overruled
                );
                self.findings.get_mut(finding).unwrap().1 = !settles;
            }
            _ => {}
        }
    }
    /// Why nothing may be promoted now.
    fn against(&self, world: &World) -> Option<&'static str> {
        let here = (self.pinned.clone(), true);
        let passed = self.settled.values().filter(|word| **word == here);
        let passed = passed.count();
        let wanted = world
            .quorum
            .map_or(world.slots.len(), |quorum| quorum.max(1) as usize);
        if self.pinned.is_none() || self.measured != self.pinned {
            return Some("the content does not measure equal at the end");
        }
        if passed < wanted {
            return Some("the panel did not pass");
        }
        let mut findings = self.findings.values();
        let open = findings.any(|(blocking, is_open)| *blocking && *is_open);
        open.then_some("a blocking finding is open")
    }
}

/// Why something that this journal promotes may not be promoted, whatever was stopped, cancelled or taken up
/// on the way.
pub fn unearned(world: &World, journal: &[Event]) -> Option<&'static str> {
    let mut told = Told::default();
    for event in journal {
        if let Event::EffectRequested { effect, .. } = event
            && matches!(**effect, Effect::Promote { .. })
            && let Some(why) = told.against(world)
        {
            return Some(why);
        }
        told.hear(event);
    }
    None
}

/// How often anybody was asked, told by the journal.
#[derive(Default)]
struct Asked {
    rounds: u32,
    /// By round and slot: reviews that were nobody's limit.
    reviews: BTreeMap<(RoundNumber, SlotName), usize>,
    /// By step: jobs that were nobody's limit.
    jobs: BTreeMap<(Role, SlotName, usize, RoundNumber), usize>,
    steps: BTreeSet<(Role, SlotName, usize, Option<RoundNumber>)>,
    requested: BTreeMap<u64, Job>,
}

impl Asked {
    /// What is beyond its bound, if anything is: rounds, attempts of a slot, jobs of a step, steps.
    fn hear(&mut self, world: &World, event: &Event) -> Option<&'static str> {
        match event {
            Event::RoundOpened { round } => {
                self.rounds += 1;
                let beyond = round.0 != self.rounds || self.rounds > world.max_rounds;
                beyond.then_some("a round is beyond the rounds that are allowed")
            }
            Event::WorkOpened { work } => {
                let step = (work.role, work.slot.clone(), work.rank, work.after);
                if !self.steps.insert(step) {
                    return Some("a step is taken twice");
                }
                let again = |it: &&(Role, SlotName, usize, Option<RoundNumber>)| {
                    it.0 == Role::Refine && it.3.is_some()
                };
                let refined = self.steps.iter().filter(again).count();
                (refined > 1).then_some("the plan is opened again twice")
            }
            Event::EffectRequested { id, effect } => {
                if let Effect::RunJob { job } = &**effect {
                    self.requested.insert(id.0, job.clone());
                }
                None
            }
            Event::EffectDone {
                effect, outcome, ..
            } => {
                let job = self.requested.remove(&effect.0)?;
                let Outcome::JobEnded { outcome } = &**outcome else {
                    return Some("a job came back as something else");
                };
                // Nobody's failure: the same is asked again, and nothing is spent.
                let nobodys = outcome.ended.is_limit() || outcome.ended == Ended::Interrupted;
                if nobodys {
                    return None;
                }
                self.count(world, job)
            }
            _ => None,
        }
    }
    fn count(&mut self, world: &World, job: Job) -> Option<&'static str> {
        if job.role == Role::Review {
            let slot = slot_index(&job.slot).unwrap();
            let attempts = self.reviews.entry((job.round, job.slot)).or_default();
            *attempts += 1;
            // The first, one re-ask, one fresh attempt, and each fallback.
            let bound = 3 + world.slots[slot].fallbacks;
            return (*attempts > bound).then_some("a slot is asked beyond its attempts");
        }
        let rules = matches!(job.role, Role::Readjudicate | Role::Arbitrate);
        let step = (job.role, job.slot, job.rank, job.round);
        let jobs = self.jobs.entry(step).or_default();
        *jobs += 1;
        // Who rules has a fresh attempt besides.
        let bound = 2 + usize::from(rules);
        (*jobs > bound).then_some("a step is asked for its form more than once")
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 5: in no run is a PASS promoted whose content does not measure equal at the end, whose panel
    /// did not pass, or that has an open blocking finding; every run ends within its bounds. Runs that are
    /// stopped, cancelled or cut and taken up again are held to it where they are made (`orders`, `prefixes`).
    #[test]
    fn no_pass_is_promoted_that_was_not_earned(world in any_worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        prop_assert!(driver.state.is_over() || driver.state.suspended.is_some());
        prop_assert_eq!(unearned(&world, &driver.journal), None);
        let mut asked = Asked::default();
        for event in &driver.journal {
            prop_assert_eq!(asked.hear(&world, event), None);
        }
    }
}

/// Whether the permit is granted on what the engine knows when it asks for a promotion.
fn granted(state: &State, round: RoundNumber, lock: LockProof<'_>) -> Result<(), Failure> {
    let text = "1. do it".to_owned();
    let planned = state.has_plan();
    let plan = planned.then(|| (text.clone(), Digest::of(text.as_bytes())));
    let facts = facts::approved(state, round, plan)?;
    Permit::grant(facts, lock).map(drop)
}

/// What the engine asks to be promoted is what the permit allows: both work it out from the same facts, each
/// by itself, so that a round which passed is not refused afterwards.
#[test]
fn the_permit_is_granted_for_what_the_engine_promotes() {
    let folder = tempfile::tempdir().unwrap();
    let place = StateFolder::open(folder.path()).unwrap();
    let run = LoopId::mint(&stamp(0), "loop");
    let lock = RunLock::acquire(&place, folder.path(), run).unwrap();
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let mut promoted = 0;
    for seed in 0..4_000 {
        let world = worlds().new_tree(&mut runner).unwrap().current();
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        let mut state = State::default();
        for event in &driver.journal {
            fold(&mut state, event);
            if let Event::EffectRequested { effect, .. } = event
                && let Effect::Promote { round } = **effect
            {
                promoted += 1;
                let granted = granted(&state, round, lock.proof());
                assert!(granted.is_ok(), "{granted:?} in {world:#?}");
            }
        }
    }
    assert!(promoted > 100, "{promoted} of them");
}

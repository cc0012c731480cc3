//! Budgets in the simulated world: a run that spent what it may spend is put aside, nobody is asked
//! beyond it, and with more it ends as if there had been no budget.

use std::collections::BTreeMap;

use proptest::prelude::*;
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::JobId;
use run_loop::domain::job::Role;
use run_loop::domain::limits::{Allowed, Limits};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::engine::{State, fold};

use crate::model;
use crate::orders::{Driver, picks, resume};
use crate::world::{World, worlds};

/// Worlds whose runs have budgets, and whose jobs cost something or do not tell.
pub fn limited() -> impl Strategy<Value = World> {
    (
        worlds(),
        prop::option::of(1_u64..4),
        prop::option::weighted(0.7, 1_u64..24),
        prop::option::weighted(0.9, 1_u64..4),
    )
        .prop_map(|(mut world, max_wall, max_cost, cost)| {
            world.limits = Limits {
                max_wall,
                max_cost_micro_usd: max_cost,
                phases: BTreeMap::new(),
                wait: world.limits.wait,
                job_wait: None,
                prices: Vec::new(),
            };
            world.cost = cost;
            world
        })
}

const MORE: Allowed = Allowed {
    max_wall: Some(1_000_000_000),
    max_cost_micro_usd: Some(1_000_000_000),
    wait: false,
};

fn asked(journal: &[Event]) -> usize {
    let runs = |event: &&Event| matches!(event, Event::EffectRequested { effect, .. } if matches!(**effect, Effect::RunJob { .. }));
    journal.iter().filter(runs).count()
}

/// Nobody was asked once the money was gone, as the journal's own outcomes tell.
fn asked_within(world: &World, journal: &[Event]) -> bool {
    let Some(limit) = world.limits.max_cost_micro_usd else {
        return true;
    };
    let disputes = world.crew.is_some() && world.spec().arbiter.is_some();
    let (mut state, mut told) = (State::default(), 0);
    // What a job of a role told that it cost, which is the same for all here, and what runs.
    let mut known: BTreeMap<Role, u64> = BTreeMap::new();
    let mut running: Vec<Role> = Vec::new();
    for event in journal {
        if let Event::EffectRequested { effect, .. } = event
            && let Effect::RunJob { job } = &**effect
        {
            let rules = matches!(job.role, Role::Readjudicate | Role::Arbitrate);
            let allowed = if disputes && !rules {
                limit - limit / 10
            } else {
                limit
            };
            let free = state.agent_of(job).unwrap().is_checks();
            if told >= allowed && !free {
                return false;
            }
            // K07: what already runs leaves what is kept for rulings, as far as it can be known.
            if !free {
                running.push(job.role);
                let expected = running.iter().filter_map(|role| known.get(role));
                if allowed < limit && told + expected.sum::<u64>() > allowed {
                    return false;
                }
            }
        }
        if let Event::EffectDone {
            effect, outcome, ..
        } = event
            && let Outcome::JobEnded { outcome } = &**outcome
            && let Some(Effect::RunJob { job }) = state.open.get(effect)
            && !state.agent_of(job).unwrap().is_checks()
        {
            let nth = running.iter().position(|role| *role == job.role).unwrap();
            running.remove(nth);
            if let Some(cost) = outcome.spent.cost_micro_usd {
                told += cost;
                known.insert(job.role, cost);
            }
        }
        fold(&mut state, event);
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 5.6, C08, C09, K07, K12: the engine holds the bounds, in any order of what happens.
    #[test]
    fn a_spent_budget_puts_the_run_aside_and_more_of_it_ends_it(world in limited(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        let (exit, model) = (driver.run(picks(seed)), model::exit(&world));
        prop_assert!(asked_within(&world, &driver.journal));
        if driver.state.suspended.is_none() {
            prop_assert_eq!(exit, model);
            return Ok(());
        }
        prop_assert_eq!(exit, 7);
        prop_assert!(driver.state.promotion.is_none());
        // Nobody works beyond it, however often it is taken up.
        let mut again = driver.again();
        prop_assert_eq!(again.run(picks(seed)), 7);
        prop_assert_eq!(asked(&again.journal), asked(&driver.journal));
        let mut more = again.again_with(MORE);
        more.in_time = true;
        prop_assert_eq!(more.run(picks(seed)), model);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Cut after every event, a run with budgets resumes to what it would have come to.
    #[test]
    fn every_prefix_of_a_run_with_budgets_resumes(world in limited(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        let mut held = vec![(driver.content, driver.bought.clone()); driver.journal.len()];
        let mut pick = picks(seed);
        while driver.perform(pick()) {
            held.resize(driver.journal.len(), (driver.content, driver.bought.clone()));
        }
        let model = model::exit(&world);
        for cut in 1..driver.journal.len() {
            let (content, bought) = &held[cut - 1];
            let mut again = Driver::resumed(&world, &driver.journal[..cut], *content, bought, resume());
            let exit = again.run(picks(seed ^ cut as u64));
            prop_assert!(exit == 7 || exit == model, "cut after event {} it ended {}", cut, exit);
            if again.state.suspended.is_some() {
                again = again.again_with(MORE);
                again.in_time = true;
                prop_assert_eq!(again.run(picks(seed)), model, "cut after event {}", cut);
            }
        }
    }
}

/// K07: what is kept for rulings is kept from everybody else, where anybody may rule.
#[test]
fn a_tenth_is_kept_for_rulings() {
    let allowed = |creator: bool, arbiter: bool| {
        let mut spec = Box::new(crate::delegations::world().spec());
        let agent = spec.panel[0].agent.clone();
        spec.creator = creator.then(|| agent.clone());
        spec.arbiter = arbiter.then_some(agent);
        spec.limits.max_cost_micro_usd = Some(1_000);
        let stamp = Stamp {
            at: Timestamp::from_millis(0),
            seed: [0; 32],
        };
        let state = State::replay(&[Event::RunStarted { stamp, spec }]);
        let roles = [
            Role::Implement,
            Role::Review,
            Role::Readjudicate,
            Role::Arbitrate,
        ];
        roles.map(|role| state.cost_allowed(role).unwrap())
    };
    assert_eq!(allowed(true, true), [900, 900, 1_000, 1_000]);
    for (creator, arbiter) in [(true, false), (false, true), (false, false)] {
        assert_eq!(allowed(creator, arbiter), [1_000; 4]);
    }
}

/// What a killed engine ran since its last event counts, as far as it was seen alive: never less than
/// to that event, never more than to the moment at which the run goes on (issue 4). Where it noted how
/// long it ran that counts, since the machine may have slept between two dates.
#[test]
fn the_time_of_a_killed_engine_counts() {
    let ran = |seen: Option<i64>, told: Option<u64>| {
        let mut state = State::default();
        let at = |millis: i64| Stamp {
            at: Timestamp::from_millis(millis),
            seed: [0; 32],
        };
        let spec = Box::new(crate::delegations::world().spec());
        let events = [
            Event::RunStarted {
                stamp: at(1_000),
                spec,
            },
            Event::RunResumed {
                stamp: at(3_000),
                allowed: Allowed::default(),
                seen: None,
                ran: None,
                found: None,
                gone: None,
            },
            Event::JobSilent {
                stamp: at(13_000),
                job: JobId::mint(&at(2_000), "job"),
                attempt: 1,
            },
            Event::RunResumed {
                stamp: at(60_000),
                allowed: Allowed::default(),
                seen: seen.map(Timestamp::from_millis),
                ran: told,
                found: None,
                gone: None,
            },
        ];
        for event in &events {
            fold(&mut state, event);
        }
        state.budget.ran
    };
    assert_eq!(ran(None, None), 10_000);
    // As an older engine noted it.
    assert_eq!(ran(Some(23_000), None), 20_000);
    assert_eq!(ran(Some(10), None), 10_000);
    assert_eq!(ran(Some(900_000), None), 57_000);
    // Of the ten seconds up to the last event it slept six.
    assert_eq!(ran(None, Some(4_000)), 4_000);
    assert_eq!(ran(None, Some(30_000)), 30_000);
    assert_eq!(ran(None, Some(u64::MAX)), 57_000);
}

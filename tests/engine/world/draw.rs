//! Drawing worlds.

use proptest::prelude::*;
use run_loop::domain::limits::Limits;

use crate::world::World;
use crate::world::helpers::{Delegating, Fate, Helper, Then};
use crate::world::script::{Answer, Arbiter, Crew, Deed, Motion, Planned, SlotScript};

#[expect(clippy::too_many_lines, reason = "one place for all parts of a world")]
pub fn worlds() -> impl Strategy<Value = World> {
    let answer = prop_oneof![
        6 => Just(Answer::Pass),
        1 => Just(Answer::PassUncovered),
        1 => Just(Answer::PassWithBlocker),
        1 => Just(Answer::NotPass),
        1 => Just(Answer::NotPassUnexplained),
        2 => Just(Answer::NotPassStillOpen),
        1 => Just(Answer::NotPassLow),
        2 => Just(Answer::NotPassNew),
        1 => Just(Answer::NotPassNewWithdrawing),
        1 => Just(Answer::NotPassNewAlone),
        1 => Just(Answer::NotPassNewButOpen),
        2 => Just(Answer::NotPassAgain),
        1 => Just(Answer::PassButOpen),
        1 => Just(Answer::PassButTheirsOpen),
        2 => Just(Answer::NotPassTheirsOpen),
        2 => Just(Answer::PassTakingBack),
        2 => Just(Answer::Invalid),
        1 => Just(Answer::InvalidButOpen),
        1 => Just(Answer::InvalidNotPass),
        1 => Just(Answer::Silent),
        1 => Just(Answer::ExitsWithPerfectPass),
        1 => Just(Answer::KilledWithNotPass),
        1 => Just(Answer::KilledStillOpen),
        1 => Just(Answer::TimesOutWithPass),
        1 => Just(Answer::TimesOutWithNotPass),
        1 => Just(Answer::CannotStart),
        2 => Just(Answer::Limited),
    ];
    let motion = || {
        prop_oneof![
            9 => Just(Motion::Still),
            3 => (0_u8..4).prop_map(Motion::Content),
            1 => Just(Motion::Base),
            1 => Just(Motion::Unholdable),
            1 => Just(Motion::Rebased),
            1 => Just(Motion::Tripped),
            1 => Just(Motion::Amended),
            1 => Just(Motion::Switched),
            1 => Just(Motion::GitFails),
        ]
    };
    let slot = (
        prop::bool::weighted(0.2),
        0_usize..3,
        prop::collection::vec(answer, 1..6),
        prop::option::weighted(0.04, 1_u32..4),
    )
        .prop_map(|(checks, fallbacks, mut answers, tree_fails_in)| {
            // `checks` asks no provider, and every limit is lifted some time.
            answers.retain(|answer| !checks || *answer != Answer::Limited);
            if answers.iter().all(|answer| *answer == Answer::Limited) {
                answers.push(Answer::Pass);
            }
            SlotScript {
                checks,
                fallbacks: if checks { 0 } else { fallbacks },
                answers,
                tree_fails_in,
            }
        });
    (
        (
            prop::collection::vec(slot, 1..5),
            prop::option::weighted(0.6, crews()),
        ),
        1_u32..5,
        1_u32..5,
        prop::option::weighted(0.3, 0_u32..4),
        prop::collection::vec((motion(), motion()), 4),
        prop_oneof![1 => Just(0_u8), 12 => 1_u8..4],
        prop::option::weighted(0.06, 1_u32..4),
        prop::option::weighted(0.06, 1_u32..4),
        (prop::bool::weighted(0.05), any::<bool>()),
    )
        .prop_map(
            |(
                (mut slots, crew),
                max_rounds,
                max_parallel,
                quorum,
                motions,
                first_content,
                pin,
                evidence,
                (promotion, wait),
            )| {
                // Which of a slot's agents is asked depends on when limits are lifted, and it matters
                // who raised a finding where others answer it, or pass other content by it.
                if crew.is_some() || max_rounds > 1 {
                    let several = slots.iter_mut().filter(|slot| slot.fallbacks > 0);
                    let answers = several.flat_map(|slot| &mut slot.answers);
                    for answer in answers.filter(|answer| **answer == Answer::Limited) {
                        *answer = Answer::Pass;
                    }
                }
                if crew.as_ref().is_some_and(|crew| crew.own_work) {
                    reviews_itself(&mut slots);
                }
                World {
                    slots,
                    crew,
                    max_rounds,
                    max_parallel,
                    quorum,
                    motions,
                    first_content,
                    pin_fails_in: pin,
                    evidence_fails_in: evidence,
                    promotion_fails: promotion,
                    limits: Limits {
                        wait,
                        ..Limits::default()
                    },
                    cost: None,
                    delegating: Delegating::default(),
                }
            },
        )
}

/// The panel of whoever reviews its own work: itself, and `checks`.
fn reviews_itself(slots: &mut Vec<SlotScript>) {
    let own = slots.iter().find(|slot| !slot.checks).cloned();
    let own = own.unwrap_or_else(|| slots[0].clone());
    let mut checks = slots[slots.len() - 1].clone();
    for answer in &mut checks.answers {
        if *answer == Answer::Limited {
            *answer = Answer::Pass;
        }
    }
    *slots = [(own, false), (checks, true)]
        .map(|(slot, checks)| SlotScript {
            checks,
            fallbacks: 0,
            ..slot
        })
        .to_vec();
}

fn crews() -> impl Strategy<Value = Crew> {
    let deed = prop_oneof![
        30 => Just(Deed::Answers),
        2 => Just(Deed::Invalid),
        1 => Just(Deed::Silent),
        1 => Just(Deed::Exits),
        1 => Just(Deed::TimesOut),
        1 => Just(Deed::CannotStart),
        2 => Just(Deed::Limited),
    ];
    let planned = prop_oneof![
        3 => Just(Planned::Nobody),
        1 => Just(Planned::Planner),
        1 => Just(Planned::File),
    ];
    let arbiter = prop_oneof![
        1 => Just(Arbiter::Nobody),
        6 => Just(Arbiter::Impartial),
        1 => Just(Arbiter::Creator),
        1 => Just(Arbiter::Reviewer),
    ];
    let motion = prop_oneof![
        14 => Just(Motion::Still),
        1 => (0_u8..4).prop_map(Motion::Content),
        1 => Just(Motion::Base),
        1 => Just(Motion::Unholdable),
        1 => Just(Motion::Rebased),
        1 => Just(Motion::Tripped),
        1 => Just(Motion::Amended),
        1 => Just(Motion::Switched),
        1 => Just(Motion::Elsewhere),
        1 => Just(Motion::GitFails),
    ];
    (
        (prop::bool::weighted(0.1), any::<bool>()),
        any::<bool>(),
        planned,
        any::<bool>(),
        arbiter,
        prop::collection::vec(deed, 1..9),
        prop::collection::vec(prop::option::weighted(0.5, 0_u8..5), 1..6),
        (
            prop::collection::vec(motion, 5),
            prop::collection::vec(prop::bool::weighted(0.2), 5),
        ),
        any::<u64>(),
    )
        .prop_map(
            |(
                (own_work, review_only),
                planner,
                planned,
                objects,
                arbiter,
                mut deeds,
                writes,
                (motions, loses),
                mood,
            )| {
                if deeds.iter().all(|deed| *deed == Deed::Limited) {
                    deeds.push(Deed::Answers);
                }
                Crew {
                    own_work,
                    review_only,
                    planner: planner || planned == Planned::Planner,
                    planned,
                    objects,
                    arbiter,
                    deeds,
                    writes,
                    motions,
                    loses,
                    mood,
                }
            },
        )
}

/// Worlds in which nobody delegates anything, and others.
pub fn any_worlds() -> impl Strategy<Value = World> {
    prop_oneof![3 => worlds(), 1 => delegating()]
}

/// Worlds whose jobs delegate, with two reviewers and two rounds at most.
pub fn little() -> impl Strategy<Value = World> {
    delegating().prop_map(|mut world| {
        world.slots.truncate(2);
        world.max_rounds = world.max_rounds.min(2);
        world
    })
}

/// Worlds whose jobs delegate.
fn delegating() -> impl Strategy<Value = World> {
    let plans = prop::collection::vec(prop::collection::vec(helpers(), 0..3), 1..4);
    let strangers = prop::collection::vec(helpers(), 0..2);
    let cap = prop::option::of(1_u64..5_000);
    (worlds(), plans, strangers, any::<bool>(), cap).prop_map(
        |(mut world, plans, strangers, wait_open_jobs, job_wait)| {
            world.limits.job_wait = job_wait;
            world.delegating = Delegating {
                plans,
                strangers,
                wait_open_jobs,
            };
            world
        },
    )
}

/// The same where helpers end after everybody who waited for them, and write then.
pub fn late() -> impl Strategy<Value = World> {
    delegating().prop_map(|mut world| {
        let helpers = world.delegating.plans.iter_mut().flatten();
        for (nth, helper) in helpers.enumerate() {
            if nth % 2 == 0 {
                helper.fates = vec![Fate::Late];
                helper.then = Then::Nothing;
                helper.awaited = false;
            }
        }
        world
    })
}

fn helpers() -> impl Strategy<Value = Helper> {
    let of = |helpers: Vec<Helper>| {
        (
            prop::collection::vec(fates(), 1..4),
            any::<bool>(),
            thens(),
            Just(helpers),
        )
            .prop_map(|(fates, awaited, then, helpers)| helper(fates, awaited, then, helpers))
    };
    let leaf = Just(Vec::new()).prop_flat_map(of);
    leaf.prop_recursive(2, 4, 2, move |inner| {
        prop::collection::vec(inner, 0..3).prop_flat_map(of)
    })
}

/// A helper that can be: who is cancelled at once does nothing, and every limit is lifted some time.
fn helper(mut fates: Vec<Fate>, awaited: bool, then: Then, mut helpers: Vec<Helper>) -> Helper {
    if then.cancels() {
        fates.insert(0, Fate::Endless);
        helpers.clear();
    } else if then != Then::Nothing && fates[0] == Fate::Endless {
        fates[0] = Fate::Exits;
    }
    if matches!(fates.last(), Some(Fate::Limited | Fate::Misfits)) {
        fates.push(Fate::Reports);
    }
    Helper {
        fates,
        awaited,
        then,
        helpers,
    }
}

fn fates() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(Fate::Reports),
        1 => Just(Fate::SaysDone),
        1 => Just(Fate::SaysFailed),
        1 => Just(Fate::Asks),
        1 => Just(Fate::Exits),
        1 => Just(Fate::ReportsNothing),
        1 => Just(Fate::TimesOut),
        1 => Just(Fate::CannotStart),
        1 => Just(Fate::Unseen),
        2 => Just(Fate::Limited),
        1 => Just(Fate::Misfits),
        2 => Just(Fate::Endless),
    ]
}

fn thens() -> impl Strategy<Value = Then> {
    prop_oneof![
        6 => Just(Then::Nothing),
        1 => Just(Then::Cancelled),
        1 => Just(Then::CancelledAndAgain),
        2 => Just(Then::Again),
        2 => Just(Then::AgainByPerson),
    ]
}

//! The reference model: the exit code that a scripted world must lead to, computed by walking the
//! design's sentences in order. It shares no code with the engine and knows no events.

use std::collections::BTreeSet;

use run_loop::domain::effect::MeasurePoint;

use crate::world::{Answer, Motion, World};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Passes,
    Refuses,
    Nothing,
}

/// The exit code of an undisturbed run in this world.
pub fn exit(world: &World) -> u8 {
    let mut content = world.first_content;
    // Contents that somebody claimed NOT PASS on; with the slot that claimed it.
    let mut barred: BTreeSet<(u8, usize)> = BTreeSet::new();
    for round in 1..=world.max_rounds {
        if world.pin_fails_in == Some(round) {
            return 3;
        }
        if content == 0 {
            return if round == 1 { 3 } else { 4 };
        }
        if world.evidence_fails_in == Some(round) {
            return 5;
        }
        if world
            .slots
            .iter()
            .any(|slot| slot.tree_fails_in == Some(round))
        {
            return 3;
        }
        let reviewed = content;
        let slots: Vec<Slot> = (0..world.slots.len())
            .map(|slot| ask(world, slot, round, reviewed, &mut barred))
            .collect();
        match after(world, round, MeasurePoint::Sealed, reviewed, &mut content) {
            After::Stale => continue,
            After::Unknown => return 5,
            motion => {
                let refused = slots.contains(&Slot::Refuses);
                if refused || barred.iter().any(|(content, _)| *content == reviewed) {
                    return 1;
                }
                if !enough(world, &slots) || motion == After::Tripped {
                    return 5;
                }
            }
        }
        match after(
            world,
            round,
            MeasurePoint::BeforePromotion,
            reviewed,
            &mut content,
        ) {
            After::Stale => {}
            After::Unknown | After::Tripped => return 5,
            After::Still => return if world.promotion_fails { 6 } else { 0 },
        }
    }
    4
}

#[derive(PartialEq, Eq)]
enum After {
    Still,
    Stale,
    Tripped,
    Unknown,
}

fn after(world: &World, round: u32, point: MeasurePoint, reviewed: u8, content: &mut u8) -> After {
    match world.motion(round, point) {
        Motion::Still => After::Still,
        Motion::Content(next) => {
            *content = next;
            if next == reviewed {
                After::Still
            } else {
                After::Stale
            }
        }
        Motion::Base | Motion::Unholdable => After::Stale,
        Motion::Tripped => After::Tripped,
        Motion::GitFails => After::Unknown,
    }
}

fn enough(world: &World, slots: &[Slot]) -> bool {
    let passed = slots.iter().filter(|slot| **slot == Slot::Passes).count();
    let readers = world.slots.iter().filter(|slot| !slot.checks).count();
    let readers_passed = slots
        .iter()
        .zip(&world.slots)
        .filter(|(slot, script)| **slot == Slot::Passes && !script.checks)
        .count();
    let quorum = world
        .quorum
        .map_or(slots.len(), |least| least.max(1) as usize);
    passed >= quorum && (readers == 0 || readers_passed > 0)
}

/// Asks one slot: attempt, one re-ask for an invalid report, one fresh attempt for a failure on
/// the way, each fallback once.
fn ask(
    world: &World,
    slot: usize,
    round: u32,
    content: u8,
    barred: &mut BTreeSet<(u8, usize)>,
) -> Slot {
    let (mut re_ask, mut fresh, mut fallbacks) = (1, 1, world.slots[slot].fallbacks);
    for attempt in 1.. {
        let answer = world.answer(slot, round, attempt);
        let claims = matches!(
            answer,
            Answer::NotPass
                | Answer::NotPassUnexplained
                | Answer::PassWithBlocker
                | Answer::InvalidNotPass
                | Answer::KilledWithNotPass
                | Answer::TimesOutWithNotPass
        );
        if claims {
            barred.insert((content, slot));
        }
        let again = match answer {
            Answer::Pass | Answer::NotPassLow => {
                let bar = barred.contains(&(content, slot));
                return if bar { Slot::Refuses } else { Slot::Passes };
            }
            Answer::NotPass | Answer::NotPassUnexplained | Answer::PassWithBlocker => {
                return Slot::Refuses;
            }
            Answer::Invalid | Answer::InvalidNotPass => &mut re_ask,
            Answer::Silent
            | Answer::ExitsWithPerfectPass
            | Answer::KilledWithNotPass
            | Answer::CannotStart => &mut fresh,
            Answer::TimesOutWithPass | Answer::TimesOutWithNotPass | Answer::PassUncovered => {
                &mut 0
            }
        };
        if *again > 0 {
            *again -= 1;
        } else if fallbacks > 0 {
            fallbacks -= 1;
        } else {
            break;
        }
    }
    Slot::Nothing
}

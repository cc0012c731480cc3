//! What is never promoted, told by the journal alone: none of the engine's own words for it are used
//! (issue 5, "What it must show").

use std::collections::BTreeMap;

use proptest::prelude::*;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome};
use run_loop::domain::event::{Event, RoundResult, Settlement};
use run_loop::domain::finding::Disposition;
use run_loop::domain::id::FindingId;
use run_loop::domain::oid::Oid;
use run_loop::domain::slot::SlotName;

use crate::orders::{Driver, picks};
use crate::world::{World, worlds};

/// What a journal says up to where a promotion is requested.
#[derive(Default)]
struct Told {
    requested: BTreeMap<u64, Effect>,
    pinned: Option<Oid>,
    measured: Option<Oid>,
    /// Each slot's newest word: on which content, and whether it passes.
    settled: BTreeMap<SlotName, (Option<Oid>, bool)>,
    /// Whether a finding blocks, and whether it is open.
    findings: BTreeMap<FindingId, (bool, bool)>,
}

impl Told {
    fn hear(&mut self, event: &Event) {
        match event {
            Event::RoundOpened { .. } => (self.pinned, self.measured) = (None, None),
            Event::EffectRequested { id, effect } => {
                self.requested.insert(id.0, (**effect).clone());
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
            Event::RoundClosed { result, .. } if *result != RoundResult::NotPassed => {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Issue 5: in no run is a PASS promoted whose content does not measure equal at the end, whose panel
    /// did not pass, or that has an open blocking finding; every run ends.
    #[test]
    fn no_pass_is_promoted_that_was_not_earned(world in worlds(), seed in any::<u64>()) {
        let mut driver = Driver::new(&world);
        driver.start();
        driver.run(picks(seed));
        prop_assert!(driver.state.is_over() || driver.state.suspended.is_some());
        let mut told = Told::default();
        for event in &driver.journal {
            if let Event::EffectRequested { effect, .. } = event
                && matches!(**effect, Effect::Promote { .. })
            {
                prop_assert_eq!(told.against(&world), None);
            }
            told.hear(event);
        }
    }
}

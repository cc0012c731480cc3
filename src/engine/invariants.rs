//! What holds in every state, checked by the tests after every event.

use crate::domain::effect::Effect;
use crate::domain::end::End;
use crate::domain::event::{RoundResult, Settlement};
use crate::engine::state::{Phase, Stage, State};

/// An invariant that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation(pub String);

/// Checks every invariant; the first that does not hold.
///
/// # Errors
/// The violation.
pub fn check(state: &State) -> Result<(), Violation> {
    let broken = |text: &str| Err(Violation(text.to_owned()));
    let approved = match &state.phase {
        Phase::Closing {
            end: End::Approved { .. },
            ..
        }
        | Phase::Ended {
            end: End::Approved { .. },
        } => true,
        Phase::Unstarted
        | Phase::Between
        | Phase::Work { .. }
        | Phase::Round { .. }
        | Phase::Closing { .. }
        | Phase::Ended { .. } => false,
    };
    if approved {
        let Some(last) = state.rounds.last() else {
            return broken("a run was approved without a round");
        };
        let Some(pin) = &last.pin else {
            return broken("a run was approved without a pin");
        };
        if last.result != RoundResult::Passed || state.promotion.is_none() {
            return broken("a run was approved whose last round did not pass and get promoted");
        }
        let passed = last
            .slots
            .values()
            .filter(|slot| matches!(slot.settlement(), Some(Settlement::Passed { .. })));
        if passed.count() == 0 {
            return broken("a run was approved that nobody passed");
        }
        if state.findings.iter().any(State::stands) {
            return broken("a run was approved with a blocking finding that stands");
        }
        if state.is_barred(pin, None).is_some() {
            return broken("a run was approved on an identity that a claim bars");
        }
    }
    if state.suspended.is_some() && (!state.open.is_empty() || state.end().is_some()) {
        return broken("a run was put aside with open effects, or after its end");
    }
    if matches!(state.phase, Phase::Ended { .. }) && !state.open.is_empty() {
        return broken("a run ended with open effects");
    }
    let promoting = state
        .open
        .values()
        .any(|effect| matches!(effect, Effect::Promote { .. }));
    let stage_promotes = match &state.phase {
        Phase::Round { stage, .. } => matches!(**stage, Stage::Promoting { .. }),
        Phase::Closing { .. } => true,
        Phase::Unstarted | Phase::Between | Phase::Work { .. } | Phase::Ended { .. } => false,
    };
    if promoting && !stage_promotes {
        return broken("a promotion is open outside its stage");
    }
    Ok(())
}

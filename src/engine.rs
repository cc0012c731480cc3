//! The state machine: pure, synchronous, without clock, randomness or I/O.
//!
//! [`step`] takes the state and one [`Input`] and returns the events to journal: first the fact
//! that the input was taken, then every decision that follows, each decided from the fold of the
//! events before it. State changes only by [`fold`]. So every prefix of a journal is a state that
//! [`advance`] can go on from, and resuming is no special case.
//!
//! A requested effect is an event: [`State::open_effects`] is what the runtime is to perform, and
//! [`State::is_winding_up`] tells it to stop what is under way. Laws: `tests/engine.rs`.

mod advance;
mod aside;
mod blocked;
mod budget;
mod claims;
mod delegation;
mod ending;
mod fold;
mod input;
mod invariants;
mod ledger;
mod looks;
mod lower;
mod on;
mod progress;
mod review;
mod seen;
mod session;
mod state;
mod sub_jobs;
mod waited;
mod weigh;
mod work;

pub use advance::advance;
pub(crate) use aside::Cost;
pub use aside::{Aside, Voided};
pub use blocked::Blocked;
pub use budget::Budget;
pub use delegation::{DelegationRecord, JobStatus, Root};
pub use fold::fold;
pub use input::{Input, InputKind};
pub use invariants::{Violation, check};
pub use ledger::Bar;
pub use looks::Looks;
pub use review::{Limit, SlotProgress, SlotReview};
pub use seen::LastSeen;
pub use session::NoSession;
pub use state::{JobRecord, Parking, Phase, Review, Stage, State};
pub use weigh::{Refusal, Weight, weigh};
pub use work::{Asked, ClosedWork, TakenUp, WorkStage};

use crate::domain::code::Code;
use crate::domain::event::Event;
use crate::domain::failure::Failure;

/// Takes one input: the event that records it, and every event that follows from it.
///
/// An input that no longer means anything (a second outcome of one effect, anything after the
/// end) gives no event at all.
#[must_use]
pub fn step(state: &State, input: Input) -> Vec<Event> {
    let Some(recorded) = on::record(state, input) else {
        return Vec::new();
    };
    let mut next = state.clone();
    fold(&mut next, &recorded);
    let mut events = vec![recorded];
    while let Some(mut event) = advance(&next) {
        if events.last() == Some(&event) {
            // What was decided and is due again at once would be due for ever.
            if matches!(next.phase, Phase::Closing { .. }) {
                break;
            }
            let message = format!("the same was decided twice in a row: {event:?}");
            event = advance::fail(Failure::new(Code::Internal, message));
        }
        fold(&mut next, &event);
        events.push(event);
    }
    events
}

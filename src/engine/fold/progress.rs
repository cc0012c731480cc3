//! How findings stood after a turn.

use crate::engine::state::State;

/// The next round opens: what the turn after the last one came to is kept, where there was one.
pub(super) fn turned(state: &mut State) {
    let standing = state.standing();
    let last = state.rounds.last_mut();
    if let Some(last) = last.filter(|last| last.result.is_refused()) {
        last.left = Some(standing);
    }
}

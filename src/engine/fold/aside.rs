//! Folding that a run lay aside: see [`crate::engine::aside`].

use crate::domain::identity::{Remeasured, Tripwire};
use crate::engine::aside::{Aside, Touched, counted};
use crate::engine::fold::watch;
use crate::engine::state::{Phase, Stage, State};

/// Everything was given back, and the source was looked at: nobody of the run runs from here on.
pub(super) fn given_back(state: &mut State, found: Option<&Remeasured>) {
    let Some(found) = found else { return };
    let role = state.role_under_way();
    let pin = state.watched_aside();
    let moved = pin.map_or_else(Vec::new, |pin| counted(role, pin, found));
    watch::seen(state, &found.pin);
    state.aside = Some(Box::new(Aside {
        moved,
        tripwire: found.pin.tripwire.clone(),
    }));
}

/// An engine takes the run up again, which found this.
///
/// What moved since everything was given back, people moved, and what is measured from here on is compared
/// with how it is now. Where that look is missing, since the engine died or could not look, jobs may have
/// moved all of it.
pub(super) fn taken_up(state: &mut State, found: Option<&Remeasured>) {
    let lay_aside = state.suspended.is_some();
    match (state.aside.take(), found) {
        (Some(aside), found) => {
            state.watched = found
                .map(|found| found.pin.clone())
                .or_else(|| state.under_way().cloned());
            if !aside.moved.is_empty() {
                let (moved, by_jobs) = (aside.moved, true);
                touched(state, Touched { moved, by_jobs });
            } else if let Some(found) = found {
                rebase(state, &found.pin.tripwire);
            }
        }
        (None, Some(found)) => {
            let pin = state.under_way();
            let moved = pin.map_or_else(Vec::new, |pin| counted(None, pin, found));
            watch::seen(state, &found.pin);
            let by_jobs = false;
            touched(state, Touched { moved, by_jobs });
        }
        // As an older engine put it aside, which did not look.
        (None, None) if lay_aside => state.watched = state.under_way().cloned(),
        (None, None) => {}
    }
}

/// What passed in the round under way is void, and the next round reviews again: whoever takes the run up is
/// told what moved, and what is there from here on is what that round begins with.
fn touched(state: &mut State, touched: Touched) {
    let Phase::Round { stage, .. } = &state.phase else {
        return;
    };
    let goes_on = match &**stage {
        // Where there is no pin yet, nothing moved since.
        Stage::Opened
        | Stage::Pinning
        | Stage::Pinned { .. }
        | Stage::Gathering { .. }
        | Stage::Gathered { .. }
        | Stage::Reviewing { .. }
        | Stage::Measuring { .. }
        | Stage::Measured { .. } => true,
        // Its files may count already, and those of another round would not fit them.
        Stage::Promoting { .. } | Stage::Promoted { .. } => false,
    };
    if goes_on && !touched.moved.is_empty() {
        // What jobs are known to have rewired is no beginning for another round, however the run lay aside.
        if !touched.by_jobs {
            state.tampered.clear();
        }
        state.touched.get_or_insert(touched);
    }
}

/// What is under way is compared with this from here on.
fn rebase(state: &mut State, tripwire: &Tripwire) {
    if let Some(pin) = state.under_way_mut() {
        pin.tripwire = tripwire.clone();
    }
}

//! What a step left: where it was not to be, or so that it cannot be measured.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::identity::{Elsewhere, Pin, Remeasured, Site, named};
use crate::domain::job::Role;
use crate::domain::work::Work;
use crate::engine::advance::moved;
use crate::engine::advance::work::log;
use crate::engine::aside::counted;
use crate::engine::state::State;

/// A source that cannot be measured after a job: where a precondition of measuring is what failed,
/// the job left it so.
pub(in crate::engine::advance) fn unmeasured(work: &Work, failure: &Failure) -> Failure {
    if !work.role.writes() || failure.code != Code::SourceMoved {
        return failure.clone();
    }
    let message = format!(
        "the {} job of the {} left the source in a state that cannot be reviewed: {}",
        work.role.as_str(),
        work.slot,
        failure.message
    );
    Failure {
        code: Code::SourceLeftUnfit,
        message,
        next: failure.next.clone(),
    }
}

/// What the job did where it may not, or elsewhere than here.
pub(in crate::engine::advance) fn misplaced(
    state: &State,
    work: &Work,
    pin: &Pin,
    measured: &Remeasured,
) -> Option<Failure> {
    if let Some(now) = measured.branch_switched(pin) {
        return Some(elsewhere(state, work, pin, measured, now));
    }
    if state.rebased.is_some() {
        return moved::found(state);
    }
    let drift = measured.drift_from(pin);
    let tripped = counted(Some(work.role), pin, measured);
    if !tripped.is_empty() {
        let message = format!(
            "{} moved while the {} job of the {} ran",
            named(&tripped),
            work.role.as_str(),
            work.slot
        );
        return Some(Failure::new(Code::TripwireMoved, message).next(log(state)));
    }
    let elsewhere = measured.elsewhere.iter().find(|it| holds_work(work, it));
    elsewhere
        .filter(|_| work.role.writes() && !drift.content_moved)
        .map(|first| committed_elsewhere(state, work, first))
}

/// Whether a job's work lies there rather than here. A stash is everybody's in a repository: only who
/// was to write the change, and left nothing else, is believed to have put it there.
fn holds_work(work: &Work, found: &Elsewhere) -> bool {
    match found.site {
        Site::Branch | Site::Detached => true,
        Site::Stash => work.role == Role::Implement,
        Site::Dropped => false,
    }
}

/// HEAD is where it was, and what the job did lies elsewhere.
fn committed_elsewhere(state: &State, work: &Work, moved: &Elsewhere) -> Failure {
    let root = state
        .run
        .as_ref()
        .map_or(".", |run| run.source_root.as_str());
    let message = format!(
        "the {} job of the {} changed nothing here and {} instead; nothing of it was reviewed",
        work.role.as_str(),
        work.slot,
        moved.did()
    );
    Failure::new(Code::WorkElsewhere, message).next(moved.bring(root))
}

/// HEAD is on another branch than before the job: what was written there is not what the run is
/// about.
fn elsewhere(state: &State, work: &Work, pin: &Pin, measured: &Remeasured, now: &str) -> Failure {
    let short = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
    let (before, now) = (short(&pin.tripwire.head_ref), short(now));
    let committed = measured.pin.identity.head != pin.identity.head && measured.head_descends;
    let did = if committed && measured.pin.branch.is_none() {
        let head = measured.pin.identity.head.short();
        format!("committed {head} on no branch instead of {before}, and left HEAD detached there")
    } else if committed {
        format!("committed to {now} instead of {before}")
    } else {
        format!("switched from {before} to {now}")
    };
    let message = format!(
        "the {} job of the {} {did}; nothing of it was reviewed",
        work.role.as_str(),
        work.slot
    );
    let root = state
        .run
        .as_ref()
        .map_or(".", |run| run.source_root.as_str());
    let back = if pin.branch.is_some() {
        vec!["switch".to_owned(), before]
    } else {
        let head = pin.identity.head.to_string();
        vec!["switch".to_owned(), "--detach".to_owned(), head]
    };
    let git = ["git", "-C", root].map(str::to_owned);
    Failure::new(Code::WorkElsewhere, message).next(git.into_iter().chain(back))
}

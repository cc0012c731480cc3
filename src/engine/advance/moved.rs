//! What moved while jobs ran that the next round's beginning does not make right: the run ends by it.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::identity::named;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::engine::advance::work::log;
use crate::engine::state::State;

/// Why nothing goes on, if anything of the kind moved.
pub(super) fn found(state: &State) -> Option<Failure> {
    let run = state.run.as_ref()?;
    let rebased = state.rebased.as_ref();
    let base = rebased.map(|(old, new)| rebased_to(run, old, new));
    base.or_else(|| (!state.tampered.is_empty()).then(|| tampered(state)))
        .or_else(|| switched(state, run))
}

/// HEAD is on another branch than the run is about: what is there is not what anybody was asked for.
fn switched(state: &State, run: &RunSpec) -> Option<Failure> {
    let before = state.branch.as_ref()?;
    let now = &state.watched.as_ref()?.tripwire.head_ref;
    if now == before {
        return None;
    }
    let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    let message = format!(
        "HEAD was switched from {} to {} since the run began, and nobody was asked about what is there",
        short(before),
        short(now)
    );
    let failure = Failure::new(Code::SourceMoved, message);
    Some(if before.starts_with("refs/heads/") {
        failure.next(["git", "-C", &run.source_root, "switch", &short(before)])
    } else {
        failure.next(log(state))
    })
}

/// The ref of the base holds what was under review, or what nobody here wrote: the change against it is
/// another one, and what was said of this one says nothing of that.
fn rebased_to(run: &RunSpec, old: &Oid, new: &Oid) -> Failure {
    let given = match &run.base {
        BaseSpec::MergeBase { given, .. } => given.as_str(),
        BaseSpec::StartHead { .. } => "the base",
    };
    let message = format!(
        "{given} was moved while jobs ran, and the base with it, from {} to {}: what lies between is not in the change any more, and nobody approved it",
        old.short(),
        new.short()
    );
    let between = format!("{old}...{new}");
    let log = ["git", "-C", &run.source_root, "log", "--oneline", &between];
    Failure::new(Code::BaseMoved, message).next(log)
}

fn tampered(state: &State) -> Failure {
    let message = format!("{} moved while jobs ran", named(&state.tampered));
    Failure::new(Code::TripwireMoved, message).next(log(state))
}

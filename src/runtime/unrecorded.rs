//! What an engine published and did not live to record: no journal vouches for it, and whoever takes the run
//! up, or gives it up, takes it away first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::effect::{Effect, Outcome};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::EffectId;
use crate::domain::layout;
use crate::engine::{State, fold};
use crate::git::Git;
use crate::git::tracked::tracked;
use crate::promote::{ApprovedRound, withdraw};
use crate::runtime::facts;
use crate::runtime::perform::plan;
use crate::store::{Artifacts, Entry};

/// What became of it; paths are relative to the control root.
#[derive(Debug, Default)]
pub struct TakenAway {
    /// Files that are gone.
    pub removed: Vec<String>,
    /// What is still there and why, with the command that shows it.
    pub left: Option<Failure>,
}

/// Takes away what the promotions of a run wrote that nobody recorded, as far as it has the bytes that were
/// published, and git does not track it. Whoever calls has the journal open for writing: no engine of the run lives.
#[must_use]
pub fn take_away(git: &Git, artifacts: &Artifacts, entries: &[Entry]) -> TakenAway {
    let mut taken = TakenAway::default();
    let (rounds, state) = unrecorded(artifacts, entries);
    let (Some(run), None) = (&state.run, &state.promotion) else {
        return taken;
    };
    let (mut kept, mut given_to_git, mut trouble) = (Vec::new(), Vec::new(), None);
    let root = Path::new(&run.control_root);
    // What was published last lies there.
    for round in rounds.into_iter().rev() {
        let mut artifact = |sha256: &Digest| artifacts.get(sha256);
        let withdrawn = round.and_then(|round| {
            // Where the root is gone nothing lies there.
            let tracked = if root.is_dir() {
                tracked(git, root, &run.reports)?
            } else {
                BTreeSet::new()
            };
            withdraw(&round, root, &tracked, &mut artifact)
        });
        match withdrawn {
            Ok(withdrawn) => {
                taken.removed.extend(withdrawn.removed);
                kept.extend(withdrawn.kept);
                given_to_git.extend(withdrawn.tracked);
            }
            Err(failure) => trouble = Some(failure.message),
        }
    }
    let (how, why) = match (kept.is_empty(), given_to_git.is_empty()) {
        (true, false) => (["ls-files", "--stage"], "git tracks them"),
        (false, false) => (
            ["status", "--ignored"],
            "they were changed since, or git tracks them",
        ),
        (_, true) => (["status", "--ignored"], "they were changed since"),
    };
    kept.append(&mut given_to_git);
    kept.sort();
    kept.dedup();
    kept.retain(|path| !taken.removed.contains(path));
    let manifest = layout::manifest_path(&run.reports, run.loop_id);
    let is_there = || fs_err::symlink_metadata(root.join(&manifest)).is_ok();
    let what = if let Some(trouble) = trouble.filter(|_| is_there()) {
        kept = vec![manifest];
        trouble
    } else {
        why.to_owned()
    };
    if !kept.is_empty() {
        let message = format!(
            "run {} may have published {}, which no journal vouches for; they are left alone: {what}",
            run.loop_id,
            kept.join(", ")
        );
        let look = ["git", "-C", &run.control_root, how[0], how[1], "--"];
        let look = look.into_iter().map(str::to_owned).chain(kept);
        taken.left = Some(Failure::new(Code::PromotionFailed, message).next(look));
    }
    taken
}

/// The rounds whose promotion was requested and has no outcome, oldest first, as each was at that moment; and
/// how the run stands.
fn unrecorded(
    artifacts: &Artifacts,
    entries: &[Entry],
) -> (Vec<Result<ApprovedRound, Failure>>, State) {
    let mut state = State::default();
    let mut open: BTreeMap<EffectId, Result<ApprovedRound, Failure>> = BTreeMap::new();
    for entry in entries {
        fold(&mut state, &entry.event);
        if let Event::EffectRequested { id, effect } = &entry.event
            && let Effect::Promote { round } = **effect
        {
            let plan = plan::hashed(artifacts, &state);
            let facts = plan.and_then(|plan| facts::approved(&state, round, plan));
            open.insert(*id, facts);
        } else if let Event::EffectDone {
            effect, outcome, ..
        } = &entry.event
            && let Outcome::Promoted { .. } = **outcome
        {
            open.remove(effect);
        }
    }
    (open.into_values().collect(), state)
}

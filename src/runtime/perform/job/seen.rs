//! What changed since the slots that a job is about last reported.

use crate::domain::identity::Pin;
use crate::domain::job::Job;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::{Change, Seen};
use crate::engine::State;
use crate::git::evidence;
use crate::runtime::rim::Rim;

/// Compares what each of them saw with what the job works with.
pub(super) fn of(rim: &Rim, run: &RunSpec, state: &State, job: &Job, now: &Pin) -> Vec<Seen> {
    let seen = state.last_seen(job).into_iter();
    seen.map(|last| Seen {
        round: last.round,
        by: last.by.into_iter().cloned().collect(),
        change: between(rim, run, last.pin, now),
    })
    .collect()
}

fn between(rim: &Rim, run: &RunSpec, then: &Pin, now: &Pin) -> Change {
    if now.has_change_of(then) {
        return Change::Same;
    }
    let trees = [&then.identity.content_tree, &now.identity.content_tree];
    if trees[0] == trees[1] {
        // The base moved: the change is another one, and no diff of the content shows how.
        return Change::Unknown;
    }
    let scratch = rim.evidence_of(run.loop_id);
    if let Err(error) = fs_err::create_dir_all(&scratch) {
        tracing::warn!(%error, "no room for a diff");
        return Change::Unknown;
    }
    evidence::change_between(&rim.git, &rim.store, trees, &run.review, &scratch)
}

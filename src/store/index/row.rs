//! One run in the list of runs.

use serde::{Deserialize, Serialize};

use crate::domain::code::Code;
use crate::domain::end::End;
use crate::domain::exit::Exit;
use crate::domain::id::{JobId, LoopId};
use crate::domain::identity::Identity;
use crate::domain::job_view::JobView;
use crate::domain::run_spec::RunSpec;
use crate::domain::summary::{RunState, Summary};
use crate::domain::time::Timestamp;
use crate::engine::State;

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRow {
    /// The run.
    pub run: LoopId,
    /// Whether it goes on.
    pub state: RunState,
    /// The working tree under review.
    pub source_root: Option<String>,
    /// What the change is for.
    pub task: Option<String>,
    /// What the last measured round judged.
    pub identity: Option<Identity>,
    /// Rounds that were opened.
    pub rounds: u64,
    /// How many slots the panel has.
    pub slots: u64,
    /// How many slots read the change.
    pub readers: u64,
    /// The exit code it ended with.
    pub exit: Option<Exit>,
    /// The reason code it ended with; none when it was approved.
    pub code: Option<Code>,
    /// Why it is put aside, while it is.
    #[serde(default)]
    pub aside: Option<Code>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When its newest input was taken.
    pub at: Option<Timestamp>,
    /// The jobs of the loop itself.
    pub jobs: Vec<JobId>,
    /// The jobs that were delegated.
    pub delegated: Vec<JobView>,
}

impl RunRow {
    /// The row of a run, from what its events say.
    #[must_use]
    pub fn of(run: LoopId, summary: &Summary, state: &State, driven: bool) -> Self {
        let spec = summary.spec.as_deref();
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let measured = summary.rounds.iter().rev().find_map(|r| r.pin.as_ref());
        Self {
            run,
            state: RunState::of(summary, driven),
            source_root: spec.map(|spec| spec.source_root.clone()),
            task: spec.and_then(|spec| spec.task.clone()),
            identity: measured.map(|pin| pin.identity.clone()),
            rounds: count(summary.rounds.len()),
            slots: count(spec.map_or(0, |spec| spec.panel.len())),
            readers: count(spec.map_or(0, RunSpec::readers)),
            exit: summary.end.as_ref().map(End::exit),
            code: summary.end.as_ref().and_then(|end| match end {
                End::Approved { .. } | End::Completed { .. } => None,
                End::Failed { failure } => Some(failure.code),
            }),
            aside: summary.suspended.as_ref().map(|failure| failure.code),
            started_at: summary.started_at,
            at: summary.at,
            jobs: state.jobs.keys().copied().collect(),
            delegated: state.delegations.values().map(|it| it.view(run)).collect(),
        }
    }
}

//! Where a delegated job stands, as people and programs are told.

use serde::{Deserialize, Serialize};

use crate::domain::delegation::Closed;
use crate::domain::id::{JobId, LoopId};
use crate::domain::summary::RunState;
use crate::domain::time::Timestamp;

/// A delegated job, for `run-loop job list` and `show`, and for the job that delegated it.
///
/// The status is what the registry holds; it is never evidence of what the agent did (row M-143).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobView {
    /// The version of this form.
    pub version: u32,
    /// The run.
    pub run: LoopId,
    /// The job.
    pub job: JobId,
    /// The job inside which it was delegated.
    pub parent: Option<JobId>,
    /// Who is asked.
    pub agent: String,
    /// `pending`, `running`, `completed`, `error` or `cancelled`; `interrupted` where the run's engine
    /// died while it ran.
    pub status: String,
    /// Its words: why it failed or was cancelled, what it said of its end.
    pub detail: String,
    /// Whether nothing of it runs any more and it was closed.
    pub over: bool,
    /// How often it was dispatched.
    pub attempt: u32,
    /// The job whose session it was to go on in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<JobId>,
    /// Whether it was asked in a new session in place of that one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
    /// Its budget in seconds.
    pub budget: u64,
    /// What it waits for, where it said that it needs a permission.
    pub blocked: Option<String>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// The hash of its report, which is the name of the artifact that holds it.
    pub report: Option<String>,
}

/// The word for a job that runs.
pub const RUNNING: &str = "running";

impl JobView {
    /// As its run stands: only a living engine makes it running (scenario H09), and nothing is open of
    /// a run that ended.
    #[must_use]
    pub fn of_run(mut self, state: RunState) -> Self {
        if self.status == RUNNING && state != RunState::Running {
            "interrupted".clone_into(&mut self.status);
        }
        if state == RunState::Ended && !self.over {
            // An older engine did not say so, and an index may remember what that said.
            let closed = Closed::with_its_run();
            closed.as_str().clone_into(&mut self.status);
            closed.detail().clone_into(&mut self.detail);
            (self.over, self.blocked) = (true, None);
        }
        self
    }
}

/// Whether a job was delegated inside another one, at whatever depth.
#[must_use]
pub fn is_below(all: &[JobView], view: &JobView, ancestor: JobId) -> bool {
    let mut at = view.parent;
    // A parent is always older, so there is no circle; the bound holds even if there were.
    for _ in 0..=all.len() {
        match at {
            None => return false,
            Some(parent) if parent == ancestor => return true,
            Some(parent) => {
                at = all
                    .iter()
                    .find(|known| known.job == parent)
                    .and_then(|it| it.parent);
            }
        }
    }
    false
}

/// The version of [`JobView`].
pub const VERSION: u32 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Stamp;

    /// What an index remembers of a job that an older engine left open.
    #[test]
    fn nothing_is_open_of_a_run_that_ended() {
        let at = Timestamp::from_millis(1);
        let stamp = Stamp { at, seed: [0; 32] };
        let open = JobView {
            version: VERSION,
            run: LoopId::mint(&stamp, "run"),
            job: JobId::mint(&stamp, "job"),
            parent: None,
            agent: "helper".to_owned(),
            status: "pending".to_owned(),
            detail: "limit: until later".to_owned(),
            over: false,
            attempt: 1,
            continues: None,
            anew: false,
            budget: 100,
            blocked: None,
            submitted_at: at,
            report: None,
        };
        for goes_on in [RunState::Running, RunState::Interrupted] {
            assert_eq!(open.clone().of_run(goes_on), open);
        }
        let view = open.of_run(RunState::Ended);
        assert_eq!((view.status.as_str(), view.over), ("cancelled", true));
        assert!(view.detail.starts_with("run_ended: "), "{}", view.detail);
    }
}

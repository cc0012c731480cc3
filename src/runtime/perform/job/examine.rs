//! The built-in reviewer.

use tokio_util::sync::CancellationToken;

use super::{Answer, Assignment, Task, lacking};
use crate::agent::environment;
use crate::checks::{self, ChecksJob, ChecksOutcome};
use crate::domain::failure::Failure;

impl Assignment<'_> {
    /// The built-in reviewer: no prompt, no network, no model.
    pub(super) async fn examine(&self, stop: CancellationToken) -> Result<Answer, Failure> {
        let tree = self.tree.ok_or_else(|| lacking(self.job, "tree"))?;
        let Task::Review(task) = &self.task else {
            return Err(lacking(self.job, "review"));
        };
        let scratch = self.rim.scratch_folder(self.run.loop_id, self.job.id)?;
        let job = ChecksJob {
            git: self.rim.git.clone(),
            git_dir: self.rim.store.git_dir().to_owned(),
            pin: task.review.pin.clone(),
            evidence: (*task.review.evidence).clone(),
            checks: self.run.checks.clone(),
            setup: self.run.setup.clone(),
            cache: self.run.cache.clone(),
            setup_timeout: self.run.job_timeout,
            fail_on: self.run.review.fail_on,
            policy: self.run.policy.clone(),
            tree: tree.into(),
            scratch,
            env: environment::passed_on(&self.rim.environment, &[]),
            cache_home: self.rim.warm_folder(&self.job.slot),
            guard: self.rim.guard.clone(),
        };
        let ChecksOutcome {
            ended,
            report,
            reading,
        } = checks::examine(&job, stop).await;
        Ok(Answer {
            report: Some(report),
            reading,
            ..Answer::without_report(ended)
        })
    }
}

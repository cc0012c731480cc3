//! Delegated jobs, as the journal tells them.

use crate::domain::delegation::{Closed, Dispatch, DispatchOutcome, Fence, LIMITED, Submission};
use crate::domain::effect::Effect;
use crate::domain::id::{JobId, LoopId};
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{Ended, Job, SessionUse};
use crate::domain::job_view::{self, JobView};
use crate::domain::time::Timestamp;
use crate::engine::blocked::Blocked;
use crate::engine::session;
use crate::engine::state::{JobRecord, State};

/// A delegated job with its dispatches.
#[derive(Debug, Clone)]
pub struct DelegationRecord {
    /// The job.
    pub id: JobId,
    /// What was asked for.
    pub submission: Submission,
    /// When it was asked for.
    pub submitted_at: Timestamp,
    /// Its dispatches in order, each with what came back once nothing of it runs.
    pub dispatches: Vec<(Dispatch, Option<DispatchOutcome>)>,
    /// How the newest dispatch was closed. What comes later changes nothing.
    pub closed: Option<Closed>,
    /// That its newest dispatch said it is done, and in which words: a claim until its end is known.
    pub claimed: Option<String>,
    /// What the newest dispatch waits for, where it said that it needs a permission.
    pub blocked: Blocked,
    /// How often a limit of its provider ended a dispatch.
    pub limited: u32,
    /// When such a limit is lifted.
    pub limited_until: Option<Timestamp>,
    /// The attempt up to which something was made of what its dispatches came to.
    pub judged_up_to: u32,
}

/// Where a delegated job stands; the registry's words (row M-100).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobStatus {
    /// It is to be dispatched.
    Pending,
    /// A dispatch of it runs.
    Running,
    /// It was closed.
    Closed,
}

impl DelegationRecord {
    pub(super) fn new(id: JobId, submission: Submission, submitted_at: Timestamp) -> Self {
        Self {
            id,
            submission,
            submitted_at,
            dispatches: Vec::new(),
            closed: None,
            claimed: None,
            blocked: Blocked::default(),
            limited: 0,
            limited_until: None,
            judged_up_to: 0,
        }
    }
    /// The newest dispatch.
    #[must_use]
    pub fn newest(&self) -> Option<&Dispatch> {
        self.dispatches.last().map(|(dispatch, _)| dispatch)
    }
    /// The newest dispatch, while something of it may run.
    #[must_use]
    pub fn under_way(&self) -> Option<&Dispatch> {
        match self.dispatches.last() {
            Some((dispatch, None)) => Some(dispatch),
            Some((_, Some(_))) | None => None,
        }
    }
    /// What came back from the newest dispatch.
    #[must_use]
    pub fn outcome(&self) -> Option<&DispatchOutcome> {
        self.dispatches
            .last()
            .and_then(|(_, outcome)| outcome.as_ref())
    }
    /// Why its newest answer does not fit its schema, where it is to be asked for once more: not
    /// after a second one. What was nobody's failure is asked as it was; whatever else is done once
    /// more begins anew.
    #[must_use]
    pub fn asks_again(&self) -> Option<&str> {
        let (dispatch, outcome) = self.dispatches.last()?;
        let outcome = outcome.as_ref()?;
        match (&outcome.misfit, &dispatch.again) {
            (Some(misfit), None) => Some(misfit),
            (Some(_), Some(_)) => None,
            (None, again) => {
                let unheard =
                    outcome.was_cut_short() || session::dispatch_is_lost(dispatch, outcome);
                again.as_deref().filter(|_| unheard)
            }
        }
    }
    /// Whether it is not over: not closed, or something of it may still run.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.closed.is_none() || self.under_way().is_some()
    }
    /// Where it stands.
    #[must_use]
    pub fn status(&self) -> JobStatus {
        match (&self.closed, self.under_way()) {
            (Some(_), _) => JobStatus::Closed,
            (None, Some(_)) => JobStatus::Running,
            (None, None) => JobStatus::Pending,
        }
    }
    /// The status's word.
    #[must_use]
    pub fn status_word(&self) -> &'static str {
        match (self.status(), &self.closed) {
            (JobStatus::Closed, Some(closed)) => closed.as_str(),
            (JobStatus::Running, _) => job_view::RUNNING,
            (JobStatus::Pending | JobStatus::Closed, _) => "pending",
        }
    }
}

impl DelegationRecord {
    /// Whether it is asked in a new session in place of the one that it was to go on in.
    fn begins_anew(&self) -> bool {
        let from = self.submission.continues.as_ref().map(|it| it.job);
        let Some((newest, outcome)) = self.dispatches.last() else {
            return false;
        };
        let session = &newest.session;
        match session {
            SessionUse::Replaces { from: gone } => Some(*gone) == from,
            SessionUse::Continues { from: left, .. } => {
                let outcome = outcome.as_ref().filter(|_| Some(*left) == from);
                outcome.is_some_and(|outcome| session.was_left(&outcome.spent))
            }
            SessionUse::New => false,
        }
    }
    /// What keeps it from being dispatched.
    fn held(&self) -> Option<String> {
        let until = self.limited_until?;
        (self.status() == JobStatus::Pending).then(|| format!("{LIMITED}: until {until}"))
    }
    /// The question that it waits on; what is over waits on none.
    fn waits_on(&self) -> Option<String> {
        self.under_way()?;
        self.blocked.question().map(str::to_owned)
    }
    /// What is told of it.
    #[must_use]
    pub fn view(&self, run: LoopId) -> JobView {
        let report = self.outcome().and_then(|outcome| outcome.report.as_ref());
        JobView {
            version: job_view::VERSION,
            run,
            job: self.id,
            parent: self.submission.parent,
            agent: self.submission.agent.name.clone(),
            status: self.status_word().to_owned(),
            detail: self
                .closed
                .as_ref()
                .map(|closed| closed.detail().to_owned())
                .or_else(|| self.held())
                .unwrap_or_default(),
            over: !self.is_open(),
            attempt: self.newest().map_or(0, |newest| newest.attempt),
            continues: self.submission.continues.as_ref().map(|it| it.job),
            anew: self.begins_anew(),
            budget: self.submission.budget,
            blocked: self.waits_on(),
            submitted_at: self.submitted_at,
            report: report.map(|stored| stored.sha256.to_string()),
        }
    }
}

/// The job at the root of a tree of jobs.
#[derive(Debug, Clone, Copy)]
pub enum Root<'a> {
    /// One of the loop's own.
    OfLoop(&'a Job, bool),
    /// A delegated one that nobody said a parent of.
    Delegated(JobId),
}

impl State {
    /// The root of the tree that a delegated job is in; for a job of the loop also whether it
    /// ended.
    #[must_use]
    pub fn root_of(&self, job: JobId) -> Option<Root<'_>> {
        let mut at = job;
        // A parent is always older, so there is no circle; the bound holds even if there were.
        for _ in 0..=self.delegations.len() {
            if let Some(record) = self.jobs.get(&at) {
                return Some(Root::OfLoop(&record.job, record.outcome.is_some()));
            }
            match self.delegations.get(&at)?.submission.parent {
                Some(parent) => at = parent,
                None => return Some(Root::Delegated(at)),
            }
        }
        None
    }
    /// Whether what was delegated inside a job of the loop ends with it, as that ended: nobody reads
    /// what a reader left open, and a writer that broke off ends the run. How a step's newest attempt
    /// ended counts for all of them, which work in the same tree.
    #[must_use]
    pub fn ends_its_tree(&self, job: JobId) -> bool {
        let ended = self.jobs.get(&job).filter(|it| it.outcome.is_some());
        let Some(JobRecord { job, .. }) = ended else {
            return false;
        };
        if !job.role.writes() {
            return true;
        }
        let newest = self.attempts_of(job).next_back();
        let Some(JobRecord {
            job,
            outcome: Some(outcome),
        }) = newest
        else {
            return false;
        };
        let goes_on = outcome.ended.is_success()
            || outcome.ended == Ended::Interrupted
            || outcome.ended.is_limit()
            || session::is_lost(job, outcome);
        !goes_on
    }
    fn attempts_of(&self, job: &Job) -> impl DoubleEndedIterator<Item = &JobRecord> {
        self.attempts(job.role, &job.slot, job.round)
    }
    /// Whether something delegated inside this job, or another attempt of its step, may still run.
    #[must_use]
    pub fn step_has_open_descendants(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|record| {
            let mut attempts = self.attempts_of(&record.job);
            attempts.any(|attempt| self.has_open_descendants(attempt.job.id))
        })
    }
    /// Whether a delegated job is waited for: in a tree of the loop's own always, in one of nobody's
    /// where the run was told so (T-117).
    pub(crate) fn is_waited_for(&self, job: JobId) -> bool {
        match self.root_of(job) {
            Some(Root::OfLoop(..)) => true,
            Some(Root::Delegated(_)) => self.run.as_ref().is_some_and(|run| run.wait_open_jobs),
            None => false,
        }
    }
    /// Whether a delegated job was delegated inside another job, at whatever depth.
    #[must_use]
    pub fn descends_from(&self, job: JobId, ancestor: JobId) -> bool {
        let mut at = job;
        for _ in 0..=self.delegations.len() {
            let Some(parent) = self.delegations.get(&at).and_then(|d| d.submission.parent) else {
                return false;
            };
            if parent == ancestor {
                return true;
            }
            at = parent;
        }
        false
    }
    /// The jobs delegated inside a job, at whatever depth, oldest first.
    pub fn descendants_of(&self, job: JobId) -> impl Iterator<Item = &DelegationRecord> {
        self.delegations
            .values()
            .filter(move |record| self.descends_from(record.id, job))
    }
    /// Whether something delegated inside this job may still run.
    #[must_use]
    pub fn has_open_descendants(&self, job: JobId) -> bool {
        self.descendants_of(job).any(DelegationRecord::is_open)
    }
    /// The dispatch that is under way for a job, whoever asked it, as its messages must name it.
    #[must_use]
    pub fn fence_of(&self, job: JobId) -> Option<Fence> {
        if let Some(record) = self.jobs.get(&job) {
            return record.outcome.is_none().then(|| Fence {
                job,
                attempt: record.job.attempt,
                token: record.job.token(),
            });
        }
        let dispatch = self.delegations.get(&job)?.under_way()?;
        Some(Fence {
            job,
            attempt: dispatch.attempt,
            token: dispatch.token.clone(),
        })
    }
    /// Whether an effect that is under way is to be stopped.
    #[must_use]
    pub fn is_unwanted(&self, effect: &Effect) -> bool {
        match effect {
            Effect::Release | Effect::Promote { .. } => false,
            Effect::Delegate { dispatch } => {
                let closed = self
                    .delegations
                    .get(&dispatch.job)
                    .and_then(|record| record.closed.as_ref());
                self.is_winding_up() || matches!(closed, Some(Closed::Cancelled { .. }))
            }
            Effect::Pin { .. }
            | Effect::MakeEvidence { .. }
            | Effect::OpenTree { .. }
            | Effect::RunJob { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Timer { .. } => self.is_winding_up(),
            // What a cancelled job left is still told.
            Effect::Measure { .. } => self.is_winding_up() && !self.is_cancelled(),
        }
    }
    /// Where a delegated job works: where the job works inside which it was delegated. `None`
    /// where that is not there (any more): a reader's sub-job never gets the source instead.
    #[must_use]
    pub fn directory_of(&self, job: JobId) -> Option<String> {
        let run = self.run.as_ref()?;
        match self.root_of(job)? {
            Root::Delegated(_) => Some(run.source_root.clone()),
            Root::OfLoop(root, _) => match root.evidence {
                EvidenceKind::ReviewTree => {
                    self.trees.get(&root.slot).map(|tree| tree.path.clone())
                }
                EvidenceKind::SourceTree => Some(run.source_root.clone()),
                EvidenceKind::DiffOnly => None,
            },
        }
    }
}

//! What reviewers are told of jobs that were delegated while the change was written.

use crate::domain::id::JobId;

/// A row of the table of sub-jobs (row M-131).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubJob {
    /// The job.
    pub job: JobId,
    /// The job inside which it was delegated; `None` when nobody says so.
    pub parent: Option<JobId>,
    /// Who was asked.
    pub agent: String,
    /// `OPEN`, `CLOSED-UNCONFIRMED`, `NOT-DISPATCHED`, `error`, `cancelled` or `completed`.
    pub state: &'static str,
    /// Why, where there is a reason.
    pub reason: String,
}

/// What reviewers are told of delegated jobs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubJobs {
    /// Those delegated inside jobs that may write, of every round so far (T-113).
    pub rows: Vec<SubJob>,
    /// How many of them may still be writing although they were closed.
    pub unconfirmed: usize,
    /// Open ones that nobody says a parent of (row M-132).
    pub unattributed: Vec<JobId>,
}

//! Whether a message about jobs counts: tokens and attempts fence it, the first end wins, and of what an
//! agent says of its end, the first word.

use std::fmt;

use crate::domain::delegation::{Closed, Fence, JobRequest, Signal, Submission, TREE_MAX};
use crate::domain::id::{JobId, MessageId};
use crate::engine::blocked::RELAYED;
use crate::engine::delegation::Root;
use crate::engine::session::NoSession;
use crate::engine::state::State;

/// What a message about jobs is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weight {
    /// It says something new: it is recorded.
    New,
    /// It says what is known: nothing follows.
    Repeat,
    /// A sign of life that is no fact of the run (chatter is never journaled).
    Activity,
    /// It is not granted, and why.
    Refused(Refusal),
}

/// Why a message about jobs is not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The run is over, or ends.
    RunEnds,
    /// This run has no such job (row M-108).
    Unknown(JobId),
    /// The message is of another dispatch than the job's newest, or of one that is over.
    Stale(JobId),
    /// The job was closed, and nothing comes after that.
    Over(JobId, &'static str),
    /// A job of the loop itself ends by its report and by nothing else.
    OfLoop(JobId),
    /// The job was not delegated inside the one that asks.
    NotBelow(JobId),
    /// The tree holds as many jobs as it may.
    Full(usize),
    /// A dispatch of the job is not over.
    NotOver(JobId),
    /// There is no folder it could work in.
    Nowhere,
    /// Nobody can go on in the session of the job.
    Session(JobId, NoSession),
    /// The dispatch asked as often as its questions are relayed.
    Asked(u32),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunEnds => f.write_str("the run ends"),
            Self::Unknown(job) => write!(f, "this run has no job {job}"),
            Self::Stale(job) => {
                write!(
                    f,
                    "the message is not of the dispatch of job {job} that is under way"
                )
            }
            Self::Over(job, how) => write!(f, "job {job} is over: {how}"),
            Self::OfLoop(job) => write!(
                f,
                "job {job} is one of the loop's own: it ends by its report alone"
            ),
            Self::NotBelow(job) => {
                write!(f, "job {job} was not delegated inside the job that asks")
            }
            Self::Full(most) => write!(f, "the tree of jobs holds {most} jobs, the most it may"),
            Self::NotOver(job) => write!(f, "job {job} is not over"),
            Self::Asked(most) => write!(
                f,
                "{most} questions of this dispatch were relayed, the most there are: go on without an answer, or end"
            ),
            Self::Session(job, why) => write!(f, "job {job} {why}"),
            Self::Nowhere => f.write_str("the job that asks works in no folder of this machine"),
        }
    }
}

/// Weighs a message. `from` is the dispatch that sent it, `None` for a person.
#[must_use]
pub fn weigh(
    state: &State,
    message: MessageId,
    from: Option<&Fence>,
    request: &JobRequest,
) -> Weight {
    if state.messages.contains_key(&message) {
        return Weight::Repeat;
    }
    if state.run.is_none() || state.is_over() || state.is_winding_up() {
        return Weight::Refused(Refusal::RunEnds);
    }
    if let Some(from) = from
        && let Err(refusal) = under_way(state, from)
    {
        return Weight::Refused(refusal);
    }
    let weight = match request {
        JobRequest::Submit { submission } => submit(state, from, submission),
        JobRequest::Signal { of, signal, detail } => signalled(state, of, *signal, detail),
        JobRequest::Cancel { job, .. } => cancel(state, from, *job),
        JobRequest::Redispatch { job } => redispatch(state, from, *job),
    };
    weight.unwrap_or_else(Weight::Refused)
}

/// Whether this is the job's dispatch that is under way.
fn under_way(state: &State, fence: &Fence) -> Result<(), Refusal> {
    let job = fence.job;
    if !state.jobs.contains_key(&job) && !state.delegations.contains_key(&job) {
        return Err(Refusal::Unknown(job));
    }
    if state.fence_of(job).as_ref() == Some(fence) {
        Ok(())
    } else {
        Err(Refusal::Stale(job))
    }
}

fn submit(state: &State, from: Option<&Fence>, submission: &Submission) -> Result<Weight, Refusal> {
    let parent = submission.parent;
    if let Some(parent) = parent {
        if !state.jobs.contains_key(&parent) && !state.delegations.contains_key(&parent) {
            return Err(Refusal::Unknown(parent));
        }
        if let Some(from) = from
            && from.job != parent
            && !state.descends_from(parent, from.job)
        {
            return Err(Refusal::NotBelow(parent));
        }
        // The tree's root decides whether anything may begin: what belongs to a job that ended
        // would be ended at once.
        match state.root_of(parent) {
            // What a writer delegated goes on after it, and may delegate in turn, unless that broke off.
            Some(Root::OfLoop(job, true)) if state.ends_its_tree(job.id) || job.id == parent => {
                return Err(Refusal::Stale(job.id));
            }
            Some(Root::OfLoop(..) | Root::Delegated(_)) | None => {}
        }
        if state.directory_of(parent).is_none() {
            return Err(Refusal::Nowhere);
        }
    }
    let in_tree = match parent.and_then(|parent| state.root_of(parent)) {
        Some(Root::OfLoop(job, _)) => state.descendants_of(job.id).count(),
        Some(Root::Delegated(root)) => state.descendants_of(root).count(),
        None => state
            .delegations
            .values()
            .filter(|record| record.submission.parent.is_none())
            .count(),
    };
    if in_tree >= TREE_MAX {
        return Err(Refusal::Full(TREE_MAX));
    }
    if let Some(continues) = &submission.continues {
        // It may have been followed since whoever asks looked.
        state.continued_by(from, parent, &submission.agent, continues.job)?;
    }
    Ok(Weight::New)
}

fn signalled(state: &State, of: &Fence, signal: Signal, detail: &str) -> Result<Weight, Refusal> {
    let job = of.job;
    if state.jobs.contains_key(&job) {
        under_way(state, of)?;
        return match signal {
            Signal::Started | Signal::Progress => Ok(Weight::Activity),
            Signal::PermissionRequired => question(state, job, detail),
            Signal::Completed | Signal::Error => Err(Refusal::OfLoop(job)),
        };
    }
    let record = state.delegations.get(&job).ok_or(Refusal::Unknown(job))?;
    let newest = record.newest().filter(|dispatch| of.is_of(dispatch));
    if newest.is_none() {
        return Err(Refusal::Stale(job));
    }
    if let Some(closed) = &record.closed {
        // The terminal barrier: nothing comes after the end, but the end itself said again.
        return if is_said_again(closed, signal, detail) {
            Ok(Weight::Repeat)
        } else {
            Err(Refusal::Over(job, closed.as_str()))
        };
    }
    if let Some(said) = &record.claimed {
        // So does the claim that it is done, of what its agent says.
        return if signal == Signal::Completed && said == detail {
            Ok(Weight::Repeat)
        } else {
            Err(Refusal::Over(job, "its agent said completed"))
        };
    }
    under_way(state, of)?;
    Ok(match signal {
        Signal::Started | Signal::Progress => Weight::Activity,
        // What was asked for in a form is done when it has that form, whatever is said of it.
        Signal::Completed if record.submission.schema.is_some() => Weight::Activity,
        Signal::PermissionRequired => question(state, job, detail)?,
        Signal::Completed | Signal::Error => Weight::New,
    })
}

/// A question is relayed once while it is waited on; another one is another one, up to as many as are
/// relayed.
fn question(state: &State, job: JobId, asked: &str) -> Result<Weight, Refusal> {
    match state.blocked_of(job) {
        Some(blocked) if blocked.question() == Some(asked) => Ok(Weight::Repeat),
        Some(blocked) if blocked.is_full() => Err(Refusal::Asked(RELAYED)),
        Some(_) | None => Ok(Weight::New),
    }
}

fn is_said_again(closed: &Closed, signal: Signal, detail: &str) -> bool {
    match (closed, signal) {
        (Closed::Completed { detail: said }, Signal::Completed)
        | (Closed::Error { reason: said }, Signal::Error) => said == detail,
        (
            Closed::Completed { .. } | Closed::Error { .. } | Closed::Cancelled { .. },
            Signal::Started
            | Signal::Progress
            | Signal::PermissionRequired
            | Signal::Completed
            | Signal::Error,
        ) => false,
    }
}

fn cancel(state: &State, from: Option<&Fence>, job: JobId) -> Result<Weight, Refusal> {
    below(state, from, job)?;
    let closed = &state
        .delegations
        .get(&job)
        .ok_or(Refusal::Unknown(job))?
        .closed;
    match closed {
        None => Ok(Weight::New),
        Some(Closed::Cancelled { .. }) => Ok(Weight::Repeat),
        Some(closed @ (Closed::Completed { .. } | Closed::Error { .. })) => {
            Err(Refusal::Over(job, closed.as_str()))
        }
    }
}

fn redispatch(state: &State, from: Option<&Fence>, job: JobId) -> Result<Weight, Refusal> {
    below(state, from, job)?;
    let record = state.delegations.get(&job).ok_or(Refusal::Unknown(job))?;
    if record.is_open() {
        return Err(Refusal::NotOver(job));
    }
    match state.root_of(job) {
        Some(Root::OfLoop(root, true)) if state.ends_its_tree(root.id) => {
            Err(Refusal::Stale(root.id))
        }
        Some(Root::OfLoop(..) | Root::Delegated(_)) => Ok(Weight::New),
        None => Err(Refusal::Unknown(job)),
    }
}

/// A job may ask about what was delegated inside it, a person about every delegated job.
pub(super) fn below(state: &State, from: Option<&Fence>, job: JobId) -> Result<(), Refusal> {
    if state.jobs.contains_key(&job) {
        return Err(Refusal::OfLoop(job));
    }
    if !state.delegations.contains_key(&job) {
        return Err(Refusal::Unknown(job));
    }
    match from {
        Some(from) if !state.descends_from(job, from.job) => Err(Refusal::NotBelow(job)),
        Some(_) | None => Ok(()),
    }
}

//! What happens to delegated jobs, as lines for people.

use crate::domain::id::JobId;
use crate::report::public::Kind;
use crate::report::text;

/// The line of an event about a delegated job; `None` for any other event.
pub(super) fn say(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::JobSubmitted {
            parent,
            agent,
            budget,
            continues,
        } => submitted(*parent, agent, *budget, *continues),
        Kind::DelegateStarted {
            job,
            attempt,
            continues,
            replaces,
        } => started(*job, *attempt, *continues, *replaces),
        Kind::DelegateEnded {
            job,
            ended,
            gone,
            problem,
            ..
        } => over(*job, ended, *gone, problem.as_deref()),
        Kind::JobSignalled {
            job,
            signal,
            detail,
            ..
        } => format!("job {job} {}: {}", said(signal), text::line(detail)),
        Kind::JobClosed {
            job,
            status,
            detail,
        } => {
            // That it ended well was told.
            let closed = (*status != "completed").then_some(*status)?;
            format!("job {job} is closed, {closed}: {}", text::line(detail))
        }
        Kind::JobStalled { job, stalled, .. } => format!(
            "job {job} stalled:{stalled}: it printed nothing for 600 s; its budget alone ends it"
        ),
        Kind::JobResumed { job, .. } => format!("job {job} resumed: it goes on"),
        Kind::WaitEnded {
            in_time,
            again,
            stopped,
        } => waited(*in_time, *again, *stopped).to_owned(),
        Kind::JobRedispatched { job } => format!("job {job} is dispatched once more"),
        Kind::RunStarted { .. }
        | Kind::RunResumed
        | Kind::StopRequested { .. }
        | Kind::RoundOpened
        | Kind::StepStarted { .. }
        | Kind::StepFailed { .. }
        | Kind::Pinned { .. }
        | Kind::EvidenceMade { .. }
        | Kind::TreeOpened { .. }
        | Kind::ReviewOpened
        | Kind::JobStarted { .. }
        | Kind::JobEnded { .. }
        | Kind::SlotRetried { .. }
        | Kind::WorkOpened { .. }
        | Kind::WorkRetried { .. }
        | Kind::FindingDisposed { .. }
        | Kind::WorkClosed { .. }
        | Kind::FindingRaised { .. }
        | Kind::SlotSettled { .. }
        | Kind::Measured { .. }
        | Kind::Promoted { .. }
        | Kind::Released { .. }
        | Kind::RoundClosed { .. }
        | Kind::RunClosing { .. }
        | Kind::CostUntold { .. }
        | Kind::Limited { .. }
        | Kind::TimerStarted { .. }
        | Kind::TimerEnded { .. }
        | Kind::RunParking { .. }
        | Kind::RunSuspended { .. }
        | Kind::RunEnded { .. } => return None,
    })
}

fn submitted(parent: Option<JobId>, agent: &str, budget: u64, continues: Option<JobId>) -> String {
    let inside = parent.map_or_else(String::new, |job| format!(" inside job {job}"));
    let after = continues.map_or_else(String::new, |job| format!(", after job {job}"));
    let agent = text::line(agent);
    format!("a job for {agent} was submitted{inside}{after}, at most {budget} s")
}

fn started(job: JobId, attempt: u32, continues: Option<JobId>, replaces: Option<JobId>) -> String {
    let session = session(continues, replaces);
    format!("job {job} started (attempt {attempt}){session}")
}

/// Whose session it goes on in, or in place of whose it begins one.
pub(super) fn session(continues: Option<JobId>, replaces: Option<JobId>) -> String {
    match (continues, replaces) {
        (Some(from), _) => format!(", in the session of job {from}"),
        (None, Some(from)) => {
            format!(", in a new session: that of job {from} does not go on")
        }
        (None, None) => String::new(),
    }
}

fn over(job: JobId, ended: &str, gone: bool, problem: Option<&str>) -> String {
    let left = if gone {
        ""
    } else {
        ", not all of it is proven gone"
    };
    let problem = problem.map_or_else(String::new, |problem| format!(", {}", text::line(problem)));
    format!("job {job} ended: {}{left}{problem}", text::line(ended))
}

/// What a dispatch says of itself.
fn said(signal: &str) -> String {
    match signal {
        "permission_required" => "stalled:blocked: it waits for a permission".to_owned(),
        other => format!("says {other}"),
    }
}

/// How a wait for delegated jobs ended.
fn waited(in_time: bool, again: bool, stopped: bool) -> &'static str {
    match (in_time, again) {
        _ if stopped => "the wait for delegated jobs is broken off: the run stops",
        (true, _) => "the jobs that were waited for are over",
        (false, true) => "the wait for delegated jobs is broken off, and begins anew",
        (false, false) => "jobs are still open after the wait, which is as long as it may be",
    }
}

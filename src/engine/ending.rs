//! What the end of a dispatch means for its job.

use crate::domain::delegation::{
    Closed, Dispatch, DispatchOutcome, LOST, MISFIT, NOT_STARTED, WALL_CLOCK_TIMEOUT, detail,
};
use crate::domain::job::Ended;
use crate::engine::delegation::DelegationRecord;
use crate::engine::session;

impl DelegationRecord {
    /// The newest dispatch with its outcome, as long as nothing was made of that.
    pub(super) fn unjudged(&self) -> Option<(&Dispatch, &DispatchOutcome)> {
        let (dispatch, outcome) = self.dispatches.last()?;
        let waits =
            dispatch.judged && self.judged_up_to < dispatch.attempt && self.closed.is_none();
        outcome.as_ref().filter(|_| waits).map(|it| (dispatch, it))
    }
    /// Something was made of what the newest dispatch came to, or of the job before it did.
    pub(super) fn is_judged(&mut self) {
        self.judged_up_to = self.newest().map_or(0, |newest| newest.attempt);
    }
}

/// Whether a limit of its provider ended a dispatch: nobody's failure, however often. A run that has
/// nothing else to do loses its patience and is parked; else whatever works has a budget.
pub(super) fn is_limited(outcome: &DispatchOutcome) -> bool {
    outcome.gone && outcome.ended.is_limit()
}

/// How an outcome closes a job, and what its agent said of it: nobody's word makes a job completed that
/// failed, or that we ended. `None` as for the outcome alone.
pub(super) fn closed_by(
    dispatch: &Dispatch,
    outcome: &DispatchOutcome,
    claimed: Option<&str>,
) -> Option<Closed> {
    let closed = closed_by_outcome(dispatch, outcome)?;
    let Some(words) = claimed else {
        return Some(closed);
    };
    Some(match closed {
        Closed::Completed { .. } => Closed::Completed {
            detail: words.to_owned(),
        },
        Closed::Error { reason } => {
            let words = if words.is_empty() {
                String::new()
            } else {
                format!(": {words}")
            };
            // The reason's first word stays its kind.
            let reason = detail(&format!("{reason} (its agent said completed{words})"));
            Closed::Error { reason }
        }
        cancelled @ Closed::Cancelled { .. } => cancelled,
    })
}

/// How an outcome closes a job; `None` when it was nobody's failure, failed for the session that it
/// was to go on in, or is the first answer that does not fit its schema: it is dispatched again.
///
/// Engines that journaled no decision followed it in the fold, and so does the fold of their journals:
/// what it says of them must stay.
fn closed_by_outcome(dispatch: &Dispatch, outcome: &DispatchOutcome) -> Option<Closed> {
    let error = |reason: String| Some(Closed::Error { reason });
    if !outcome.gone {
        // It may still write where the next attempt would work: nobody asks again by themselves.
        let why = match &outcome.ended {
            Ended::NotStarted { failure } => &failure.message,
            Ended::Exited { .. }
            | Ended::Failed { .. }
            | Ended::Signalled { .. }
            | Ended::TimedOut
            | Ended::Lost
            | Ended::Stopped
            | Ended::Interrupted => "not all of it is proven gone, so it is not asked again",
        };
        return error(detail(&format!("{LOST}: {why}")));
    }
    if session::dispatch_is_lost(dispatch, outcome) {
        return None;
    }
    if let (Ended::Exited { code: 0 }, Some(reason)) = (&outcome.ended, &outcome.misfit) {
        let asked_twice = dispatch.again.is_some();
        return asked_twice.then(|| Closed::Error {
            reason: detail(&format!("{MISFIT}: {reason}")),
        });
    }
    // Not in the words for people (`Ended::how`): programs read the first of them as a kind.
    match &outcome.ended {
        Ended::Exited { code: 0 } => match (&outcome.report, &outcome.unusable) {
            (Some(_), None) => Some(Closed::Completed {
                detail: String::new(),
            }),
            (_, Some(reason)) => error(format!("unusable_report: {reason}")),
            (None, None) => error("no_report".to_owned()),
        },
        Ended::Exited { code } => error(format!("exited with {code}")),
        Ended::Failed {
            code,
            trouble,
            message,
        } => error(match trouble.named() {
            Some(trouble) => format!("{trouble}: {message}"),
            None => format!("exited with {code}: {message}"),
        }),
        Ended::Signalled { signal } => error(format!("ended by signal {signal}")),
        Ended::TimedOut => error(WALL_CLOCK_TIMEOUT.to_owned()),
        Ended::NotStarted { failure } => error(format!("{NOT_STARTED}: {}", failure.message)),
        Ended::Lost => error(LOST.to_owned()),
        Ended::Stopped | Ended::Interrupted => None,
    }
}

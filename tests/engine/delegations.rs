//! Delegated jobs: tokens and attempts fence every message, the first end wins, and every prefix
//! of a journal with jobs in it resumes to the same end.

#[path = "delegations/limits.rs"]
mod limits;
#[path = "delegations/misfits.rs"]
mod misfits;
#[path = "delegations/run.rs"]
mod run;
#[path = "delegations/sessions.rs"]
mod sessions;
#[path = "delegations/stalls.rs"]
mod stalls;

pub use limits::limited_dispatch;
pub use run::{Run, submission, world};

use run_loop::domain::delegation::{
    Closed, Fence, JobRequest, PARENT_ENDED, RUN_ENDED, Signal, TREE_MAX, WALL_CLOCK_TIMEOUT,
};
use run_loop::domain::effect::Effect;
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::id::JobId;
use run_loop::domain::job::Ended;
use run_loop::engine::{InputKind, Refusal, State, Weight};

use crate::world::{delegated, stamp};

/// T-070, T-071, rows M-141, M-142 and M-143: a message counts for the dispatch that is under way alone.
#[test]
fn a_stale_attempt_never_counts() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    let first = run.fence(job);
    let forged = Fence {
        token: "0".repeat(32),
        ..first.clone()
    };
    let stale = Weight::Refused(Refusal::Stale(job));
    assert_eq!(run.signal(forged, Signal::Completed, ""), stale);
    run.ends(job, delegated(Ended::Exited { code: 3 }, false));
    // The run of one job ended with it; in a loop the job can be dispatched once more.
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let first = run.fence(job);
    run.ends(job, delegated(Ended::Exited { code: 3 }, false));
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    let second = run.fence(job);
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_ne!(first.token, second.token);
    let stale = Weight::Refused(Refusal::Stale(job));
    for signal in [Signal::Started, Signal::Completed, Signal::Error] {
        assert_eq!(run.signal(first.clone(), signal, ""), stale);
    }
    let mixed = Fence {
        token: first.token.clone(),
        ..second.clone()
    };
    assert_eq!(run.signal(mixed, Signal::Completed, ""), stale);
    assert_eq!(run.closed(job), None);
    assert_eq!(run.signal(second, Signal::Completed, "done"), Weight::New);
}

/// T-185, T-078, rows M-153, M-154 and M-140: nothing begins anew before every process of the dispatch
/// before is gone. Of what an agent says of its end the first word counts; said again it is a no-op, another
/// is refused, and nothing comes after it. Its own end closes the job.
#[test]
fn the_first_end_wins() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let fence = run.fence(job);
    assert_eq!(
        run.signal(fence.clone(), Signal::Started, ""),
        Weight::Activity
    );
    assert_eq!(
        run.signal(fence.clone(), Signal::Completed, "all"),
        Weight::New
    );
    assert_eq!(
        run.signal(fence.clone(), Signal::Completed, "all"),
        Weight::Repeat
    );
    let over = Weight::Refused(Refusal::Over(job, "its agent said completed"));
    assert_eq!(run.signal(fence.clone(), Signal::Completed, "less"), over);
    assert_eq!(run.signal(fence.clone(), Signal::Error, "all"), over);
    // The terminal barrier.
    assert_eq!(run.signal(fence.clone(), Signal::Progress, ""), over);
    assert_eq!(run.signal(fence, Signal::PermissionRequired, "rm"), over);
    // Its process is still there, and so the job is.
    assert!(run.state.delegations[&job].is_open());
    let runs = Weight::Refused(Refusal::NotOver(job));
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), runs);
    assert_eq!(run.closed(job), None);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    let detail = "all".to_owned();
    assert_eq!(run.closed(job), Some(&Closed::Completed { detail }));
    assert!(!run.state.delegations[&job].is_open());
    let reason = "asked".to_owned();
    let closed = Weight::Refused(Refusal::Over(job, "completed"));
    assert_eq!(run.ask(None, JobRequest::Cancel { job, reason }), closed);
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
}

/// Design, section 8: success needs a result, and exit 0, and that we did not end it. An agent's word
/// replaces none of them, and stands beside what came to pass.
#[test]
fn what_an_agent_says_of_its_end_is_a_claim() {
    let exited = |code| Ended::Exited { code };
    for (ended, report, kind) in [
        (exited(3), false, "exited"),
        (exited(3), true, "exited"),
        (exited(0), false, "no_report"),
        (Ended::Signalled { signal: 9 }, true, "ended"),
        (Ended::TimedOut, true, WALL_CLOCK_TIMEOUT),
    ] {
        let mut run = Run::single();
        let job = *run.state.delegations.keys().next().unwrap();
        let fence = run.fence(job);
        assert_eq!(run.signal(fence, Signal::Completed, "all"), Weight::New);
        run.ends(job, delegated(ended, report));
        let closed = run.closed(job).unwrap();
        assert_eq!((closed.as_str(), closed.kind()), ("error", kind));
        let said = closed.detail();
        assert!(said.ends_with(" (its agent said completed: all)"), "{said}");
        assert_ne!(run.into_end().unwrap().exit().code(), 0);
    }
}

/// Who says that it is done and does not end can be cancelled, and says it for one dispatch alone.
#[test]
fn a_claim_is_of_one_dispatch_and_keeps_nobody_from_ending_it() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let fence = run.fence(job);
    assert_eq!(run.signal(fence, Signal::Completed, "all"), Weight::New);
    let reason = "hangs".to_owned();
    assert_eq!(
        run.ask(None, JobRequest::Cancel { job, reason }),
        Weight::New
    );
    run.ends(job, delegated(Ended::Interrupted, false));
    assert_eq!(run.closed(job).unwrap().as_str(), "cancelled");
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    let fence = run.fence(job);
    assert_eq!(run.signal(fence, Signal::Error, "no"), Weight::New);
}

/// Cancelling is idempotent, and what was cancelled is stopped and stays so.
#[test]
fn a_cancelled_job_is_stopped_and_stays_cancelled() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let cancel = |reason: &str| JobRequest::Cancel {
        job,
        reason: reason.to_owned(),
    };
    let (_, effect) = run
        .effect(|it| matches!(it, Effect::Delegate { .. }))
        .unwrap();
    assert!(!run.state.is_unwanted(&effect));
    assert_eq!(run.ask(None, cancel("target_not_found")), Weight::New);
    assert!(run.state.is_unwanted(&effect));
    assert_eq!(run.ask(None, cancel("other")), Weight::Repeat);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!(run.closed(job).unwrap().kind(), "target_not_found");
}

/// T-115, row M-108: parents must be known, and a job asks about its own tree alone.
#[test]
fn a_job_reaches_its_own_tree_alone() {
    let (mut run, asked) = Run::reviewing();
    let stranger = JobId::mint(&stamp(9_999), "stranger");
    let unknown = Err(Refusal::Unknown(stranger));
    assert_eq!(run.submit(None, Some(stranger)), unknown);
    let mine = run.submit(Some(asked), Some(asked)).unwrap();
    let deeper = run.submit(Some(mine), Some(mine)).unwrap();
    let theirs = run.submit(None, None).unwrap();
    assert!(run.state.descends_from(deeper, asked));
    assert!(!run.state.descends_from(theirs, asked));
    let cancel = |job| JobRequest::Cancel {
        job,
        reason: "asked".to_owned(),
    };
    let fence = run.fence(mine);
    let below = |job| Weight::Refused(Refusal::NotBelow(job));
    assert_eq!(run.ask(Some(fence.clone()), cancel(theirs)), below(theirs));
    assert_eq!(run.ask(Some(fence.clone()), cancel(mine)), below(mine));
    assert_eq!(
        run.ask(Some(fence.clone()), cancel(asked)),
        Weight::Refused(Refusal::OfLoop(asked))
    );
    assert_eq!(
        run.submit(Some(mine), Some(theirs)),
        Err(Refusal::NotBelow(theirs))
    );
    assert_eq!(run.ask(Some(fence), cancel(deeper)), Weight::New);
}

/// T-114: a tree is bounded.
#[test]
fn a_tree_holds_fifty_jobs() {
    let (mut run, asked) = Run::reviewing();
    let mut parent = asked;
    for _ in 0..TREE_MAX {
        parent = run.submit(None, Some(parent)).unwrap();
    }
    assert_eq!(run.submit(None, Some(parent)), Err(Refusal::Full(TREE_MAX)));
    assert_eq!(run.submit(None, Some(asked)), Err(Refusal::Full(TREE_MAX)));
    // Another tree is not full.
    assert!(run.submit(None, None).is_ok());
}

/// A loop's own job ends by its report alone; what it delegated ends with it, before the report
/// is judged.
#[test]
fn what_a_reviewer_delegated_ends_with_it() {
    let (mut run, asked) = Run::reviewing();
    let fence = run.fence(asked);
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    let of_loop = Weight::Refused(Refusal::OfLoop(asked));
    assert_eq!(run.signal(fence, Signal::Completed, "PASS"), of_loop);
    assert!(run.perform(|effect| matches!(effect, Effect::RunJob { .. })));
    assert_eq!(run.closed(job).unwrap().kind(), PARENT_ENDED);
    let measuring = |run: &Run| {
        run.effect(|it| matches!(it, Effect::Measure { .. }))
            .is_some()
    };
    assert!(
        !measuring(&run),
        "the report was judged while a sub-job may still run"
    );
    run.ends(job, delegated(Ended::Interrupted, false));
    assert!(measuring(&run));
    // Nothing can be delegated inside a job that ended.
    assert!(run.submit(None, Some(asked)).is_err());
    assert!(matches!(run.into_end(), Some(End::Approved { .. })));
}

/// Nothing of a run goes on after it: what is open then is closed before, in the journal, and so it is read
/// in journals of engines that did not say so.
#[test]
fn what_is_open_when_its_run_ends_is_closed() {
    let (mut run, _) = Run::reviewing();
    let runs = run.submit(None, None).unwrap();
    while run.perform(|effect| !matches!(effect, Effect::Delegate { .. })) {}
    assert!(run.closed(runs).is_none(), "the run does not wait for it");
    run.ends(runs, delegated(Ended::Interrupted, false));
    while run.perform(|_| true) {}
    assert!(matches!(run.state.end(), Some(End::Approved { .. })));
    let closed = run.closed(runs).cloned().unwrap();
    assert_eq!((closed.as_str(), closed.kind()), ("cancelled", RUN_ENDED));
    assert!(!run.state.delegations[&runs].is_open());
    let says = |event: &Event| matches!(event, Event::JobClosed { job, .. } if *job == runs);
    assert_eq!(run.journal.iter().filter(|it| says(it)).count(), 1);
    let older: Vec<Event> = run.journal.into_iter().filter(|it| !says(it)).collect();
    let then = State::replay(&older);
    assert_eq!(then.delegations[&runs].closed, Some(closed));
}

/// How a job without a message of its own is closed, and how a run of it ends.
#[test]
fn an_outcome_closes_the_job() {
    let code = |ended, with_report| {
        let mut run = Run::single();
        let job = *run.state.delegations.keys().next().unwrap();
        run.ends(job, delegated(ended, with_report));
        let kind = run.closed(job).map(|closed| closed.kind().to_owned());
        (run.into_end().unwrap().exit().code(), kind.unwrap())
    };
    assert_eq!(code(Ended::Exited { code: 0 }, true), (0, String::new()));
    assert_eq!(code(Ended::Exited { code: 0 }, false).0, 6);
    assert_eq!(code(Ended::Exited { code: 2 }, true).0, 6);
    assert_eq!(code(Ended::Signalled { signal: 11 }, true).0, 6);
    assert_eq!(code(Ended::Lost, true).0, 6);
    let late = (7, WALL_CLOCK_TIMEOUT.to_owned());
    assert_eq!(code(Ended::TimedOut, true), late);
    let failure = run_loop::domain::failure::Failure::new(
        run_loop::domain::code::Code::AgentNotRunnable,
        "no program",
    );
    assert_eq!(code(Ended::NotStarted { failure }, false).0, 126);
}

/// A run of one job that was interrupted dispatches it again under a new token.
#[test]
fn an_interrupted_job_is_dispatched_again() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    let first = run.fence(job);
    let cause = StopCause::Interrupt;
    run.input(InputKind::Stop {
        cause,
        message: None,
    });
    run.ends(job, delegated(Ended::Interrupted, false));
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some() && run.closed(job).is_none());
    run.input(crate::orders::resume());
    let second = run.fence(job);
    assert_eq!((second.attempt, second.token == first.token), (2, false));
    assert!(matches!(run.into_end(), Some(End::Completed { .. })));
}

/// M-152, M-158: a message is taken once, whatever was written of its answer.
#[test]
fn a_message_that_is_read_twice_says_nothing_new() {
    let (mut run, asked) = Run::reviewing();
    let message = run.message();
    let from = Some(run.fence(asked));
    let request = Box::new(JobRequest::Submit {
        submission: Box::new(submission(Some(asked))),
    });
    let kind = InputKind::Job {
        message,
        from,
        request,
    };
    assert!(run.input(kind.clone()) > 0);
    let job = run.state.messages[&message];
    assert_eq!(run.input(kind), 0);
    assert_eq!(run.state.delegations.keys().collect::<Vec<_>>(), [&job]);
}

/// Design, section 9: every prefix of a journal with jobs in it resumes to the same end.
#[test]
fn every_prefix_resumes_to_the_same_end() {
    let (mut run, asked) = Run::reviewing();
    let mine = run.submit(Some(asked), Some(asked)).unwrap();
    let other = run.submit(None, None).unwrap();
    let fence = run.fence(mine);
    run.signal(fence, Signal::Completed, "done");
    run.ends(mine, delegated(Ended::Exited { code: 0 }, true));
    run.ends(other, delegated(Ended::Exited { code: 1 }, false));
    run.passes_from_every_cut();
}

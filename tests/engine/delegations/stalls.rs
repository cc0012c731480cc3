//! Silence and questions: told once, and over when something is printed.

use run_loop::domain::delegation::{JobRequest, Signal, WALL_CLOCK_TIMEOUT};
use run_loop::domain::end::End;
use run_loop::domain::job::Ended;
use run_loop::engine::{InputKind, Refusal, Weight};

use super::Run;
use crate::world::delegated;

/// Point 6, T-104, M-123, M-125: silence is told once for each dispatch, and ends nothing; a budget that is
/// spent after it closes the job, by its own label.
#[test]
fn silence_is_told_once_and_ends_nothing() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let attempt = 1;
    for job in [asked, job] {
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 0);
    }
    assert_eq!(run.closed(job), None);
    let attempt = 2;
    assert_eq!(run.input(InputKind::Silent { job, attempt }), 0);
    run.ends(job, delegated(Ended::TimedOut, false));
    assert_eq!(run.closed(job).unwrap().kind(), WALL_CLOCK_TIMEOUT);
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
    assert!(matches!(run.into_end(), Some(End::Approved { .. })));
}

/// Point 6: a permission question is relayed once, and the job runs on.
#[test]
fn a_permission_question_is_relayed_once() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    for job in [asked, job] {
        let fence = run.fence(job);
        let ask = Signal::PermissionRequired;
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::New);
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::Repeat);
        // Another one is another one.
        assert_eq!(run.signal(fence, ask, "may I now?"), Weight::New);
        assert!(run.state.fence_of(job).is_some());
        let blocked = run.state.blocked_of(job).unwrap();
        assert_eq!(blocked.question(), Some("may I now?"));
    }
}

/// Point 6: what a job says of itself after a question shows that somebody answered it, what is printed
/// after a silence that it is over; then both are told anew.
#[test]
fn what_is_printed_ends_a_stall() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let attempt = 1;
    let ask = Signal::PermissionRequired;
    for job in [asked, job] {
        let heard = |question| InputKind::Heard {
            job,
            attempt,
            question,
        };
        let fence = run.fence(job);
        // Nothing had stalled.
        assert_eq!(run.input(heard(None)), 0);
        assert_eq!(run.signal(fence.clone(), ask, "may I?"), Weight::New);
        // Seen before that question, or of another attempt.
        assert_eq!(run.input(heard(None)), 0);
        let of_another = InputKind::Heard {
            job,
            attempt: 2,
            question: Some(1),
        };
        assert_eq!(run.input(of_another), 0);
        assert_eq!(run.input(heard(Some(1))), 1);
        assert_eq!(run.state.blocked_of(job).unwrap().question(), None);
        assert_eq!(run.input(heard(Some(1))), 0);
        assert_eq!(run.signal(fence, ask, "may I?"), Weight::New);
        // A silence is over; what was not there at the last look is waited on still.
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
        assert_eq!(run.input(heard(Some(1))), 1);
        let blocked = run.state.blocked_of(job).unwrap();
        assert_eq!(
            (blocked.question(), blocked.number()),
            (Some("may I?"), Some(2))
        );
        assert_eq!(run.input(InputKind::Silent { job, attempt }), 1);
    }
    let view =
        |run: &Run| run.state.delegations[&job].view(run.state.run.as_ref().unwrap().loop_id);
    assert_eq!(view(&run).blocked.as_deref(), Some("may I?"));
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!(view(&run).blocked, None);
}

/// What an agent asks is written to the journal, so it has an end.
#[test]
fn questions_without_end_are_not_relayed() {
    let (mut run, _) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let fence = run.fence(job);
    let news = (0..100).filter(|n| {
        let question = format!("may I do {n}?");
        match run.signal(fence.clone(), Signal::PermissionRequired, &question) {
            Weight::New => true,
            // It would wait for an answer that nobody was asked for.
            Weight::Refused(Refusal::Asked(50)) => false,
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(news.count(), 50);
}

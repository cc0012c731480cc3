//! Answers that do not fit their schema.

use run_loop::domain::delegation::{JobRequest, Signal, Submission};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::id::JobId;
use run_loop::domain::job::Ended;
use run_loop::engine::Weight;

use super::{Run, limited_dispatch, submission};
use crate::world::{delegated, stored};

/// Issue 6, 7 (A-057, T-183): an answer that does not fit its schema is asked for once more with the
/// reason, and then the job has failed; what the job says of itself does not count meanwhile.
#[test]
fn an_answer_that_does_not_fit_is_asked_for_once_more() {
    let misfit = |reason: Option<&str>| {
        let mut outcome = delegated(Ended::Exited { code: 0 }, true);
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.misfit = reason.map(str::to_owned);
        }
        outcome
    };
    let again = |run: &Run, job: JobId| {
        let (newest, _) = run.state.delegations[&job].dispatches.last().unwrap();
        (newest.attempt, newest.again.clone())
    };
    for (second, exit) in [(None, 0), (Some("at /b"), 6)] {
        let mut run = Run::start(|spec| {
            spec.panel.clear();
            spec.single = Some(Submission {
                schema: Some(stored("schema")),
                ..submission(None)
            });
        });
        let job = *run.state.delegations.keys().next().unwrap();
        let fence = run.fence(job);
        let said = run.signal(fence.clone(), Signal::Completed, "done");
        assert_eq!((said, run.closed(job)), (Weight::Activity, None));
        run.ends(job, misfit(Some("at /a")));
        assert_eq!(run.closed(job), None);
        assert_eq!(again(&run, job), (2, Some("at /a".to_owned())));
        assert_ne!(run.fence(job).token, fence.token);
        run.ends(job, misfit(second));
        let closed = run.closed(job).unwrap().clone();
        assert_eq!(run.into_end().unwrap().exit().code(), exit, "{closed:?}");
        if exit != 0 {
            assert_eq!(closed.detail(), "output_invalid: at /b");
        }
    }
}

/// That an answer did not fit is told to whoever answers next after it, and to nobody later: what was
/// cut short meanwhile is asked as it was, what fits or fails is over.
#[test]
fn a_redispatch_is_not_told_of_an_older_misfit() {
    let misfit = |reason: &str| {
        let mut outcome = delegated(Ended::Exited { code: 0 }, true);
        if let Outcome::Delegated { outcome } = &mut outcome {
            outcome.misfit = Some(reason.to_owned());
        }
        outcome
    };
    let exited = |code| delegated(Ended::Exited { code }, true);
    let told = Some("at /a".to_owned());
    for (second, third) in [
        (exited(0), None),
        (exited(3), None),
        (misfit("at /b"), None),
        (delegated(Ended::TimedOut, false), None),
        (limited_dispatch(60), told.clone()),
        (delegated(Ended::Stopped, false), told.clone()),
    ] {
        let (mut run, asked) = Run::reviewing();
        let submission = Box::new(Submission {
            schema: Some(stored("schema")),
            ..submission(Some(asked))
        });
        let fence = run.fence(asked);
        run.ask(Some(fence), JobRequest::Submit { submission });
        let job = *run.state.delegations.keys().next().unwrap();
        run.ends(job, misfit("at /a"));
        let again = |run: &Run| {
            let (newest, _) = run.state.delegations[&job].dispatches.last().unwrap();
            (newest.attempt, newest.again.clone())
        };
        assert_eq!(again(&run), (2, told.clone()));
        run.ends(job, second);
        if run.closed(job).is_some() {
            assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
        }
        if let Some((id, _)) = run.effect(Effect::is_timer) {
            run.clock = 70_000;
            run.done(id, Outcome::TimerEnded { elapsed: true });
        }
        assert_eq!(again(&run), (3, third));
    }
}

//! Limits of the providers of delegated jobs.

use run_loop::domain::delegation::{Closed, JobRequest};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::job::Ended;
use run_loop::domain::limits::{Allowed, Reset};
use run_loop::domain::time::Timestamp;
use run_loop::domain::trouble::Trouble;
use run_loop::engine::{InputKind, Weight};

use super::Run;
use crate::world::{Answer, delegated};

/// A dispatch that a limit of its provider ended.
pub fn limited_dispatch(seconds: u64) -> Outcome {
    let ended = Ended::Failed {
        code: 1,
        trouble: Trouble::RateLimit,
        message: "busy".to_owned(),
    };
    let Outcome::Delegated { mut outcome } = delegated(ended, false) else {
        unreachable!()
    };
    outcome.spent.reset = Some(Reset::In { seconds });
    Outcome::Delegated { outcome }
}

/// Issue 4.7: a limit is no error of a delegated job. A run that has nothing else to do is parked,
/// and asks the same again when it is taken up.
#[test]
fn a_limit_parks_a_run_of_one_job() {
    let mut run = Run::single();
    let job = *run.state.delegations.keys().next().unwrap();
    run.ends(job, limited_dispatch(7200));
    assert_eq!(run.closed(job), None);
    let until = run.state.parking.as_ref().unwrap().until.unwrap();
    assert_eq!(until, Timestamp::from_millis(7_200_001));
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some() && run.state.end().is_none());
    let view = run.state.delegations[&job].view(run.state.run.as_ref().unwrap().loop_id);
    assert!(view.detail.starts_with("limit: until "), "{}", view.detail);
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: None,
        gone: None,
    });
    assert_eq!(run.fence(job).attempt, 2);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.into_end(), Some(End::Completed { .. })));
}

/// While its parent works the run waits in place, up to the moment at which the limit is lifted.
#[test]
fn a_limit_is_waited_for_while_the_parent_works() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    run.ends(job, limited_dispatch(60));
    assert!(run.state.parking.is_none() && run.closed(job).is_none());
    let is_timer = |effect: &Effect| effect.is_timer();
    let (id, timer) = run.effect(is_timer).unwrap();
    let Effect::Timer { until, .. } = timer else {
        unreachable!()
    };
    assert_eq!(until, Timestamp::from_millis(60_001));
    // Another one that is lifted earlier is woken for by itself.
    run.clock = 70_000;
    run.done(id, Outcome::TimerEnded { elapsed: true });
    assert_eq!(run.fence(job).attempt, 2);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
}

/// Whoever else works, and be it for hours, holds nobody up whose limit is lifted: the loop's own jobs
/// are asked again then as the delegated ones are.
#[test]
fn a_limit_of_a_reviewer_is_waited_for_while_others_work() {
    let mut world = super::world();
    world.slots[0].answers = vec![Answer::Limited, Answer::Pass];
    let (mut run, _) = Run::start_in(world, |_| ()).until_asked();
    run.submit(None, None).unwrap();
    run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
    let (id, timer) = run.effect(Effect::is_timer).unwrap();
    let Effect::Timer { until, .. } = timer else {
        unreachable!()
    };
    run.clock = u64::try_from(until.as_millis()).unwrap();
    run.done(id, Outcome::TimerEnded { elapsed: true });
    let asks = |effect: &Effect| matches!(effect, Effect::OpenTree { .. });
    assert!(run.effect(asks).is_some(), "it waits for somebody else");
}

/// A limit that is met again and again is nobody's failure: while its parent works the job waits.
#[test]
fn limits_without_end_fail_no_job() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    for _ in 0..30 {
        run.ends(job, limited_dispatch(60));
        assert_eq!(run.closed(job), None);
        // Only the first is still in force when it is told: the world's outcomes have one time.
        run.clock = run.clock.max(60_001);
        if let Some((id, _)) = run.effect(Effect::is_timer) {
            run.done(id, Outcome::TimerEnded { elapsed: true });
        }
    }
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
}

/// The same limit, told at this moment.
fn limited_now(run: &Run) -> Outcome {
    let Outcome::Delegated { mut outcome } = limited_dispatch(60) else {
        unreachable!()
    };
    outcome.ended_at = Timestamp::from_millis(i64::try_from(run.clock).unwrap());
    Outcome::Delegated { outcome }
}

/// A run that is taken up again and again, by a timer of the machine's, asks each time; one that waits
/// in place does so 24 times, is then parked as well, and waits again when it is taken up.
#[test]
fn limits_without_end_park_the_run_and_fail_no_job() {
    for wait in [false, true] {
        let mut run = Run::single();
        let job = *run.state.delegations.keys().next().unwrap();
        let (mut waited, mut parked) = (0, Vec::new());
        for _ in 0..40 {
            let limit = limited_now(&run);
            run.ends(job, limit);
            assert_eq!(run.closed(job), None);
            if run.effect(Effect::is_timer).is_none() {
                while run.perform(|_| true) {}
                assert!(run.state.suspended.is_some() && run.state.end().is_none());
                let allowed = Allowed {
                    wait,
                    ..Allowed::default()
                };
                parked.push(waited);
                run.input(InputKind::Resume {
                    allowed,
                    ran: None,
                    found: None,
                    gone: None,
                });
            }
            if let Some((id, Effect::Timer { until, .. })) = run.effect(Effect::is_timer) {
                waited += 1;
                run.clock = u64::try_from(until.as_millis()).unwrap();
                run.done(id, Outcome::TimerEnded { elapsed: true });
            }
        }
        // The first was met before anybody said that the run waits.
        let expected = if wait {
            (40, vec![0, 24])
        } else {
            (0, vec![0; 40])
        };
        assert_eq!((waited, parked), expected);
        run.ends(job, delegated(Ended::Exited { code: 0 }, true));
        assert!(matches!(run.into_end(), Some(End::Completed { .. })));
    }
}

/// Who asks for a job once more wants it to be waited for as it was at first.
#[test]
fn a_redispatch_forgets_the_limits() {
    let (mut run, asked) = Run::reviewing();
    let job = run.submit(Some(asked), Some(asked)).unwrap();
    run.ends(job, limited_dispatch(7200));
    let reason = "asked".to_owned();
    assert_eq!(
        run.ask(None, JobRequest::Cancel { job, reason }),
        Weight::New
    );
    assert_eq!(run.state.delegations[&job].limited, 1);
    assert_eq!(run.ask(None, JobRequest::Redispatch { job }), Weight::New);
    assert_eq!(run.state.delegations[&job].limited, 0);
    assert_eq!(run.fence(job).attempt, 2);
}

//! What a dispatch came to is a fact; what follows from it for the job is an event of its own, so a
//! journal means the same whatever the engine that reads it would decide.

use run_loop::domain::delegation::{Closed, Signal, WALL_CLOCK_TIMEOUT};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::id::JobId;
use run_loop::domain::job::{AttemptReason, Ended, Role};
use run_loop::domain::time::Timestamp;
use run_loop::engine::State;

use crate::delegations::{Run, limited_dispatch};
use crate::orders::stop;
use crate::trees::crew;
use crate::world::{delegated, interrupted};

/// A reviewer's run with one delegated job whose dispatches came back so; a limit is waited for.
fn with(outcomes: Vec<Outcome>) -> (Run, JobId) {
    let (mut run, _) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    for outcome in outcomes {
        run.ends(job, outcome);
        run.clock = run.clock.max(60_001);
        if let Some((id, _)) = run.effect(Effect::is_timer) {
            run.done(id, Outcome::TimerEnded { elapsed: true });
        }
    }
    (run, job)
}

/// The journal as an engine wrote it that followed its rule in the fold.
fn older(journal: &[Event]) -> Vec<Event> {
    let by_rule =
        |event: &&Event| !matches!(event, Event::JobClosed { .. } | Event::WorkLimited { .. });
    let kept = journal.iter().filter(by_rule).cloned();
    kept.map(|mut event| {
        if let Event::EffectRequested { effect, .. } = &mut event
            && let Effect::Delegate { dispatch } = &mut **effect
        {
            (dispatch.judged, dispatch.claims) = (false, false);
            let json = serde_json::to_string(&event).unwrap();
            let told = json.contains("judged") || json.contains("claims");
            assert!(!told, "{json}");
        }
        event
    })
    .collect()
}

fn timed_out() -> Outcome {
    delegated(Ended::TimedOut, true)
}

/// The decision is what is folded, not the outcome.
#[test]
fn a_job_is_closed_by_an_event() {
    let (run, job) = with(vec![timed_out()]);
    let position = |event: &Event| matches!(event, Event::JobClosed { .. });
    let at = run.journal.iter().position(position).unwrap();
    let before = State::replay(&run.journal[..at]);
    assert!(before.delegations[&job].outcome().is_some());
    assert_eq!(before.delegations[&job].closed, None);
    let mut other = run.journal[..=at].to_vec();
    let closed = Closed::Error {
        reason: "as another engine decided".to_owned(),
    };
    other[at] = Event::JobClosed {
        job,
        closed: closed.clone(),
    };
    assert_eq!(State::replay(&other).delegations[&job].closed, Some(closed));
}

/// The same of a limit: how long it is waited for stands in the journal.
#[test]
fn a_limit_is_an_event() {
    let (run, job) = with(vec![limited_dispatch(7_200)]);
    let at = run.journal.iter().position(
        |event| matches!(event, Event::WorkLimited { job: Some(it), told: true, .. } if *it == job),
    );
    let at = at.expect("no event tells of the limit");
    assert_eq!(
        State::replay(&run.journal[..at]).delegations[&job].limited_until,
        None
    );
    let mut other = run.journal.clone();
    if let Event::WorkLimited { until, .. } = &mut other[at] {
        *until = Timestamp::from_millis(5);
    }
    let state = State::replay(&other);
    let record = &state.delegations[&job];
    assert_eq!(record.limited_until, Some(Timestamp::from_millis(5)));
    assert_eq!((record.limited, record.closed.is_none()), (1, true));
}

/// A journal without such events means what its engine made of it.
#[test]
fn an_older_journal_means_what_it_meant() {
    for outcomes in [
        vec![timed_out()],
        vec![limited_dispatch(7_200)],
        vec![
            limited_dispatch(60),
            delegated(Ended::Exited { code: 0 }, true),
        ],
        vec![delegated(Ended::Interrupted, false)],
        vec![delegated(Ended::Exited { code: 0 }, true)],
    ] {
        let (run, job) = with(outcomes);
        let now = &run.state.delegations[&job];
        let then = State::replay(&older(&run.journal));
        let then = &then.delegations[&job];
        assert_eq!((&then.closed, then.limited), (&now.closed, now.limited));
        assert_eq!(then.limited_until, now.limited_until);
    }
    // It lost its patience with a job at the 25th limit.
    let (run, job) = with((0..25).map(|_| limited_dispatch(60)).collect());
    assert_eq!(run.state.delegations[&job].closed, None);
    let then = State::replay(&older(&run.journal));
    let closed = then.delegations[&job].closed.as_ref();
    assert!(matches!(closed, Some(Closed::Error { .. })), "{closed:?}");
}

/// Also while the run is put aside: what ended by itself is over, and is not asked again.
#[test]
fn a_run_that_is_put_aside_says_what_jobs_came_to() {
    let (mut run, _) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    run.input(stop(StopCause::Interrupt));
    run.ends(job, timed_out());
    let closed = run.state.delegations[&job].closed.as_ref();
    assert_eq!(closed.unwrap().kind(), WALL_CLOCK_TIMEOUT);
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some());
}

/// Older engines closed a job by its agent's word, and whatever such a run did rests on that.
#[test]
fn an_older_journal_takes_the_word_of_an_agent() {
    let (mut run, _) = Run::reviewing();
    let job = run.submit(None, None).unwrap();
    let fence = run.fence(job);
    run.signal(fence, Signal::Completed, "all");
    run.ends(job, timed_out());
    let closed = |state: &State| state.delegations[&job].closed.clone();
    assert_eq!(closed(&run.state).unwrap().as_str(), "error");
    let detail = "all".to_owned();
    let then = closed(&State::replay(&older(&run.journal)));
    assert_eq!(then, Some(Closed::Completed { detail }));
}

/// Journals of older engines do not say which of a reviewer's agents a step asks: it was the slot's own.
#[test]
fn an_older_journal_asks_each_slots_own_agent() {
    let mut world = crew(4);
    world.crew.as_mut().unwrap().writes = vec![Some(1)];
    let mut run = Run::start_in(world, |_| ());
    while run.perform(|_| true) {}
    let mut ranks = 0;
    let older = run.journal.iter().map(|event| {
        let mut json = serde_json::to_value(event).unwrap();
        if let Some(work) = json.get_mut("work").and_then(|it| it.as_object_mut()) {
            ranks += usize::from(work.remove("rank").is_some());
        }
        serde_json::from_value(json).unwrap()
    });
    let older: Vec<Event> = older.collect();
    assert!(ranks > 0);
    assert_eq!(older, run.journal);
    let ruled = State::replay(&older).works;
    let ruled = ruled.iter().find(|it| it.work.role == Role::Readjudicate);
    assert_eq!(ruled.unwrap().work.rank, 0);
}

/// A reviewer whose guard somebody told to end did not fail, and nobody stopped the run: it is asked once more,
/// and only then has no verdict.
#[test]
fn a_guard_that_was_told_to_end_costs_an_attempt() {
    let (mut run, _) = Run::reviewing();
    let stopped = |run: &mut Run| {
        let asked = run.effect(|effect| matches!(effect, Effect::RunJob { .. }));
        let Outcome::JobEnded { mut outcome } = interrupted() else {
            panic!("a job's outcome")
        };
        outcome.ended = Ended::Stopped;
        run.done(asked.unwrap().0, Outcome::JobEnded { outcome });
    };
    stopped(&mut run);
    let fresh = |event: &Event| matches!(event, Event::SlotRetried { reason, .. } if *reason == AttemptReason::Fresh);
    assert!(run.journal.iter().any(fresh));
    while run
        .effect(|effect| matches!(effect, Effect::RunJob { .. }))
        .is_none()
    {
        assert!(run.perform(|_| true));
    }
    stopped(&mut run);
    while run.perform(|_| true) {}
    assert_eq!(run.journal.iter().filter(|event| fresh(event)).count(), 1);
    assert_eq!(run.state.end().unwrap().exit().code(), 5);
}

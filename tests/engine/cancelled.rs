//! A run that is cancelled while a job that may write works: what that left is measured and told first.

use std::collections::BTreeMap;

use run_loop::domain::code::Code;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::failure::Failure;
use run_loop::domain::id::{EffectId, JobId};
use run_loop::domain::job::Ended;
use run_loop::engine::State;

use crate::delegations::Run;
use crate::orders::{resume, stop};
use crate::trees::crew;
use crate::world::{Deed, World, delegated};

/// Whether what a job left that may write is measured before its step and its run end.
pub fn measures_what_is_left(journal: &[Event]) -> bool {
    let mut asked: BTreeMap<EffectId, &Effect> = BTreeMap::new();
    let mut unmeasured = false;
    for event in journal {
        match event {
            Event::EffectRequested { id, effect } => {
                asked.insert(*id, effect);
            }
            Event::EffectDone {
                effect, outcome, ..
            } => match (asked[effect], &**outcome) {
                (Effect::RunJob { job }, Outcome::JobEnded { outcome }) => {
                    let ran = !matches!(outcome.ended, Ended::NotStarted { .. });
                    unmeasured |= job.role.writes() && ran;
                }
                (Effect::Measure { point, .. }, Outcome::Measured { .. }) => {
                    unmeasured &= *point != MeasurePoint::AfterWork;
                }
                _ => {}
            },
            Event::WorkClosed { .. } | Event::RunEnded { .. } if unmeasured => return false,
            _ => {}
        }
    }
    true
}

/// A world whose creator throws edits away, and does so.
fn losing(deeds: Vec<Deed>) -> World {
    let mut world = crew(0);
    world.limits.wait = true;
    let crew = world.crew.as_mut().unwrap();
    crew.loses = vec![true; 5];
    crew.deeds = deeds;
    world
}

fn open(run: &Run, is_it: impl Fn(&Effect) -> bool) -> Vec<Effect> {
    let open = run.state.open_effects().map(|(_, effect)| effect.clone());
    open.filter(|effect| is_it(effect)).collect()
}

fn measurements(run: &Run) -> Vec<Effect> {
    open(run, |effect| matches!(effect, Effect::Measure { .. }))
}

fn told_lost(journal: &[Event]) -> bool {
    journal.iter().any(|event| match event {
        Event::EffectDone { outcome, .. } => match &**outcome {
            Outcome::Measured {
                result: Done::Ok(measured),
            } => !measured.lost.is_empty(),
            _ => false,
        },
        _ => false,
    })
}

#[track_caller]
fn failure(state: &State) -> Failure {
    match state.end() {
        Some(End::Failed { failure }) => failure.clone(),
        other => panic!("{other:?}"),
    }
}

/// The job is ended, and what was delegated inside it, since that works in the same tree; then it is
/// measured, and then the run is over, as cancelled.
#[test]
fn a_cancelled_writer_is_measured() {
    let (mut run, creator) = Run::start_in(losing(vec![Deed::Answers]), |_| ()).until_asked();
    let sub_job = run.submit(Some(creator), Some(creator)).unwrap();
    run.input(stop(StopCause::Cancel));
    assert!(run.state.end().is_none() && run.state.is_winding_up());
    for effect in open(&run, |_| true) {
        assert!(run.state.is_unwanted(&effect), "{effect:?}");
    }
    assert!(run.submit(Some(creator), Some(creator)).is_err());
    run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
    assert!(measurements(&run).is_empty(), "something still writes");
    run.ends(sub_job, delegated(Ended::Interrupted, false));
    let [measurement] = &measurements(&run)[..] else {
        panic!("{:?}", run.state.phase)
    };
    assert!(!run.state.is_unwanted(measurement));
    while run.perform(|_| true) {}
    assert_eq!(failure(&run.state).code, Code::Cancelled);
    assert!(told_lost(&run.journal));
    assert!(measures_what_is_left(&run.journal));
}

/// What is found beside it is told in the end itself, and the end is the same.
#[test]
fn what_cannot_be_measured_is_told() {
    let (mut run, _) = Run::start_in(losing(vec![Deed::Answers]), |_| ()).until_asked();
    run.input(stop(StopCause::Cancel));
    run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
    let (id, _) = run
        .effect(|effect| matches!(effect, Effect::Measure { .. }))
        .unwrap();
    let found = Failure::new(Code::SourceMoved, "a merge is open").next(["git", "merge", "--quit"]);
    let result = Done::Err(found.clone());
    run.done(id, Outcome::Measured { result });
    while run.perform(|_| true) {}
    let failure = failure(&run.state);
    assert_eq!((failure.code, failure.next), (Code::Cancelled, found.next));
    assert!(failure.message.contains("a merge is open"));
}

/// The same while it waits for a limit after it ran, whether its engine lives or another one takes the
/// run up; who was never asked left nothing.
#[test]
fn a_writer_that_waits_is_measured_where_it_ran() {
    for again in [false, true] {
        let world = losing(vec![Deed::Limited]);
        let (mut run, _) = Run::start_in(world, |_| ()).until_asked();
        run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
        assert_eq!(open(&run, |_| true).len(), 1, "it waits");
        if again {
            run.input(resume());
        }
        run.input(stop(StopCause::Cancel));
        while run.perform(|_| true) {}
        assert_eq!(failure(&run.state).code, Code::Cancelled);
        assert!(told_lost(&run.journal) && measures_what_is_left(&run.journal));
    }
    let mut run = Run::start_in(losing(vec![Deed::Answers]), |_| ());
    run.input(stop(StopCause::Cancel));
    while run.perform(|_| true) {}
    assert!(!told_lost(&run.journal));
}

/// M-009: the program of a later attempt is gone, and the one before threw edits away.
#[test]
fn a_later_attempt_that_cannot_start_is_measured() {
    let mut seen = Vec::new();
    for deeds in [
        vec![Deed::Invalid, Deed::CannotStart],
        vec![Deed::CannotStart, Deed::Invalid],
    ] {
        let (mut run, _) = Run::start_in(losing(deeds), |_| ()).until_asked();
        let ran = |run: &Run| -> Vec<JobId> { run.state.jobs.keys().copied().collect() };
        while run.perform(|_| true) {}
        let failure = failure(&run.state);
        assert_eq!(failure.code, Code::DelegationFailed);
        assert!(failure.message.contains("could not be started"));
        seen.push((ran(&run).len(), told_lost(&run.journal)));
    }
    seen.sort_unstable();
    assert_eq!(seen, [(1, false), (2, true)]);
}

/// Issue 4.8: a run that lies aside is ended without being taken up: nobody is asked again for it.
#[test]
fn a_run_that_lies_aside_asks_nobody_to_end() {
    let (mut run, _) = Run::start_in(losing(vec![Deed::Answers]), |_| ()).until_asked();
    run.input(stop(StopCause::Interrupt));
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some());
    let aside = run.journal.len();
    run.input(stop(StopCause::Cancel));
    while run.perform(|_| true) {}
    assert_eq!(failure(&run.state).code, Code::Cancelled);
    assert!(run.state.suspended.is_none());
    let asks = |event: &Event| match event {
        Event::EffectRequested { effect, .. } => {
            matches!(**effect, Effect::RunJob { .. } | Effect::Delegate { .. })
        }
        _ => false,
    };
    assert!(!run.journal[aside..].iter().any(asks));
}

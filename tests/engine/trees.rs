//! What is made of a writer's answer comes after the whole tree of jobs that it delegated (M-130): one
//! rule for every job that writes, within its bound.

use std::collections::BTreeSet;

use run_loop::domain::delegation::{JobRequest, PARENT_ENDED};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::id::{EffectId, JobId};
use run_loop::domain::job::{Ended, Job, Role};
use run_loop::domain::time::Timestamp;
use run_loop::engine::{Phase, Refusal, Weight, fold};

use crate::delegations::{Run, limited_dispatch, world};
use crate::orders::resume;
use crate::world::{Answer, Arbiter, Crew, Deed, Planned, World, delegated, stamp};

/// A creator that leaves everything to others, and a reviewer that is never content.
pub fn crew(mood: u64) -> World {
    let mut world = world();
    world.slots[0].answers = vec![Answer::NotPass];
    world.max_rounds = 4;
    world.first_content = 0;
    world.crew = Some(Crew {
        own_work: false,
        review_only: false,
        planner: false,
        planned: Planned::Nobody,
        objects: false,
        arbiter: Arbiter::Impartial,
        deeds: vec![Deed::Answers],
        writes: vec![None],
        motions: Vec::new(),
        loses: Vec::new(),
        mood,
    });
    world
}

fn is_delegated(effect: &Effect) -> bool {
    matches!(effect, Effect::Delegate { .. } | Effect::AwaitJobs { .. })
}

fn writer(run: &Run) -> Option<Job> {
    let (_, effect) = run.effect(|effect| match effect {
        Effect::RunJob { job } => job.role.writes(),
        _ => false,
    })?;
    match effect {
        Effect::RunJob { job } => Some(job),
        _ => None,
    }
}

fn wait(run: &Run) -> Option<(EffectId, Timestamp)> {
    let found = run.effect(|effect| matches!(effect, Effect::AwaitJobs { .. }));
    found.map(|(id, effect)| match effect {
        Effect::AwaitJobs { until, .. } => (id, until),
        _ => unreachable!(),
    })
}

fn is_measuring(run: &Run) -> bool {
    let measures = |effect: &Effect| matches!(effect, Effect::Measure { .. });
    run.effect(measures).is_some()
}

/// The newest writing job ends; what it delegated goes on.
fn ends_writing(run: &mut Run) {
    assert!(run.perform(|effect| matches!(effect, Effect::RunJob { .. })));
}

fn completed() -> Outcome {
    delegated(Ended::Exited { code: 0 }, true)
}

/// A creator that was asked to implement, delegated one job and ended.
fn delegating(change: impl FnOnce(&mut World)) -> (Run, JobId) {
    let mut world = crew(0);
    change(&mut world);
    let (mut run, creator) = Run::start_in(world, |_| ()).until_asked();
    let job = run.submit(Some(creator), Some(creator)).unwrap();
    ends_writing(&mut run);
    (run, job)
}

/// M-130, T-110: implement, correct and comply alike are measured when the whole tree is over, also
/// what was delegated meanwhile; so who leaves all the work to others changed something.
#[test]
fn every_writing_job_is_measured_when_its_tree_is_over() {
    let mut roles = BTreeSet::new();
    for mood in 0..40 {
        let (mut run, _) = Run::start_in(crew(mood), |_| ()).until_asked();
        loop {
            let Some(asked) = writer(&run) else {
                if run.perform(|_| true) {
                    continue;
                }
                break;
            };
            roles.insert(asked.role);
            let job = run.submit(Some(asked.id), Some(asked.id)).unwrap();
            ends_writing(&mut run);
            let began = wait(&run).expect("nobody waits for what was delegated");
            assert!(!is_measuring(&run), "{:?}", asked.role);
            let deeper = run.submit(Some(job), Some(job)).unwrap();
            run.ends(job, completed());
            assert_eq!(wait(&run), Some(began), "one bound for the tree");
            assert!(!is_measuring(&run));
            run.content += 1;
            run.ends(deeper, completed());
            assert!(wait(&run).is_none() && is_measuring(&run));
            assert!(run.state.awaited.is_empty());
        }
        let exit = run.state.end().unwrap().exit().code();
        // Never "nothing was changed" (6), never "no progress" (7).
        assert!([1, 8].contains(&exit), "mood {mood} ended with {exit}");
    }
    assert_eq!(roles, [Role::Implement, Role::Correct, Role::Comply].into());
}

/// T-101, T-118: the bound is for the tree. What is open then is told and not waited for again, and
/// neither is what it delegates later.
#[test]
fn a_bound_that_was_reached_is_not_paid_again() {
    let (mut run, job) = delegating(|_| ());
    let (id, _) = wait(&run).unwrap();
    let meanwhile = run.submit(Some(job), Some(job)).unwrap();
    run.content = 1;
    run.done(id, Outcome::JobsAwaited);
    assert!(is_measuring(&run));
    let late = run.submit(Some(job), Some(job)).unwrap();
    assert_eq!(run.state.awaited, [job, meanwhile, late].into());
    while run.perform(|effect| !is_delegated(effect)) && run.state.rounds.is_empty() {}
    assert_eq!(run.state.rounds.len(), 1, "the round waited again");
    assert_eq!(run.state.sub_jobs().rows.len(), 3);
    for job in [job, meanwhile, late] {
        run.ends(job, completed());
    }
    assert!(run.state.awaited.is_empty());
}

/// T-101, M-122: a cap of its own wins.
#[test]
fn an_explicit_cap_wins() {
    for (cap, seconds) in [(None, 360), (Some(7), 7)] {
        let (run, _) = delegating(|world| world.limits.job_wait = cap);
        let (_, until) = wait(&run).unwrap();
        let at = run.state.stamp.unwrap().at;
        assert_eq!(until, at.plus_seconds(seconds));
    }
}

/// An engine that takes the run up waits anew: what it waits for begins anew, too, and the bound of
/// the engine before it may have passed while nobody worked.
#[test]
fn a_wait_begins_anew_with_its_engine() {
    let (mut run, job) = delegating(|_| ());
    let (id, until) = wait(&run).unwrap();
    run.clock = 100_000_000;
    run.input(resume());
    let (again, later) = wait(&run).unwrap();
    assert!(again > id && later > until && later > Timestamp::from_millis(100_000_000));
    let ended = run.journal.iter().find_map(|event| match event {
        Event::WaitEnded { effect, again } => Some((*effect, *again)),
        _ => None,
    });
    assert_eq!(ended, Some((id, true)));
    // As the engine finds it that takes the dispatch over.
    run.ends(job, delegated(Ended::Interrupted, false));
    assert_eq!(run.fence(job).attempt, 2);
    assert!(!is_measuring(&run));
    run.ends(job, completed());
    assert!(is_measuring(&run));
}

/// The same where the bound had passed: what the engine dispatches anew is waited for anew.
#[test]
fn a_bound_that_was_reached_counts_for_one_engine() {
    let (mut run, job) = delegating(|_| ());
    let (id, _) = wait(&run).unwrap();
    run.content = 1;
    run.done(id, Outcome::JobsAwaited);
    assert!(run.state.awaited.contains(&job));
    run.input(resume());
    run.ends(job, delegated(Ended::Interrupted, false));
    assert_eq!(run.fence(job).attempt, 2);
    while run.perform(|effect| !is_delegated(effect)) {}
    assert!(wait(&run).is_some() && run.state.rounds.is_empty());
}

/// M-009: all attempts of a step work in one tree, so what an earlier one delegated ends with the one
/// that broke off, before it is measured what they left.
#[test]
fn what_an_earlier_attempt_delegated_ends_with_the_step() {
    let (mut run, job) = delegating(|world| {
        world.crew.as_mut().unwrap().deeds = vec![Deed::Exits, Deed::Invalid];
    });
    let (id, _) = wait(&run).unwrap();
    run.done(id, Outcome::JobsAwaited);
    assert!(run.state.delegations[&job].closed.is_none());
    ends_writing(&mut run);
    let closed = run.state.delegations[&job].closed.clone();
    assert_eq!(closed.unwrap().kind(), PARENT_ENDED);
    assert!(!is_measuring(&run));
    run.ends(job, delegated(Ended::Interrupted, false));
    assert!(is_measuring(&run));
}

/// Issue 4.7: whoever takes a run up wants to know whether a limit still holds, also where it was met
/// before and is judged afterwards.
#[test]
fn a_limit_from_before_a_resume_parks_nobody() {
    let (mut run, job) = delegating(|world| {
        world.crew.as_mut().unwrap().deeds = vec![Deed::Answers, Deed::Limited];
    });
    run.clock = 5_000;
    run.input(resume());
    run.ends(job, completed());
    assert!(run.state.parking.is_none());
    assert_eq!(writer(&run).unwrap().attempt, 2);
}

/// T-118: whoever is dispatched once more is waited for once more.
#[test]
fn a_job_that_is_dispatched_once_more_is_waited_for() {
    let (mut run, job) = delegating(|_| ());
    let (id, _) = wait(&run).unwrap();
    run.content = 1;
    run.done(id, Outcome::JobsAwaited);
    assert!(run.state.awaited.contains(&job));
    run.ends(job, delegated(Ended::Exited { code: 3 }, false));
    let again = JobRequest::Redispatch { job };
    assert_eq!(run.ask(None, again), Weight::New);
    while run.perform(|effect| !is_delegated(effect)) {}
    assert!(wait(&run).is_some(), "the round does not wait");
    run.ends(job, completed());
    assert!(wait(&run).is_none());
    assert!(matches!(run.state.phase, Phase::Round { .. }));
}

/// Issue 4.7: what waits for a limit spends nothing of the bound, and neither a measurement nor a
/// round comes before it.
#[test]
fn time_at_a_limit_is_not_spent() {
    let (mut run, job) = delegating(|world| world.limits.wait = true);
    let (_, until) = wait(&run).unwrap();
    run.ends(job, limited_dispatch(7_200));
    assert!(wait(&run).is_none() && !is_measuring(&run));
    let (timer, _) = run.effect(Effect::is_timer).unwrap();
    run.clock = 7_200_001;
    run.done(timer, Outcome::TimerEnded { elapsed: true });
    assert_eq!(run.fence(job).attempt, 2);
    assert!(wait(&run).unwrap().1 > until);
    run.ends(job, completed());
    assert!(is_measuring(&run));
}

/// The same where another one works on until the bound: that one is not waited for any more.
#[test]
fn a_bound_is_reached_for_whoever_works() {
    let (mut run, creator) = Run::start_in(crew(0), |_| ()).until_asked();
    let [works, limited] = [(); 2].map(|()| run.submit(Some(creator), Some(creator)).unwrap());
    ends_writing(&mut run);
    let (id, _) = wait(&run).unwrap();
    run.ends(limited, limited_dispatch(7_200));
    assert!(wait(&run).is_some());
    run.done(id, Outcome::JobsAwaited);
    assert_eq!(run.state.awaited, [works].into());
    assert!(wait(&run).is_none() && !is_measuring(&run));
    run.clock = 7_200_001;
    let (timer, _) = run.effect(Effect::is_timer).unwrap();
    run.done(timer, Outcome::TimerEnded { elapsed: true });
    assert!(wait(&run).is_some() && !is_measuring(&run));
    run.ends(limited, completed());
    assert!(is_measuring(&run));
}

/// M-009: a writer that broke off ends the run. What it delegated ends with it, before it is measured
/// what it left.
#[test]
fn what_a_writer_delegated_that_broke_off_ends_with_it() {
    let (mut run, job) = delegating(|world| {
        world.crew.as_mut().unwrap().deeds = vec![Deed::Exits];
    });
    let closed = run.state.delegations[&job].closed.clone();
    assert_eq!(closed.unwrap().kind(), PARENT_ENDED);
    assert!(wait(&run).is_none() && !is_measuring(&run));
    assert!(run.submit(Some(job), Some(job)).is_err());
    run.ends(job, delegated(Ended::Interrupted, false));
    assert!(is_measuring(&run));
    // Nobody waits for it, so it is not begun once more.
    let creator = run.state.delegations[&job].submission.parent.unwrap();
    let again = run.ask(None, JobRequest::Redispatch { job });
    assert_eq!(again, Weight::Refused(Refusal::Stale(creator)));
    assert_eq!(run.into_end().unwrap().exit().code(), 6);
}

/// Design, section 9: cut after any event, a run with a writer's tree resumes to the same end.
#[test]
fn every_prefix_of_a_tree_resumes_to_the_same_end() {
    let mut world = crew(0);
    world.slots[0].answers = vec![Answer::Pass];
    let (mut run, creator) = Run::start_in(world.clone(), |_| ()).until_asked();
    let job = run.submit(Some(creator), Some(creator)).unwrap();
    ends_writing(&mut run);
    let deeper = run.submit(Some(job), Some(job)).unwrap();
    run.content = 1;
    run.ends(job, completed());
    run.ends(deeper, completed());
    run.passes_from_every_cut();
}

/// A journal of an engine that kept its wait over a resume still folds.
#[test]
fn a_wait_that_outlived_its_engine_folds() {
    let (run, job) = delegating(|_| ());
    let (id, _) = wait(&run).unwrap();
    let mut state = run.state;
    let resumed = Event::RunResumed {
        stamp: stamp(1_000),
        allowed: run_loop::domain::limits::Allowed::default(),
        seen: None,
        ran: None,
        found: None,
        gone: None,
    };
    let done = Event::EffectDone {
        stamp: stamp(1_001),
        effect: id,
        outcome: Box::new(Outcome::JobsAwaited),
    };
    for event in [resumed, done] {
        fold(&mut state, &event);
    }
    assert!(state.fault.is_none());
    assert!(state.awaited.contains(&job));
}

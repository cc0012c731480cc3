//! A step of work that goes on after its run lay aside.

use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::event::StopCause;
use run_loop::domain::job::{Job, Role};

use crate::delegations::Run;
use crate::exact::{end, world};
use crate::orders::{resume, stop};
use crate::world::{Planned, interrupted, oid};

fn asked(run: &Run) -> Option<Job> {
    let (_, effect) = run.effect(|effect| matches!(effect, Effect::RunJob { .. }))?;
    match effect {
        Effect::RunJob { job } => Some(job),
        _ => None,
    }
}

/// Performs what is open up to the next job.
fn until_asked(run: &mut Run) -> Job {
    loop {
        if let Some(job) = asked(run) {
            return job;
        }
        assert!(run.perform(|_| true));
    }
}

/// The job of `role` is ended with its run, the source changes while that lies aside, and it is taken up.
fn taken_up(role: Role, planned: Planned) -> Run {
    let mut world = world(1);
    let crew = world.crew.as_mut().unwrap();
    (crew.planned, crew.planner) = (planned, planned == Planned::Planner);
    let mut run = Run::start_in(world, |_| ());
    let first = until_asked(&mut run);
    assert_eq!(first.role, role);
    run.input(stop(StopCause::Interrupt));
    let (id, _) = run
        .effect(|it| matches!(it, Effect::RunJob { .. }))
        .unwrap();
    run.done(id, interrupted());
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some());
    run.content = 3;
    run.input(resume());
    run
}

/// The same, up to the second attempt.
fn asked_again(role: Role, planned: Planned) -> (Run, Job) {
    let mut run = taken_up(role, planned);
    let again = until_asked(&mut run);
    assert_eq!((again.role, again.attempt), (role, 2));
    (run, again)
}

/// Who only reads has written nothing, and reads the source as it is now.
#[test]
fn who_only_reads_is_asked_on_the_source_as_it_is_now() {
    let (run, again) = asked_again(Role::Plan, Planned::Planner);
    assert_eq!(run.state.contents[&again.id], oid(3));
}

/// Who writes may have lost something: what it was asked on at first is what is compared with.
#[test]
fn who_writes_is_compared_with_what_was_there_before() {
    let (run, again) = asked_again(Role::Implement, Planned::Nobody);
    assert_eq!(run.state.contents[&again.id], oid(0));
}

/// Nobody is asked again about a branch that the run is not about, whatever attempt it is.
#[test]
fn who_reads_is_not_asked_again_where_head_is_elsewhere() {
    let mut run = taken_up(Role::Plan, Planned::Planner);
    let pinned = run.effect(|effect| matches!(effect, Effect::Pin { .. }));
    let (id, effect) = pinned.unwrap();
    let mut outcome = run.world.perform(&effect, &mut run.content, &[]);
    let Outcome::Pinned {
        result: Done::Ok(pin),
    } = &mut outcome
    else {
        unreachable!("{outcome:?}");
    };
    "refs/heads/elsewhere".clone_into(&mut pin.tripwire.head_ref);
    run.done(id, outcome);
    assert_eq!(asked(&run), None);
    while run.perform(|_| true) {}
    let (code, said) = end(&run);
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("from feature to elsewhere"), "{said}");
}

/// People edit while a run lies aside: the source is kept before the first job that is asked since. A later attempt
/// follows one that wrote, and keeps nothing in its place.
#[test]
fn the_source_is_kept_once_for_each_time_a_run_is_taken_up() {
    let (mut run, again) = asked_again(Role::Implement, Planned::Nobody);
    assert!(run.state.asks_anew(&again) && run.state.was_asked_anew());
    let (id, _) = run
        .effect(|it| matches!(it, Effect::RunJob { .. }))
        .unwrap();
    run.done(id, interrupted());
    let third = until_asked(&mut run);
    assert_eq!(third.attempt, 3);
    assert!(!run.state.asks_anew(&third), "what was kept stays");
    assert!(run.state.was_asked_anew());
    run.input(resume());
    let (id, _) = run
        .effect(|it| matches!(it, Effect::RunJob { .. }))
        .unwrap();
    run.done(id, interrupted());
    let fourth = until_asked(&mut run);
    assert!(run.state.asks_anew(&fourth), "it lay aside once more");
}

//! The looks around jobs that may write: who may have written between two of them (A5-19).

use proptest::prelude::*;
use run_loop::domain::effect::{Done, Effect, Outcome, Timer};
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::id::EffectId;
use run_loop::domain::identity::{About, Doubt, Elsewhere, Remeasured, Site};
use run_loop::domain::job::{AnswerAction, Role};
use run_loop::domain::limits::Allowed;
use run_loop::domain::look::Since;
use run_loop::engine::InputKind;

use crate::delegations::Run;
use crate::exact::{answers, implemented, passes, refuses, told, world};
use crate::orders::{Driver, picks, resume, stop};
use crate::world::{Deed, any_worlds, interrupted, look, oid};

use Since::{Anybody, Jobs};

fn sinces(run: &Run) -> Vec<Since> {
    run.state.looks().iter().map(|look| look.since).collect()
}

/// What the events say of each look, read by a memory of its own.
#[derive(Default)]
struct Law {
    looks: Vec<Since>,
    pinned: usize,
    /// The role of the step under way.
    step: Option<Role>,
    effects: Vec<(EffectId, Effect)>,
    /// Whether people may have had the source to themselves since the last look.
    alone: bool,
    closing: bool,
}

impl Law {
    fn take(&mut self, event: &Event) {
        match event {
            Event::WorkOpened { work } => self.step = Some(work.role),
            Event::WorkClosed { .. } => self.step = None,
            Event::RunClosing { .. } => self.closing = true,
            Event::EffectRequested { id, effect } => {
                self.alone |= matches!(
                    **effect,
                    Effect::Timer {
                        of: Timer::Limit,
                        ..
                    }
                );
                self.effects.push((*id, (**effect).clone()));
            }
            Event::RunResumed { found, .. } if !self.closing => match found {
                Some(_) => self.look(Anybody),
                None => self.alone = true,
            },
            Event::EffectDone { outcome, .. } => self.done(outcome),
            _ => {}
        }
    }
    fn done(&mut self, outcome: &Outcome) {
        if self.closing || !self.step.is_some_and(Role::writes) {
            return;
        }
        match outcome {
            Outcome::Pinned {
                result: Done::Ok(_),
            } => {
                self.look(Anybody);
                self.pinned = self.looks.len();
            }
            Outcome::Measured {
                result: Done::Ok(measured),
            } => {
                let alone = self.alone || !measured.head_descends;
                self.look(if alone { Anybody } else { Jobs });
            }
            _ => {}
        }
    }
    fn look(&mut self, since: Since) {
        self.looks.push(since);
        self.alone = false;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// In any order, interrupted at any moment: what is between two looks is called the jobs' where no engine
    /// came or went, and nobody waited.
    #[test]
    fn only_what_jobs_ran_in_is_theirs(world in any_worlds(), seed in any::<u64>(), at in 0_usize..60) {
        let mut driver = Driver::new(&world);
        driver.start();
        let mut pick = picks(seed);
        for _ in 0..at {
            driver.perform(pick());
        }
        driver.input(stop(StopCause::Interrupt));
        driver.run(&mut pick);
        if driver.state.suspended.is_some() {
            driver = driver.again();
            driver.run(pick);
        }
        let mut law = Law::default();
        for event in &driver.journal {
            law.take(event);
        }
        let found: Vec<Since> = driver.state.looks().iter().map(|look| look.since).collect();
        prop_assert_eq!(found, law.looks);
        prop_assert_eq!(driver.state.looks_up_to_pin().len(), law.pinned);
    }
}

/// Implementation, a round, a correction: each has its pin and what was measured after it.
#[test]
fn each_writing_step_has_two_looks() {
    let run = told(
        world(1),
        |_| (),
        |job, content| match job.role {
            Role::Implement => {
                *content = 2;
                implemented()
            }
            Role::Correct => {
                *content = 3;
                answers(&[(1, AnswerAction::Fixed)])
            }
            _ if job.round.0 == 1 => refuses("bad", &[]),
            _ => passes(),
        },
    );
    assert_eq!(sinces(&run), [Anybody, Jobs, Anybody, Jobs]);
    let trees: Vec<_> = run
        .state
        .looks()
        .iter()
        .map(|look| look.tree.clone())
        .collect();
    assert_eq!(trees, [0, 2, 2, 3].map(oid));
    assert_eq!(run.state.looks_up_to_pin().len(), 3);
}

/// A run whose creator works.
fn writing(deeds: Vec<Deed>, waits: bool) -> Run {
    let mut world = world(1);
    world.crew.as_mut().unwrap().deeds = deeds;
    world.limits.wait = waits;
    Run::start_in(world, |_| ()).until_asked().0
}

fn ends_the_job(run: &mut Run) {
    let job = run.effect(|it| matches!(it, Effect::RunJob { .. }));
    run.done(job.unwrap().0, interrupted());
}

fn taken_up(run: &mut Run, content: Option<u8>) {
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: content.map(look),
        gone: None,
    });
}

/// Up to the measurement after the step that is under way.
fn until_measured(run: &mut Run) {
    let looks = run.state.looks().len();
    while run.state.looks().len() == looks {
        assert!(run.perform(|_| true));
    }
}

/// It is measured when it is put aside, and looked at when it is taken up: between these it was people's.
#[test]
fn a_run_that_lay_aside_has_a_look_at_both_ends() {
    let mut run = writing(vec![Deed::Answers], false);
    run.input(stop(StopCause::Interrupt));
    ends_the_job(&mut run);
    while run.perform(|_| true) {}
    taken_up(&mut run, Some(3));
    until_measured(&mut run);
    assert_eq!(sinces(&run), [Anybody, Jobs, Anybody, Jobs]);
    assert_eq!(run.state.looks()[2].tree, oid(3));
    // All of it is one step: what it took away is judged by how it was before.
    assert_eq!(run.state.looks_up_to_pin().len(), 1);
}

/// Nobody looked right after the job of an engine that died.
#[test]
fn what_a_dead_engine_left_may_be_anybodys() {
    let mut run = writing(vec![Deed::Answers], false);
    taken_up(&mut run, Some(1));
    ends_the_job(&mut run);
    until_measured(&mut run);
    assert_eq!(sinces(&run), [Anybody, Anybody, Jobs]);
    // The source could not be looked at.
    let mut run = writing(vec![Deed::Answers], false);
    taken_up(&mut run, None);
    ends_the_job(&mut run);
    until_measured(&mut run);
    assert_eq!(sinces(&run), [Anybody, Anybody]);
}

/// People edit while the run waits for a limit to be lifted.
#[test]
fn a_wait_for_a_limit_is_anybodys() {
    let mut run = writing(vec![Deed::Limited], true);
    run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
    let is_limit = |effect: &Effect| {
        matches!(
            effect,
            Effect::Timer {
                of: Timer::Limit,
                ..
            }
        )
    };
    let Some((_, Effect::Timer { until, .. })) = run.effect(is_limit) else {
        panic!("{:?}", run.state.phase)
    };
    run.clock = u64::try_from(until.as_millis()).unwrap();
    assert!(run.perform(is_limit));
    let (id, _) = run
        .effect(|effect| matches!(effect, Effect::RunJob { .. }))
        .unwrap();
    let outcome = implemented();
    run.done(id, Outcome::JobEnded { outcome });
    until_measured(&mut run);
    assert_eq!(sinces(&run), [Anybody, Anybody]);
    // One that is put aside instead is looked at when its job has ended.
    let mut run = writing(vec![Deed::Limited], false);
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some());
    assert_eq!(sinces(&run), [Anybody, Jobs]);
    run.input(resume());
}

/// What HEAD or the stash gave back to the working tree was somebody's before.
#[test]
fn what_was_taken_back_may_be_anybodys() {
    type Change = fn(&mut Remeasured);
    let changes: [(Change, Since); 5] = [
        (|_| (), Jobs),
        (|found| found.head_descends = false, Anybody),
        (
            |found| found.elsewhere.push(stashed(Site::Dropped)),
            Anybody,
        ),
        (|found| found.elsewhere.push(stashed(Site::Stash)), Jobs),
        (
            |found| found.unknown.push(Doubt::not_kept(About::Stash)),
            Anybody,
        ),
    ];
    for (change, since) in changes {
        let mut run = writing(vec![Deed::Answers], false);
        run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
        let (id, _) = run
            .effect(|effect| matches!(effect, Effect::Measure { .. }))
            .unwrap();
        let mut found = *look(1);
        change(&mut found);
        let result = Done::Ok(found);
        run.done(id, Outcome::Measured { result });
        assert_eq!(sinces(&run), [Anybody, since]);
    }
}

fn stashed(site: Site) -> Elsewhere {
    Elsewhere {
        site,
        branch: String::new(),
        from: None,
        to: oid(203),
    }
}

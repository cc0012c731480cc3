//! A run that lies aside since something could not be written or opened (4-30): what could not be done is tried
//! again, on what is there by then, and nothing that was said is lost.

use run_loop::domain::code::Code;
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::RoundResult;
use run_loop::domain::failure::Failure;
use run_loop::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading, Role};
use run_loop::domain::limits::Allowed;
use run_loop::engine::InputKind;

use crate::delegations::Run;
use crate::exact::aside::{goes_on, goes_on_writing, is_approved, panel, with_alias};
use crate::exact::{asked, implemented, passes, world};
use crate::world::{World, ended_with};

/// Taken up where the content is this.
fn taken_up(run: &mut Run) {
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(with_alias(run.content, None)),
        gone: None,
    });
}

/// Why the run lies aside.
fn held_up(run: &Run) -> &Failure {
    let failure = run.state.suspended.as_ref().unwrap();
    assert_eq!(failure.code, Code::HeldUp);
    failure
}

/// The disk was full when the job's folder was made.
fn no_room() -> JobOutcome {
    let failure = Failure::new(Code::StateUnwritable, "no space left").next(["df", "-h"]);
    ended_with(Ended::NotStarted { failure }, Reading::Silent)
}

/// What no tree can show stays so: where the source is another one by then, the next round reviews that.
#[test]
fn a_tree_that_cannot_be_opened_binds_no_round_to_what_is_gone() {
    for (max_rounds, moves) in [(2, true), (1, true), (2, false)] {
        let mut world = World {
            max_rounds,
            ..panel(2)
        };
        world.slots[1].tree_fails_in = Some(1);
        let mut run = Run::start_in(world, |_| ());
        goes_on(&mut run, None, |_| Some(passes()));
        let said = held_up(&run).message.clone();
        run.content += u8::from(moves);
        taken_up(&mut run);
        let mut all = Vec::new();
        goes_on(&mut run, None, |job| {
            let (_, slot, _, round) = asked(job);
            all.push((slot, round));
            Some(passes())
        });
        if !moves {
            held_up(&run);
            assert!(said.contains("run-loop cancel"), "{said}");
            continue;
        }
        let first = &run.state.rounds[0].result;
        assert!(matches!(first, RoundResult::Stale { .. }), "{first:?}");
        if max_rounds == 1 {
            assert_eq!(run.state.end().unwrap().exit().code(), 4);
            continue;
        }
        assert_eq!(all, [(Some(0), 2), (Some(1), 2)]);
        assert!(is_approved(&run));
    }
}

/// A reviewer that was not started for want of room is asked the same again, however often that is so.
#[test]
fn a_reviewer_without_room_is_asked_again_when_there_is_some() {
    let mut run = Run::start_in(panel(3), |_| ());
    goes_on(&mut run, None, |job| match asked(job).1 {
        Some(0) => Some(passes()),
        Some(1) => Some(no_room()),
        _ => None,
    });
    assert!(run.state.parking.is_none(), "who is at work is waited for");
    let (id, _) = run
        .effect(|it| matches!(it, Effect::RunJob { .. }))
        .unwrap();
    let outcome = passes();
    run.done(id, Outcome::JobEnded { outcome });
    goes_on(&mut run, None, |_| None);
    for room in [false, false, true] {
        assert_eq!(held_up(&run).next.0, ["df", "-h"]);
        taken_up(&mut run);
        let mut all = Vec::new();
        goes_on(&mut run, None, |job| {
            all.push((asked(job).1, job.reason.clone()));
            Some(if room { passes() } else { no_room() })
        });
        assert_eq!(all, [(Some(1), AttemptReason::First)]);
    }
    assert!(is_approved(&run));
    assert_eq!(run.state.rounds.len(), 1);
}

/// So is who writes.
#[test]
fn a_writer_without_room_is_asked_again_when_there_is_some() {
    let mut run = Run::start_in(world(1), |_| ());
    let does = |room: bool| {
        move |job: &Job, content: &mut u8| {
            Some(if job.role == Role::Review {
                passes()
            } else if room {
                *content = 1;
                implemented()
            } else {
                no_room()
            })
        }
    };
    goes_on_writing(&mut run, None, does(false));
    for room in [false, true] {
        held_up(&run);
        taken_up(&mut run);
        goes_on_writing(&mut run, None, does(room));
    }
    assert!(is_approved(&run), "{:?}", run.state.end());
}

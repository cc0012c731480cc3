//! An engine that dies while a job writes, between steps or while it publishes: nobody knows who moved what
//! moved by then, no job is blamed for it, and nothing that passed before rests on it.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult, StopCause};
use run_loop::domain::failure::Failure;
use run_loop::domain::identity::{Remeasured, Trip};
use run_loop::domain::job::{Ended, Job, JobOutcome, Reading, Reply, Role};
use run_loop::domain::limits::Allowed;
use run_loop::engine::{InputKind, State};

use crate::delegations::Run;
use crate::exact::aside::{goes_on, goes_on_writing, is_approved, panel, with_alias};
use crate::exact::{asked, passes, refuses, world};
use crate::orders::stop;
use crate::world::{World, ended_with, interrupted, oid};

const ALIAS: Option<&str> = Some("st");

/// Another engine takes the run up, which finds this alias, and that this is gone.
fn taken_up(run: &mut Run, alias: Option<&str>, gone: Option<Failure>) {
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(with_alias(run.content, alias)),
        gone,
    });
}

/// Who writes leaves the first content, and who reviews passes it.
fn does(job: &Job, content: &mut u8) -> JobOutcome {
    if job.role == Role::Review {
        return passes();
    }
    *content = 1;
    let reply = Reply::Text;
    ended_with(Ended::Exited { code: 0 }, Reading::Reply { reply })
}

/// Everybody does so, from here to the end.
fn all_do(run: &mut Run, alias: Option<&str>) {
    goes_on_writing(run, alias, |job, content| Some(does(job, content)));
}

/// A run in this world, as far as this much of its journal tells.
fn cut(world: World, journal: &[Event], content: u8) -> Run {
    Run {
        world,
        state: State::replay(journal),
        clock: 1_000_000,
        content,
        journal: journal.to_vec(),
    }
}

/// A run up to the first effect of this kind, which is not performed.
fn up_to(world: World, wanted: impl Fn(&Effect) -> bool) -> Run {
    let mut run = Run::start_in(world, |_| ());
    while run.effect(&wanted).is_none() {
        let job = run.effect(|effect| matches!(effect, Effect::RunJob { .. }));
        if let Some((id, Effect::RunJob { job })) = job {
            let outcome = does(&job, &mut run.content);
            run.done(id, Outcome::JobEnded { outcome });
        } else {
            assert!(run.perform(|_| true));
        }
    }
    run
}

fn is_job(effect: &Effect) -> bool {
    matches!(effect, Effect::RunJob { .. })
}

/// The creator commits, or its user edits the configuration: the run goes on.
#[test]
fn a_writer_is_not_blamed_for_what_moved_around_a_crash() {
    let mut run = up_to(world(1), is_job);
    run.content = 1;
    taken_up(&mut run, ALIAS, None);
    let (id, _) = run.effect(is_job).unwrap();
    run.done(id, interrupted());
    all_do(&mut run, ALIAS);
    assert!(is_approved(&run), "{:?}", run.state.end());
}

/// What moves after that, while its second job runs, is its own.
#[test]
fn a_writer_is_blamed_for_what_moves_after_a_crash() {
    let mut run = up_to(world(1), is_job);
    taken_up(&mut run, ALIAS, None);
    all_do(&mut run, Some("its-own"));
    let End::Failed { failure } = run.state.end().unwrap() else {
        panic!("a run was approved");
    };
    assert_eq!(failure.code, Code::TripwireMoved);
}

/// At whatever event the engine dies, what moved by then is nobody's: who was asked in a round that is void is
/// asked again in the next one, and a round in which nobody was asked yet is none.
#[test]
fn what_moved_around_a_crash_ends_no_run() {
    let mut whole = Run::start_in(world(1), |_| ());
    all_do(&mut whole, None);
    assert!(is_approved(&whole));
    let is_over = |event: &Event| matches!(event, Event::RunClosing { .. });
    let decided = |event: &Event| match event {
        Event::EffectDone { outcome, .. } => matches!(**outcome, Outcome::Promoted { .. }),
        _ => false,
    };
    let writes = |event: &Event| matches!(event, Event::EffectDone { outcome, .. } if matches!(**outcome, Outcome::JobEnded { .. }));
    for end in 1..=whole.journal.len() {
        let journal = &whole.journal[..end];
        if journal.iter().any(is_over) {
            break;
        }
        let mut run = cut(world(1), journal, u8::from(journal.iter().any(writes)));
        let counts = run.state.review().is_some() && !journal.iter().any(decided);
        taken_up(&mut run, ALIAS, None);
        all_do(&mut run, ALIAS);
        assert!(is_approved(&run), "cut {end}: {:?}", run.state.end());
        let rounds = if counts { 2 } else { 1 };
        assert_eq!(run.state.rounds.len(), rounds, "cut {end}");
    }
}

/// What a look before the crash found is known to have moved while jobs ran.
#[test]
fn a_crash_forgets_nothing_that_was_found_before_it() {
    let mut run = up_to(panel(1), |it| matches!(it, Effect::Measure { .. }));
    let before = run.journal.len();
    goes_on(&mut run, ALIAS, |_| None);
    let mut run = cut(panel(1), &run.journal[..=before], 1);
    taken_up(&mut run, ALIAS, None);
    goes_on(&mut run, ALIAS, |_| Some(passes()));
    let End::Failed { failure } = run.state.end().unwrap() else {
        panic!("a run was approved");
    };
    assert_eq!(failure.code, Code::TripwireMoved);
}

/// A creator that plants a hook is told of that, and not of what its user set while the run lay aside.
#[test]
fn a_writer_is_blamed_for_its_own_part_alone() {
    let mut run = up_to(world(1), is_job);
    run.input(stop(StopCause::Interrupt));
    let (id, _) = run.effect(is_job).unwrap();
    run.done(id, interrupted());
    while let Some((id, effect)) = run.effect(|_| true) {
        let found = hooked(0, None);
        let outcome = match effect {
            Effect::Measure { .. } => Outcome::Measured {
                result: Done::Ok(*found),
            },
            Effect::Release => Outcome::Released {
                left: Vec::new(),
                found: Some(found),
            },
            other => panic!("{other:?}"),
        };
        run.done(id, outcome);
    }
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(hooked(0, ALIAS)),
        gone: None,
    });
    while let Some((id, effect)) = run.effect(|_| true) {
        let outcome = match effect {
            Effect::RunJob { job } => {
                let outcome = does(&job, &mut run.content);
                Outcome::JobEnded { outcome }
            }
            Effect::Measure { .. } => Outcome::Measured {
                result: Done::Ok(*hooked(1, ALIAS)),
            },
            Effect::Release => Outcome::Released {
                left: Vec::new(),
                found: None,
            },
            other => panic!("{other:?}"),
        };
        run.done(id, outcome);
    }
    let End::Failed { failure } = run.state.end().unwrap() else {
        panic!("a run was approved");
    };
    let said = "the hooks moved while the implement job of the creator ran";
    assert_eq!(failure.message, said);
}

/// What moved and was put back before the run lay aside ends it all the same, and that is said by then.
#[test]
fn what_was_put_back_is_said_when_the_run_is_put_aside() {
    let mut run = up_to(world(1), |it| matches!(it, Effect::Measure { .. }));
    run.input(stop(StopCause::Interrupt));
    let (id, _) = run
        .effect(|it| matches!(it, Effect::Measure { .. }))
        .unwrap();
    let result = Done::Ok(*with_alias(1, ALIAS));
    run.done(id, Outcome::Measured { result });
    goes_on(&mut run, None, |_| None);
    let said = run.state.suspended.clone().unwrap().message;
    let ends = "the local configuration moved while jobs ran; whoever resumes it is told what was said until then, and it ends by that";
    assert!(said.contains(ends), "{said}");
    taken_up(&mut run, None, None);
    all_do(&mut run, None);
    assert_eq!(run.state.end().unwrap().exit().code(), 5);
}

/// Of the last allowed round there is no next one: whoever is there when it is put aside is told.
#[test]
fn the_last_allowed_round_that_is_void_is_said_to_be_the_last() {
    for (max_rounds, ends) in [(1, true), (2, false)] {
        let world = World {
            max_rounds,
            ..panel(1)
        };
        let mut run = up_to(world, is_job);
        run.input(stop(StopCause::Interrupt));
        let (id, _) = run.effect(is_job).unwrap();
        run.done(id, interrupted());
        let (id, _) = run.effect(|it| matches!(it, Effect::Release)).unwrap();
        let mut found = with_alias(1, None);
        (found.head_descends, found.pin.tripwire.branch_tip) = (false, oid(206));
        let (left, found) = (Vec::new(), Some(found));
        run.done(id, Outcome::Released { left, found });
        let said = run.state.suspended.clone().unwrap().message;
        assert!(said.contains("the source branch moved while jobs ran"));
        let last = "it is the last one that is allowed; whoever resumes it is told what was said until then, and it ends by that";
        assert_eq!(said.contains(last), ends, "{said}");
        taken_up(&mut run, None, None);
        goes_on(&mut run, None, |_| Some(passes()));
        assert_eq!(is_approved(&run), !ends);
    }
}

fn gone(code: Code) -> Failure {
    Failure::new(code, "what it is about is gone")
}

/// The source with this alias in its configuration, and with a hook.
fn hooked(content: u8, alias: Option<&str>) -> Box<Remeasured> {
    let mut found = with_alias(content, alias);
    found.pin.tripwire.hooks = Digest::of(b"a new hook");
    found
}

/// What a later engine finds is told beside what an earlier one found, and so is what a measurement finds.
#[test]
fn what_moved_around_another_crash_is_told_too() {
    let is_measure = |it: &Effect| matches!(it, Effect::Measure { .. });
    for crashes in [1, 2] {
        let mut run = up_to(panel(1), is_measure);
        taken_up(&mut run, ALIAS, None);
        if crashes == 2 {
            run.input(InputKind::Resume {
                allowed: Allowed::default(),
                ran: None,
                found: Some(hooked(1, None)),
                gone: None,
            });
        }
        let (id, _) = run.effect(is_measure).unwrap();
        let result = Done::Ok(*hooked(1, ALIAS));
        run.done(id, Outcome::Measured { result });
        let RoundResult::Void { tripped, reason } = &run.state.rounds[0].result else {
            panic!("{:?}", run.state.rounds[0].result);
        };
        assert_eq!(tripped, &[Trip::Config, Trip::Hooks]);
        let said = "the local configuration and the hooks moved since the round was pinned, and whether jobs did that is not known";
        assert!(reason.starts_with(said), "{reason}");
    }
}

/// It is told also where another measurement finds nothing of it any more.
#[test]
fn what_was_put_back_after_a_crash_voids_the_round_all_the_same() {
    let mut run = up_to(panel(1), |it| matches!(it, Effect::Measure { .. }));
    for (alias, hook) in [(ALIAS, false), (None, true), (None, false)] {
        let found = if hook {
            hooked(1, alias)
        } else {
            with_alias(1, alias)
        };
        run.input(InputKind::Resume {
            allowed: Allowed::default(),
            ran: None,
            found: Some(found),
            gone: None,
        });
    }
    goes_on(&mut run, None, |_| Some(passes()));
    let RoundResult::Void { tripped, .. } = &run.state.rounds[0].result else {
        panic!("{:?}", run.state.rounds[0].result);
    };
    assert_eq!(tripped, &[Trip::Config, Trip::Hooks]);
    assert!(is_approved(&run));
}

/// 4-46: nobody is asked, or measured, about what nobody can be shown any more; what was said of it is judged,
/// and the next round reviews what is there; what moved in git besides is told with it.
#[test]
fn a_round_of_which_nothing_is_left_is_void() {
    for (code, exit) in [(Code::SourceMoved, 4), (Code::EvidenceFailed, 5)] {
        let results = [
            RoundResult::Stale {
                moved: Vec::new(),
                base_moved: false,
                tripped: vec![Trip::Config],
            },
            RoundResult::Void {
                tripped: vec![Trip::Config],
                reason: "what it is about is gone; the local configuration moved since the round was pinned, and whether jobs did that is not known: the round's approvals are void".to_owned(),
            },
        ];
        let measures = |it: &Effect| matches!(it, Effect::Measure { .. });
        for max_rounds in [1, 2] {
            let world = World {
                max_rounds,
                ..panel(2)
            };
            let asks = up_to(world.clone(), is_job);
            for (mut run, all_said) in [(asks, false), (up_to(world, measures), true)] {
                run.content = 2;
                taken_up(&mut run, ALIAS, Some(gone(code)));
                assert!(run.effect(measures).is_none());
                goes_on(&mut run, ALIAS, |job| match asked(job) {
                    (_, Some(0), _, 1) => Some(refuses("a leak", &[])),
                    (_, _, _, 1) => Some(ended_with(Ended::Interrupted, Reading::Silent)),
                    _ => Some(passes()),
                });
                assert!(results.contains(&run.state.rounds[0].result));
                assert_eq!(run.state.rounds.len(), max_rounds as usize);
                let ended = run.state.end().unwrap().exit().code();
                assert_eq!(ended, if max_rounds == 1 { exit } else { 0 });
                assert_eq!(run.state.findings.is_empty(), all_said);
            }
        }
    }
}

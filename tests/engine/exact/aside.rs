//! What moves in git while a run lies aside is people's; what moves while its jobs run voids the round, and the
//! next one reviews again (4-43, U34).

use std::collections::BTreeMap;

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult, StopCause};
use run_loop::domain::identity::{Remeasured, Trip};
use run_loop::domain::job::{Ended, Job, JobOutcome, Reading};
use run_loop::domain::limits::Allowed;
use run_loop::engine::{InputKind, State};

use crate::delegations::Run;
use crate::exact::{asked, passes, refuses, world};
use crate::orders::stop;
use crate::world::{World, ended_with, interrupted, look};

/// So many reviewers of what is there.
pub fn panel(slots: usize) -> World {
    let mut world = world(slots);
    world.crew = None;
    world.first_content = 1;
    world
}

/// The source with this content, and with this alias in its configuration.
pub fn with_alias(content: u8, alias: Option<&str>) -> Box<Remeasured> {
    let mut found = look(content);
    let tripwire = &mut found.pin.tripwire;
    if let Some(alias) = alias {
        tripwire.config = Digest::of(alias.as_bytes());
    }
    let keys = alias.map(|alias| (format!("alias.{alias}"), "1".to_owned()));
    tripwire.parts.config = Some(BTreeMap::from_iter(keys));
    found
}

/// Performs what is open, with this alias in the configuration, until nothing is left to do.
pub fn goes_on(
    run: &mut Run,
    alias: Option<&str>,
    mut say: impl FnMut(&Job) -> Option<JobOutcome>,
) {
    goes_on_writing(run, alias, |job, _| say(job));
}

/// The same, of jobs that may write the source.
pub fn goes_on_writing(
    run: &mut Run,
    alias: Option<&str>,
    mut say: impl FnMut(&Job, &mut u8) -> Option<JobOutcome>,
) {
    let mut silent = Vec::new();
    loop {
        let wanted = |effect: &Effect| match effect {
            Effect::RunJob { job } => !silent.contains(&job.id),
            _ => true,
        };
        let Some((id, effect)) = run.effect(wanted) else {
            return;
        };
        match effect {
            Effect::RunJob { job } => match say(&job, &mut run.content) {
                Some(outcome) => run.done(id, Outcome::JobEnded { outcome }),
                None => silent.push(job.id),
            },
            Effect::Pin { .. } => {
                let result = Done::Ok(with_alias(run.content, alias).pin);
                run.done(id, Outcome::Pinned { result });
            }
            Effect::Measure { .. } => {
                let result = Done::Ok(*with_alias(run.content, alias));
                run.done(id, Outcome::Measured { result });
            }
            Effect::Release if run.state.is_being_put_aside() => {
                let (left, found) = (Vec::new(), Some(with_alias(run.content, alias)));
                run.done(id, Outcome::Released { left, found });
            }
            _ => assert!(run.perform(|other| *other == effect)),
        }
    }
}

/// The first reviewer passes, and the others have not answered yet.
fn begun(slots: usize) -> Run {
    let mut run = Run::start_in(panel(slots), |_| ());
    goes_on(&mut run, None, |job| (asked(job).1 == Some(0)).then(passes));
    run
}

/// The run is put aside while the second reviewer works, with this alias by then.
fn put_aside(alias: Option<&str>) -> Run {
    let mut run = begun(2);
    run.input(stop(StopCause::Interrupt));
    let (id, _) = run
        .effect(|it| matches!(it, Effect::RunJob { .. }))
        .unwrap();
    run.done(id, interrupted());
    goes_on(&mut run, alias, |_| None);
    assert!(run.state.suspended.is_some());
    run
}

/// Taken up where this alias is found; who was asked from there on, all of whom pass.
fn taken_up(run: &mut Run, alias: Option<&str>) -> Vec<(Option<usize>, u32)> {
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(with_alias(1, alias)),
        gone: None,
    });
    let mut all = Vec::new();
    goes_on(run, alias, |job| {
        let (_, slot, _, round) = asked(job);
        all.push((slot, round));
        Some(passes())
    });
    all
}

pub fn is_approved(run: &Run) -> bool {
    matches!(run.state.end(), Some(End::Approved { .. }))
}

fn first_round(run: &Run) -> &RoundResult {
    &run.state.rounds[0].result
}

#[test]
fn what_people_do_to_git_while_it_lies_aside_voids_nothing() {
    let mut run = put_aside(None);
    let now = with_alias(1, Some("st"));
    let told = run.state.moved_aside(&now);
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["the local configuration (alias.st)"]);
    assert_eq!(taken_up(&mut run, Some("st")), [(Some(1), 1)]);
    assert!(is_approved(&run));
}

/// It is said when the run is put aside, and nobody is asked from there on: no other round begins with what jobs
/// rewired, however the run came to lie aside.
#[test]
fn what_moves_while_jobs_run_voids_the_round_and_ends_the_run() {
    let mut run = put_aside(Some("st"));
    let said = run.state.suspended.clone().unwrap().message;
    let moved = "the local configuration (alias.st) moved while jobs ran: what passed";
    assert!(said.contains(moved), "{said}");
    assert!(said.contains("it ends by that"), "{said}");
    assert_eq!(taken_up(&mut run, Some("st")), []);
    let RoundResult::Void { tripped, reason } = first_round(&run) else {
        panic!("{:?}", first_round(&run));
    };
    assert_eq!(tripped, &[Trip::Config]);
    assert!(
        reason.contains("(alias.st) moved while jobs ran"),
        "{reason}"
    );
    let end = run.state.end().unwrap();
    let End::Failed { failure } = end else {
        panic!("{end:?}");
    };
    assert_eq!(
        (failure.code, &failure.message),
        (Code::TripwireMoved, reason)
    );
    assert_eq!(end.exit().code(), 5);
}

/// Also where it was made as before again.
#[test]
fn what_was_put_back_moved_all_the_same() {
    let mut run = put_aside(Some("st"));
    assert_eq!(taken_up(&mut run, None), []);
    assert_eq!(run.state.end().unwrap().exit().code(), 5);
}

/// It is not known who moved it; what a job handed over to a dead engine is judged before the round closes.
#[test]
fn after_a_crash_the_round_is_void_and_no_claim_vanishes() {
    for (slots, all_said) in [(2, true), (3, false)] {
        let mut run = begun(slots);
        run.input(InputKind::Resume {
            allowed: Allowed::default(),
            ran: None,
            found: Some(with_alias(1, Some("st"))),
            gone: None,
        });
        let (mut later, mut again) = (Vec::new(), false);
        goes_on(&mut run, Some("st"), |job| {
            let (_, slot, _, round) = asked(job);
            if round > 1 {
                later.push(slot);
            }
            Some(match (slot, round) {
                (Some(1), 1) => refuses("a leak", &[]),
                (Some(2), 1) if !std::mem::replace(&mut again, true) => {
                    ended_with(Ended::Interrupted, Reading::Silent)
                }
                _ => passes(),
            })
        });
        assert_eq!(run.state.findings[0].claim.title, "a leak high");
        assert!(!is_approved(&run), "a finding stands");
        let first = &run.state.rounds[0];
        assert!(first.is_void());
        if all_said {
            let tripped = vec![Trip::Config];
            assert_eq!(first.result, RoundResult::NotPassed { tripped });
        } else {
            assert!(matches!(first.result, RoundResult::Void { .. }));
            assert_eq!(later, [Some(0), Some(1), Some(2)]);
        }
    }
}

/// Of the last allowed round there is no next one.
#[test]
fn the_last_allowed_round_that_is_void_ends_the_run() {
    let mut run = Run::start_in(
        World {
            max_rounds: 1,
            ..panel(2)
        },
        |_| (),
    );
    goes_on(&mut run, None, |job| (asked(job).1 == Some(0)).then(passes));
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(with_alias(1, Some("st"))),
        gone: None,
    });
    // Who is asked again all the same passes.
    let mut begun = vec![ended_with(Ended::Interrupted, Reading::Silent)];
    goes_on(&mut run, Some("st"), |_| {
        Some(begun.pop().unwrap_or_else(passes))
    });
    let end = run.state.end().unwrap();
    assert_eq!(end.exit().code(), 5);
    let End::Failed { failure } = end else {
        panic!("{end:?}");
    };
    let said =
        "(alias.st) moved since the round was pinned, and whether jobs did that is not known";
    assert!(failure.message.contains(said), "{}", failure.message);
}

/// Whatever the engine that puts it aside came to, the run passes when it is taken up, unless it is known that
/// jobs moved something: in the round that it was in where it is known that nobody did, else in the next one.
#[test]
fn every_prefix_of_a_run_that_is_put_aside_comes_to_its_end() {
    for (at_end, found) in [(None, None), (None, Some("st")), (Some("st"), Some("st"))] {
        let whole = put_aside(at_end).journal;
        let looked = |event: &Event| matches!(event, Event::EffectDone { outcome, .. } if matches!(**outcome, Outcome::Released { .. }));
        for cut in 1..=whole.len() {
            let journal = whole[..cut].to_vec();
            let mut again = Run {
                world: panel(2),
                state: State::replay(&journal),
                clock: 1_000_000,
                content: 1,
                journal,
            };
            let was_asked = again.state.review().is_some();
            let is_clear = at_end.is_none() && again.journal.iter().any(looked);
            taken_up(&mut again, found);
            if at_end.is_some() && again.journal[..cut].iter().any(looked) {
                assert_eq!(again.state.end().unwrap().exit().code(), 5, "cut {cut}");
                continue;
            }
            assert!(is_approved(&again), "cut {cut}");
            let rounds = if found.is_none() || is_clear || !was_asked {
                1
            } else {
                2
            };
            assert_eq!(
                again.state.rounds.len(),
                rounds,
                "cut {cut}: {at_end:?}, {found:?}"
            );
        }
    }
}

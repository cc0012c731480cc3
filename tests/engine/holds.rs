//! A round waits for what was delegated while the change was written, within its bounds, and
//! reviewers are told of the rest.

use std::collections::BTreeMap;

use run_loop::domain::delegation::{Closed, JobRequest};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::{Event, StopCause};
use run_loop::domain::id::{EffectId, JobId, MessageId};
use run_loop::domain::isolation::EvidenceKind;
use run_loop::domain::job::{Ended, Job, JobOutcome, Reading, Role};
use run_loop::domain::limits::Allowed;
use run_loop::domain::slot::SlotName;
use run_loop::domain::time::Timestamp;
use run_loop::engine::{InputKind, State, advance, fold};

use crate::delegations::{Run, limited_dispatch, submission, world};
use crate::orders::{resume, stop};
use crate::world::{Answer, Motion, World, delegated, stamp};

/// A run whose first round is void, with an open job that nobody is the parent of.
fn void_round(wait: bool) -> (Run, JobId) {
    let mut world = world();
    world.motions = vec![
        (Motion::Content(2), Motion::Still),
        (Motion::Still, Motion::Still),
    ];
    let run = Run::start_in(world, |spec| spec.wait_open_jobs = wait);
    let (mut run, _) = run.until_asked();
    let job = run.submit(None, None).unwrap();
    let others =
        |effect: &Effect| !matches!(effect, Effect::Delegate { .. } | Effect::AwaitJobs { .. });
    while run.state.rounds.is_empty() {
        assert!(run.perform(others));
    }
    (run, job)
}

fn rounds(run: &Run) -> usize {
    let opened = |event: &&Event| matches!(event, Event::RoundOpened { .. });
    run.journal.iter().filter(opened).count()
}

fn wait(run: &Run) -> Option<(EffectId, Effect)> {
    run.effect(|effect| matches!(effect, Effect::AwaitJobs { .. }))
}

/// T-117: `--wait-open-jobs` also waits for jobs without a parent; the wait ends with them.
#[test]
fn a_round_waits_for_open_jobs_where_it_is_told_to() {
    let (run, _) = void_round(false);
    assert_eq!((rounds(&run), wait(&run)), (2, None));
    let (mut run, job) = void_round(true);
    assert_eq!(rounds(&run), 1);
    assert!(wait(&run).is_some());
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!((rounds(&run), wait(&run)), (2, None));
}

/// A run whose one round passed, with an open job that a person asked for.
fn passed() -> (Run, JobId) {
    reviewed(world())
}

/// A run that has nothing left to do, with such a job.
fn reviewed(world: World) -> (Run, JobId) {
    let (mut run, _) = Run::start_in(world, |_| ()).until_asked();
    let job = run.submit(None, None).unwrap();
    let others =
        |effect: &Effect| !matches!(effect, Effect::Delegate { .. } | Effect::AwaitJobs { .. });
    while run.perform(others) {}
    (run, job)
}

/// 4-37: what a person asked for is not lost with the loop that it runs beside: the end waits for it, within the
/// bound, and not where somebody stops the run.
#[test]
fn a_run_waits_for_a_persons_job_before_it_ends() {
    let over = |run: &mut Run| {
        while run.perform(|effect| matches!(effect, Effect::Release)) {}
        assert_eq!(run.state.end().unwrap().exit().code(), 0);
    };
    let (mut run, job) = passed();
    assert!(run.state.promotion.is_some() && wait(&run).is_some());
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    over(&mut run);
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));

    let (mut run, job) = passed();
    let (id, effect) = wait(&run).unwrap();
    let at = run.state.stamp.unwrap().at;
    assert!(matches!(effect, Effect::AwaitJobs { until, .. } if until <= at.plus_seconds(360)));
    run.done(id, Outcome::JobsAwaited);
    run.ends(job, delegated(Ended::Interrupted, false));
    over(&mut run);
    assert_eq!(run.closed(job), Some(&Closed::with_its_run()));

    let (mut run, job) = passed();
    run.input(stop(StopCause::Interrupt));
    assert!(wait(&run).is_none());
    run.ends(job, delegated(Ended::Interrupted, false));
    over(&mut run);
    assert_eq!(run.closed(job), Some(&Closed::with_its_run()));
}

/// The engine of this run died, and another one takes it up when what was waited until is past: the job is
/// waited for anew, and an answer for the wait before counts for nothing.
fn taken_up_late(run: &mut Run) {
    let (before, effect) = wait(run).unwrap();
    let Effect::AwaitJobs { until, .. } = effect else {
        unreachable!()
    };
    run.clock = u64::try_from(until.as_millis()).unwrap() + 1;
    run.input(resume());
    let (id, effect) = wait(run).unwrap();
    let Effect::AwaitJobs { until: anew, .. } = effect else {
        unreachable!()
    };
    assert!(id != before && anew > until.plus_seconds(300), "{effect:?}");
    run.done(before, Outcome::JobsAwaited);
    assert_eq!(wait(run).unwrap().0, id);
}

/// 4-37: who takes a run up that waits at its end waits as long as ever: what a person asked for began anew.
#[test]
fn a_persons_job_is_waited_for_anew_by_the_next_engine() {
    let (mut run, job) = passed();
    taken_up_late(&mut run);
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
    assert_eq!(run.into_end().unwrap().exit().code(), 0);
}

/// 4-37: a run that did not pass and waits so can be put aside as ever: who takes it up waits for what began anew,
/// and is told the verdict.
#[test]
fn a_run_that_did_not_pass_keeps_its_verdict_while_it_lies_aside() {
    let mut world = world();
    world.max_rounds = 1;
    world.slots[0].answers = vec![Answer::NotPass];
    let (mut run, job) = reviewed(world);
    taken_up_late(&mut run);
    run.input(stop(StopCause::Interrupt));
    run.ends(job, delegated(Ended::Interrupted, false));
    while run.perform(|_| true) {}
    let aside = run.state.suspended.as_ref().unwrap();
    assert_eq!(aside.code.exit().code(), 130);
    run.input(resume());
    assert!(wait(&run).is_some());
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert!(matches!(run.closed(job), Some(Closed::Completed { .. })));
    assert_eq!(run.into_end().unwrap().exit().code(), 1);
}

/// T-101, T-110, T-118: the bound is the budget and 300 s more; what is open then is told, and is
/// not waited for again.
#[test]
fn the_wait_is_bounded_and_not_paid_again() {
    let (mut run, job) = void_round(true);
    let (id, effect) = wait(&run).unwrap();
    let Effect::AwaitJobs { jobs, until } = effect else {
        unreachable!()
    };
    assert_eq!(jobs, [job]);
    let at = run.state.stamp.unwrap().at;
    assert!(until <= at.plus_seconds(60 + 300) && until > at.plus_seconds(60 + 299));
    run.done(id, Outcome::JobsAwaited);
    assert_eq!((rounds(&run), wait(&run)), (2, None));
    assert_eq!(run.state.sub_jobs().unattributed, [job]);
    assert!(run.state.awaited.contains(&job));
}

/// A wait that was cut short since a job met a limit has not been paid: the run is parked, and waits
/// again when it goes on (issue 4.7).
#[test]
fn a_round_waits_again_for_a_job_that_met_a_limit() {
    let (mut run, job) = void_round(true);
    run.ends(job, limited_dispatch(7200));
    assert!(run.state.parking.is_some());
    while run.perform(|_| true) {}
    assert!(run.state.suspended.is_some());
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: None,
        gone: None,
    });
    assert_eq!((rounds(&run), run.fence(job).attempt), (1, 2));
    assert!(wait(&run).is_some());
    run.ends(job, delegated(Ended::Exited { code: 0 }, true));
    assert_eq!(rounds(&run), 2);
}

/// A run before its first round whose creator was asked and delegated these jobs.
fn written(jobs: usize) -> (State, Vec<JobId>) {
    let mut state = State::default();
    let spec = Box::new(world().spec());
    fold(
        &mut state,
        &Event::RunStarted {
            stamp: stamp(1),
            spec,
        },
    );
    writes(&mut state, Role::Implement, jobs);
    let ids = state.delegations.keys().copied().collect();
    (state, ids)
}

/// A creator is asked, delegates these jobs and is done.
fn writes(state: &mut State, role: Role, jobs: usize) {
    let first = 2 + 200 * (state.jobs.len() as u64);
    let own = EffectId(state.requested + 1);
    let asked = Job {
        id: JobId::mint(&stamp(first), "writer"),
        role,
        round: run_loop::domain::id::RoundNumber(1),
        slot: SlotName::creator(),
        rank: 0,
        reason: run_loop::domain::job::AttemptReason::First,
        attempt: 1,
        nonce: "0123456789abcdef".to_owned(),
        evidence: EvidenceKind::SourceTree,
        deadline: Timestamp::from_millis(10),
        budget: 60,
        session: run_loop::domain::job::SessionUse::New,
    };
    let parent = asked.id;
    let effect = Box::new(Effect::RunJob { job: asked });
    fold(state, &Event::EffectRequested { id: own, effect });
    for number in 0..jobs {
        let stamp = stamp(first + 8 + number as u64);
        fold(
            state,
            &Event::JobRequested {
                stamp,
                message: MessageId::mint(&stamp, "message"),
                from: None,
                request: Box::new(JobRequest::Submit {
                    submission: Box::new(submission(Some(parent))),
                }),
            },
        );
        let dispatched = advance(state).unwrap();
        fold(state, &dispatched);
    }
    fold(
        state,
        &Event::EffectDone {
            stamp: stamp(first + 98),
            effect: own,
            outcome: Box::new(Outcome::JobEnded {
                outcome: JobOutcome {
                    ended: Ended::Exited { code: 0 },
                    report: None,
                    prompt: None,
                    stderr: None,
                    reading: Reading::Silent,
                    spent: run_loop::domain::spent::Spent::default(),
                    confinement: run_loop::domain::confinement::Confinement::None,
                    started_at: Timestamp::from_millis(0),
                    ended_at: Timestamp::from_millis(1),
                    outlived: Vec::new(),
                },
            }),
        },
    );
}

/// T-017's first half, T-110: what a writer delegated goes on after it, in the source, and the
/// next round waits for it.
#[test]
fn a_round_waits_for_what_a_writer_delegated() {
    let (mut state, jobs) = written(2);
    let Some(Event::EffectRequested { id, effect }) = advance(&state) else {
        panic!("the round does not wait")
    };
    let Effect::AwaitJobs { jobs: awaited, .. } = &*effect else {
        panic!("{effect:?}")
    };
    assert_eq!(*awaited, jobs);
    assert_eq!(state.directory_of(jobs[0]).as_deref(), Some("/source"));
    fold(&mut state, &Event::EffectRequested { id, effect });
    assert_eq!(advance(&state), None);
}

/// T-105, T-111, T-112, T-113, T-116: the states of the table, with the reason by its first word.
#[test]
fn reviewers_are_told_how_each_sub_job_stands() {
    let (mut state, jobs) = written(6);
    let close = |state: &mut State, job, closed| {
        fold(state, &Event::JobClosed { job, closed });
    };
    let error = |reason: &str| Closed::Error {
        reason: reason.to_owned(),
    };
    let outcomes: BTreeMap<usize, Closed> = [
        (1, error("agent_blocked: no `permission`\u{7}")),
        (2, error("")),
        (3, error("not_started: no program")),
        (4, error("exited with 1")),
        (
            5,
            Closed::Completed {
                detail: String::new(),
            },
        ),
    ]
    .into();
    for (index, closed) in outcomes {
        close(&mut state, jobs[index], closed);
        let effect = *state
            .open
            .iter()
            .find(|(_, it)| matches!(it, Effect::Delegate { dispatch } if dispatch.job == jobs[index]))
            .unwrap()
            .0;
        fold(
            &mut state,
            &Event::EffectDone {
                stamp: stamp(200 + index as u64),
                effect,
                outcome: Box::new(delegated(Ended::Exited { code: 0 }, true)),
            },
        );
    }
    let told = state.sub_jobs();
    let words: Vec<&str> = told.rows.iter().map(|row| row.state).collect();
    let expected = [
        "OPEN",
        "CLOSED-UNCONFIRMED",
        "CLOSED-UNCONFIRMED",
        "NOT-DISPATCHED",
        "error",
        "completed",
    ];
    assert_eq!(words, expected);
    assert_eq!(told.unconfirmed, 2);
    // What an agent wrote is no markup in a prompt.
    assert_eq!(told.rows[1].reason, "agent_blocked: no ?permission??");
    let table = run_loop::contract::delegation::table(&[], &told).unwrap();
    assert_eq!(table.matches("\n| ").count(), 7, "{table}");
    assert!(
        table.contains("2 of them were closed without their own word"),
        "{table}"
    );
    assert!(!table.contains("The rule for them"), "{table}");
    let nothing = run_loop::contract::delegation::table(&[], &State::default().sub_jobs());
    assert_eq!(nothing.unwrap(), "");
    let mut alone = told;
    alone.rows.clear();
    alone.unattributed.push(jobs[0]);
    let table = run_loop::contract::delegation::table(&[], &alone).unwrap();
    assert!(
        table.contains(&jobs[0].to_string()) && table.contains("The rule for them"),
        "{table}"
    );
}

/// The table's row of a job: its state and the reason.
fn row(state: &State, job: JobId) -> (&'static str, String) {
    let told = state.sub_jobs();
    let row = told.rows.iter().find(|row| row.job == job).unwrap();
    (row.state, row.reason.clone())
}

/// T-111, M-131: a job that its budget, a question or nobody's word closed may still be writing: it
/// counts as unconfirmed, with a warning.
#[test]
fn a_job_that_did_not_say_its_end_is_unconfirmed() {
    let reasons = [
        "wall_clock_timeout",
        "agent_blocked: may I?",
        "",
        "exited with 1",
    ];
    let (mut state, jobs) = written(reasons.len());
    for (job, reason) in jobs.iter().zip(reasons) {
        let (effect, _) = state
            .open_effects()
            .find(|(_, it)| matches!(it, Effect::Delegate { dispatch } if dispatch.job == *job))
            .unwrap();
        let closed = Closed::Error {
            reason: reason.to_owned(),
        };
        fold(&mut state, &Event::JobClosed { job: *job, closed });
        let outcome = Box::new(delegated(Ended::Exited { code: 1 }, false));
        let stamp = stamp(300);
        fold(
            &mut state,
            &Event::EffectDone {
                stamp,
                effect,
                outcome,
            },
        );
    }
    let words: Vec<_> = jobs.iter().map(|job| row(&state, *job).0).collect();
    assert_eq!(words[..3], ["CLOSED-UNCONFIRMED"; 3]);
    assert_eq!(words[3], "error");
    assert_eq!(state.sub_jobs().unconfirmed, 3);
    let table = run_loop::contract::delegation::table(&[], &state.sub_jobs()).unwrap();
    assert!(
        table.contains("3 of them were closed without their own word"),
        "{table}"
    );
}

/// T-112, M-109, M-110: a job that was cancelled before anybody was asked is told so, with the reason.
#[test]
fn a_job_that_was_cancelled_before_its_dispatch_is_told_with_the_reason() {
    let (mut state, jobs) = written(1);
    let parent = state.delegations[&jobs[0]].submission.parent;
    let mut ask = |at: u64, request: JobRequest| {
        let stamp = stamp(at);
        fold(
            &mut state,
            &Event::JobRequested {
                stamp,
                message: MessageId::mint(&stamp, "message"),
                from: None,
                request: Box::new(request),
            },
        );
    };
    let submission = Box::new(submission(parent));
    ask(150, JobRequest::Submit { submission });
    let job = JobId::mint(
        &stamp(150),
        &format!(
            "job delegated by {}",
            MessageId::mint(&stamp(150), "message")
        ),
    );
    let reason = "session_busy: `try` later".to_owned();
    ask(151, JobRequest::Cancel { job, reason });
    // The one that was dispatched is another matter.
    let reason = "asked".to_owned();
    ask(
        152,
        JobRequest::Cancel {
            job: jobs[0],
            reason,
        },
    );
    let told = ("NOT-DISPATCHED", "session_busy: ?try? later".to_owned());
    assert_eq!(row(&state, job), told);
    assert_eq!(row(&state, jobs[0]).0, "OPEN");
    assert_eq!(state.sub_jobs().unconfirmed, 0);
}

/// T-113: what the implementation delegated is told as long as the run goes on, also after a correction
/// with jobs of its own.
#[test]
fn an_earlier_steps_jobs_stay_in_the_table() {
    let (mut state, first) = written(1);
    writes(&mut state, Role::Correct, 1);
    let told = state.sub_jobs();
    let rows: Vec<_> = told.rows.iter().map(|row| (row.job, row.state)).collect();
    let second = *state
        .delegations
        .keys()
        .find(|job| **job != first[0])
        .unwrap();
    assert_eq!(rows, [(first[0], "OPEN"), (second, "OPEN")]);
    let table = run_loop::contract::delegation::table(&[], &told).unwrap();
    for job in [first[0], second] {
        assert!(table.contains(&format!("| {job} |")), "{table}");
    }
}

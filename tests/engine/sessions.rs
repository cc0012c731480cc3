//! Which session of its program a job continues (rows A-022, A-023, scenarios T-063, T-064): that
//! of its own position, in the same folder, as long as every job of it ended well.

use run_loop::config::profiles;
use run_loop::domain::agent::{Agent, AgentKind, ProfileAgent};
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Settlement;
use run_loop::domain::id::EffectId;
use run_loop::domain::job::{
    Answer as Answered, AnswerAction, AttemptReason, Ended, Job, JobOutcome, Reading, Reply, Role,
    SessionUse,
};
use run_loop::domain::run_spec::RunSpec;
use run_loop::domain::spent::Usage;
use run_loop::domain::trouble::Trouble;

use crate::delegations::{Run, world};
use crate::world::{Answer, Arbiter, Crew, Deed, Planned, answered};

pub fn program(agent: &mut Agent) {
    agent.kind = AgentKind::Profile(Box::new(ProfileAgent {
        confine: false,
        profile: profiles::embedded("claude").unwrap().unwrap(),
        program: "/claude".to_owned(),
        args: Vec::new(),
        model: None,
        effort: None,
        env: Vec::new(),
    }));
}

/// Two slots of one program, with a creator of it where one is asked for.
fn start(creator: bool) -> Run {
    let mut world = world();
    world.slots.push(world.slots[0].clone());
    world.max_parallel = 1;
    world.max_rounds = 3;
    if creator {
        world.crew = Some(Crew {
            own_work: false,
            review_only: true,
            planner: false,
            planned: Planned::Nobody,
            objects: false,
            arbiter: Arbiter::Nobody,
            deeds: vec![Deed::Answers],
            writes: vec![None],
            motions: Vec::new(),
            loses: Vec::new(),
            mood: 0,
        });
    }
    Run::start_in(world, |spec: &mut RunSpec| {
        for slot in &mut spec.panel {
            program(&mut slot.agent);
        }
        spec.creator.iter_mut().for_each(program);
    })
}

/// The next job, everything else done as the world does it.
fn asked(run: &mut Run) -> (EffectId, Job) {
    loop {
        if let Some((id, Effect::RunJob { job })) =
            run.effect(|effect| matches!(effect, Effect::RunJob { .. }))
        {
            return (id, job);
        }
        assert!(
            run.perform(|_| true),
            "nobody is asked: {:?}",
            run.state.phase
        );
    }
}

/// A job comes back so, out of this session.
fn ends(run: &mut Run, id: EffectId, job: &Job, session: &str, mut outcome: JobOutcome) {
    outcome.spent.session = Some(session.to_owned());
    outcome.spent.directory = Some(if job.role.writes() {
        "/source".to_owned()
    } else {
        format!("/trees/{}", job.slot)
    });
    outcome.spent.usage = Some(Usage {
        input: Some(10),
        ..Usage::default()
    });
    run.done(id, Outcome::JobEnded { outcome });
}

fn invalid() -> JobOutcome {
    answered(Answer::Invalid, "a")
}

fn lost(trouble: Trouble) -> JobOutcome {
    let mut lost = answered(Answer::Silent, "a");
    lost.ended = Ended::Failed {
        code: 1,
        trouble,
        message: "as scripted".to_owned(),
    };
    lost
}

fn settlement(run: &Run, slot: &str) -> Option<Settlement> {
    let review = run.state.review()?;
    let place = review
        .slots
        .iter()
        .find(|(name, _)| name.as_str() == slot)?;
    place.1.settlement().cloned()
}

fn continues(id: &str, from: &Job) -> SessionUse {
    SessionUse::Continues {
        id: id.to_owned(),
        from: from.id,
    }
}

#[test]
fn a_re_ask_goes_on_in_its_own_session_and_in_no_other() {
    let mut run = start(false);
    let (id, first) = asked(&mut run);
    assert_eq!(first.session, SessionUse::New);
    ends(&mut run, id, &first, "s-1", invalid());
    let (id, again) = asked(&mut run);
    assert_eq!(
        (&again.slot, &again.session),
        (&first.slot, &continues("s-1", &first))
    );
    assert_ne!(again.nonce, first.nonce);
    assert_eq!(
        run.state.used_before(&again).unwrap().usage.unwrap().input,
        Some(10)
    );
    // Still no verdict: continuing buys no attempt.
    ends(&mut run, id, &again, "s-1", invalid());
    assert!(matches!(
        settlement(&run, "slot-0"),
        Some(Settlement::NoVerdict { .. })
    ));
    let (id, other) = asked(&mut run);
    assert_eq!(
        (other.slot.as_str(), &other.session),
        ("slot-1", &SessionUse::New)
    );
    // It says that it is in the session of the slot beside it, and is believed in that alone.
    ends(&mut run, id, &other, "s-2", invalid());
    let (_, again) = asked(&mut run);
    assert_eq!(again.session, continues("s-2", &other));
}

#[test]
fn a_session_that_is_gone_is_replaced_once() {
    for trouble in [Trouble::Session, Trouble::Request, Trouble::Unknown] {
        let mut run = start(false);
        let (id, first) = asked(&mut run);
        ends(&mut run, id, &first, "s-1", invalid());
        let (id, again) = asked(&mut run);
        run.done(
            id,
            Outcome::JobEnded {
                outcome: lost(trouble),
            },
        );
        let (id, fresh) = asked(&mut run);
        assert_eq!(fresh.session, SessionUse::Replaces { from: first.id });
        assert_eq!(fresh.reason, again.reason);
        assert!(matches!(fresh.reason, AttemptReason::ReAsk { .. }));
        // The one re-ask was not spent on the session; it is now.
        ends(&mut run, id, &fresh, "s-3", invalid());
        assert!(matches!(
            settlement(&run, "slot-0"),
            Some(Settlement::NoVerdict { .. })
        ));
    }
}

/// What ended well did its work: that its answer could not be kept is no fault of its session.
#[test]
fn a_job_that_ended_well_is_not_asked_again_in_another_session() {
    let mut run = start(false);
    let (id, first) = asked(&mut run);
    ends(&mut run, id, &first, "s-1", invalid());
    let (id, _) = asked(&mut run);
    let mut outcome = lost(Trouble::Unknown);
    if let Ended::Failed { code, .. } = &mut outcome.ended {
        *code = 0;
    }
    run.done(id, Outcome::JobEnded { outcome });
    let (_, next) = asked(&mut run);
    assert_eq!(
        (next.session, next.reason),
        (SessionUse::New, AttemptReason::Fresh)
    );
}

#[test]
fn a_replaced_session_can_pass() {
    let mut run = start(false);
    let (id, first) = asked(&mut run);
    ends(&mut run, id, &first, "s-1", invalid());
    let (id, _) = asked(&mut run);
    run.done(
        id,
        Outcome::JobEnded {
            outcome: lost(Trouble::Session),
        },
    );
    let (id, fresh) = asked(&mut run);
    ends(&mut run, id, &fresh, "s-3", answered(Answer::Pass, "a"));
    assert!(matches!(
        settlement(&run, "slot-0"),
        Some(Settlement::Passed { .. })
    ));
}

#[test]
fn what_does_not_fit_is_not_continued() {
    let not_continued = |change: &dyn Fn(&mut JobOutcome)| {
        let mut run = start(false);
        let (id, first) = asked(&mut run);
        let mut outcome = invalid();
        outcome.spent.session = Some("s-1".to_owned());
        outcome.spent.directory = Some("/trees/slot-0".to_owned());
        change(&mut outcome);
        run.done(id, Outcome::JobEnded { outcome });
        let (_, again) = asked(&mut run);
        assert_eq!(
            (&again.slot, &again.session),
            (&first.slot, &SessionUse::New)
        );
    };
    // Another folder, none that is known, no session, and what would pass for an option.
    not_continued(&|outcome| outcome.spent.directory = Some("/trees/slot-1".to_owned()));
    not_continued(&|outcome| outcome.spent.directory = None);
    not_continued(&|outcome| outcome.spent.session = None);
    not_continued(&|outcome| outcome.spent.session = Some("--yolo".to_owned()));
    not_continued(&|outcome| outcome.spent.session = Some("a b".to_owned()));
    // A failure on the way is tried afresh.
    not_continued(&|outcome| outcome.ended = Ended::Signalled { signal: 9 });
}

#[test]
fn an_interrupted_job_leaves_its_session() {
    let mut run = start(false);
    let (id, first) = asked(&mut run);
    ends(&mut run, id, &first, "s-1", invalid());
    let (id, _) = asked(&mut run);
    run.done(id, crate::world::interrupted());
    let (_, again) = asked(&mut run);
    assert_eq!(again.session, SessionUse::Replaces { from: first.id });
}

#[test]
fn a_creator_and_a_disputing_reviewer_go_on_in_theirs() {
    let mut run = start(true);
    let (id, review) = asked(&mut run);
    ends(&mut run, id, &review, "s-r", answered(Answer::NotPass, "a"));
    let (id, other) = asked(&mut run);
    ends(&mut run, id, &other, "s-o", answered(Answer::Pass, "b"));
    // Nothing was implemented here, so the first correction begins a session.
    let (id, correct) = asked(&mut run);
    assert_eq!(
        (correct.role, &correct.session),
        (Role::Correct, &SessionUse::New)
    );
    let answers = run
        .state
        .findings
        .iter()
        .map(|finding| Answered {
            finding: finding.id,
            action: AnswerAction::Refuted,
            note: "it is not so".to_owned(),
        })
        .collect();
    let mut refuted = answered(Answer::Silent, "a");
    refuted.reading = Reading::Reply {
        reply: Reply::Answers { answers },
    };
    // It changed something all the same.
    run.content = 2;
    ends(&mut run, id, &correct, "s-c", refuted);
    let (id, rules) = asked(&mut run);
    assert_eq!(rules.role, Role::Readjudicate);
    assert_eq!(rules.session, continues("s-r", &review));
    // It is gone: asked anew, once.
    run.done(
        id,
        Outcome::JobEnded {
            outcome: lost(Trouble::Session),
        },
    );
    let (id, anew) = asked(&mut run);
    assert_eq!(
        (anew.role, anew.session),
        (Role::Readjudicate, SessionUse::Replaces { from: review.id })
    );
    run.done(
        id,
        Outcome::JobEnded {
            outcome: lost(Trouble::Session),
        },
    );
    // Round 2 reviews in new sessions, and its correction goes on in the creator's.
    let mut next = asked(&mut run);
    while next.1.role == Role::Review {
        assert_eq!(next.1.session, SessionUse::New);
        let answer = if next.1.slot == review.slot {
            Answer::NotPass
        } else {
            Answer::Pass
        };
        ends(&mut run, next.0, &next.1, "s-n", answered(answer, "c"));
        next = asked(&mut run);
    }
    assert_eq!(next.1.session, continues("s-c", &correct));
}

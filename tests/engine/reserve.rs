//! What is kept of the money for rulings: whoever may still rule is waited for, and it is said how
//! much of it there is (K07).

use run_loop::domain::code::Code;
use run_loop::domain::effect::{Effect, Outcome};
use run_loop::domain::event::Event;
use run_loop::domain::failure::Failure;
use run_loop::domain::job::{Ended, Role};
use run_loop::domain::trouble::Trouble;

use crate::delegations::Run;
use crate::trees::crew;
use crate::world::World;

const ALL: u64 = 1_000;

fn world(mood: u64, wait: bool) -> World {
    let mut world = crew(mood);
    world.limits.max_cost_micro_usd = Some(ALL);
    world.limits.wait = wait;
    let crew = world.crew.as_mut().unwrap();
    crew.writes = (1..=10).map(Some).collect();
    world
}

/// Drives a run until one of these roles is asked, who costs this and ends so; false where nobody is.
fn until(run: &mut Run, roles: &[Role], cost: u64, ended: Option<Ended>) -> bool {
    loop {
        let found = run.effect(|effect| match effect {
            Effect::RunJob { job } => roles.contains(&job.role),
            _ => false,
        });
        let Some((id, effect)) = found else {
            if run.perform(|_| true) {
                continue;
            }
            return false;
        };
        let findings = run.state.findings.clone();
        let mut outcome = run.world.perform(&effect, &mut run.content, &findings);
        if let Outcome::JobEnded { outcome } = &mut outcome {
            outcome.spent.cost_micro_usd = Some(cost);
            if let Some(ended) = ended {
                outcome.ended = ended;
            }
        }
        run.done(id, outcome);
        return true;
    }
}

fn parked(run: &Run) -> Option<Failure> {
    run.journal.iter().rev().find_map(|event| match event {
        Event::RunParking { failure, .. } => Some(failure.clone()),
        _ => None,
    })
}

fn limited() -> Ended {
    Ended::Failed {
        code: 1,
        trouble: Trouble::RateLimit,
        message: "as scripted".to_owned(),
    }
}

/// The reserve is there for exactly this ruling: its limit is waited for, or the run lies until then.
#[test]
fn a_ruling_at_a_limit_is_waited_for() {
    let rulings = [Role::Readjudicate, Role::Arbitrate];
    let mut seen = 0;
    for mood in 0..10 {
        for (cost, wait, code) in [
            (950, false, Some(Code::Parked)),
            (950, true, None),
            (1_000, false, Some(Code::MoneySpent)),
        ] {
            let mut run = Run::start_in(world(mood, wait), |_| ());
            if !until(&mut run, &rulings, cost, Some(limited())) {
                continue;
            }
            seen += 1;
            let failure = parked(&run);
            assert_eq!(failure.map(|it| it.code), code, "mood {mood}, cost {cost}");
            let waits = run.effect(Effect::is_timer).is_some();
            assert_eq!(waits, code.is_none(), "mood {mood}, cost {cost}");
        }
    }
    assert!(seen > 0, "nobody was asked to rule");
}

/// K07: reviewers that are asked side by side do not eat what is kept for rulings once it is known what
/// one costs: two of three are asked, and the third where more may be spent.
#[test]
fn what_runs_already_leaves_the_reserve() {
    let mut world = world(0, false);
    let slot = world.slots[0].clone();
    world.slots = vec![slot; 3];
    let mut run = Run::start_in(world, |_| ());
    assert!(until(&mut run, &[Role::Implement], 300, None));
    for _ in 0..3 {
        assert!(until(&mut run, &[Role::Review], 100, None));
    }
    assert!(until(&mut run, &[Role::Correct], 100, None));
    assert_eq!(run.state.cost_told(), 700);
    let reviews =
        |effect: &Effect| matches!(effect, Effect::RunJob { job } if job.role == Role::Review);
    while run.perform(|effect| !reviews(effect)) {}
    let open = run.state.open_effects();
    let asked = open.filter(|(_, effect)| reviews(effect)).count();
    assert_eq!(asked, 2);
    for _ in 0..2 {
        assert!(until(&mut run, &[Role::Review], 100, None));
    }
    assert_eq!(run.state.cost_told(), 900);
    let failure = parked(&run).unwrap();
    assert_eq!(failure.code, Code::MoneySpent);
    let kept = "of which 0.0001 are kept for rulings";
    assert!(failure.message.contains(kept), "{}", failure.message);
}

/// The command that lets it go on names enough for the job that was held.
#[test]
fn what_is_named_to_go_on_is_enough_for_what_was_held() {
    let mut run = Run::start_in(world(0, false), |_| ());
    assert!(until(&mut run, &[Role::Implement], 10, None));
    assert!(until(&mut run, &[Role::Review], 880, None));
    assert!(until(&mut run, &[Role::Correct], 5, None));
    while run.perform(|_| true) {}
    let failure = parked(&run).unwrap();
    let says = "a review job has cost up to 0.00088: nobody else is asked";
    assert!(failure.message.contains(says), "{}", failure.message);
    let next = failure.next.0;
    assert_eq!(
        next.last().unwrap(),
        "0.00355",
        "twice of all that is expected"
    );
}

/// What is told to be kept is there.
#[test]
fn what_is_kept_is_what_is_left() {
    for (cost, kept) in [
        (900, Some("0.0001")),
        (950, Some("0.00005")),
        (1_000, None),
        (1_200, None),
    ] {
        let mut run = Run::start_in(world(0, false), |_| ());
        assert!(until(&mut run, &[Role::Implement], cost, None));
        while run.perform(|_| true) {}
        let failure = parked(&run).unwrap();
        assert_eq!(failure.code, Code::MoneySpent);
        let says = kept.map(|kept| format!(", of which {kept} are kept for rulings"));
        match says {
            Some(says) => assert!(failure.message.contains(&says), "{}", failure.message),
            None => assert!(!failure.message.contains("kept"), "{}", failure.message),
        }
    }
}

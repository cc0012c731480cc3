//! A NOT PASS that rests on what a ruling had answered before.

use run_loop::domain::event::{Event, Settlement};
use run_loop::domain::finding::Disposition::{Fixed, Open};
use run_loop::domain::job::{AnswerAction, JobOutcome, Role, RulingKind};
use run_loop::domain::verdict::Verdict;

use crate::delegations::Run;
use crate::exact::{
    answers, asked, crashes, end, implemented, passes, refuses, review, rules, told, world,
};

/// Round 1: the first reviewer finds something, which it takes back, and the second something else, which is
/// mended. Round 2 is on the content that was ruled on.
fn after_a_ruling(quorum: Option<u32>, says: impl Fn(usize, u32) -> JobOutcome) -> Run {
    let mut world = world(2);
    world.quorum = quorum;
    told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), _, 1) => refuses("a leak", &[]),
            (Role::Review, Some(1), _, 1) => refuses("a race", &[]),
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Refuted), (2, AnswerAction::Fixed)])
            }
            (Role::Readjudicate, .., 2) => rules(&[(1, RulingKind::Withdrawn)]),
            (Role::Review, Some(slot), _, round) => says(slot, round),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    )
}

fn asked_in(run: &Run, round: u32) -> usize {
    let jobs = run.state.jobs.values().map(|record| &record.job);
    jobs.filter(|job| (job.role, job.round.0) == (Role::Review, round))
        .count()
}

/// Who says no more than that something is still there which a ruling settled on this very content, its own or
/// another's, is asked again, and the run does not end while rounds are left.
#[test]
fn who_speaks_in_spite_of_a_ruling_is_asked_again() {
    for refuses in [0, 1] {
        let run = after_a_ruling(None, |slot, round| {
            if (slot, round) == (refuses, 2) {
                let prior = [(1, Open), (2, Fixed)];
                review(Verdict::NotPass, vec![], &prior[..=slot])
            } else {
                review(Verdict::Pass, vec![], &[(2, Fixed)][..slot])
            }
        });
        assert_eq!(end(&run).0, 0, "{:?}", end(&run));
        assert_eq!((asked_in(&run, 2), asked_in(&run, 3)), (2, 1));
    }
}

/// Once: who says the same again leads nowhere.
#[test]
fn who_speaks_in_spite_of_a_ruling_twice_is_not_asked_a_third_time() {
    let run = after_a_ruling(None, |slot, _| match slot {
        0 => review(Verdict::NotPass, vec![], &[(1, Open)]),
        _ => review(Verdict::Pass, vec![], &[(2, Fixed)]),
    });
    assert_eq!(end(&run).0, 7, "{:?}", end(&run));
    assert_eq!((asked_in(&run, 2), asked_in(&run, 3)), (2, 1));
}

/// Nor does a quorum forgive who then falls silent: nobody answered that NOT PASS.
#[test]
fn who_speaks_in_spite_of_a_ruling_and_falls_silent_is_not_forgiven() {
    for refuses in [0, 1] {
        let run = after_a_ruling(Some(1), |slot, round| match (slot == refuses, round) {
            (true, 2) => {
                let prior = [(1, Open), (2, Fixed)];
                review(Verdict::NotPass, vec![], &prior[..=slot])
            }
            (true, _) => crashes(),
            (false, _) => review(Verdict::Pass, vec![], &[(2, Fixed)][..slot]),
        });
        assert_eq!(end(&run).0, 5, "{:?}", end(&run));
        assert_eq!((asked_in(&run, 2), asked_in(&run, 3)), (2, 2));
    }
}

/// A PASS that is silent about another agent's finding is none; and no NOT PASS either, once that was taken
/// back: a quorum forgives who is silent then.
#[test]
fn a_pass_that_passed_over_something_is_no_refusal() {
    let mut world = world(2);
    world.quorum = Some(1);
    world.slots[0].fallbacks = 1;
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), 0, 1) => refuses("a leak", &[]),
            (Role::Review, Some(1), _, 1) | (Role::Review, Some(0), 1, 2) => passes(),
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Refuted)])
            }
            // Nobody rules at first.
            (Role::Readjudicate, .., 2) | (Role::Review, Some(0), ..) => crashes(),
            (Role::Review, Some(1), _, 2) => refuses("a race", &[]),
            (Role::Correct, .., 3) => {
                *content = 3;
                answers(&[(2, AnswerAction::Fixed)])
            }
            (Role::Readjudicate, .., 3) => rules(&[(1, RulingKind::Withdrawn)]),
            (Role::Review, Some(1), _, 3) => review(Verdict::Pass, vec![], &[(2, Fixed)]),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    );
    let refused = run.journal.iter().filter(|event| match event {
        Event::SlotSettled {
            round, settlement, ..
        } => round.0 == 2 && matches!(settlement, Settlement::NotPassed { .. }),
        _ => false,
    });
    assert_eq!(refused.count(), 2);
    assert_eq!(end(&run).0, 0, "{:?}", end(&run));
}

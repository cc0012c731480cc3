//! When a turn of work came to nothing, and what is said of it (design, section 4, Convergence).

use run_loop::domain::finding::Disposition::{Fixed, Open};
use run_loop::domain::job::{AnswerAction, Job, JobOutcome, Role, RulingKind};
use run_loop::domain::verdict::Verdict;

use crate::delegations::Run;
use crate::exact::{
    answers, asked, crashes, end, implemented, passes, refuses, review, rules, told, world,
};

/// A run whose one reviewer refuses in round 1; what follows is the test's.
fn refused(mut says: impl FnMut(&Job, &mut u8) -> JobOutcome) -> Run {
    told(
        world(1),
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, .., 1) => refuses("a leak", &[]),
            _ => says(job, content),
        },
    )
}

fn count(run: &Run, role: Role) -> usize {
    let jobs = run.state.jobs.values();
    jobs.filter(|record| record.job.role == role).count()
}

/// What failed on the way may go well another time, in a ruling as in a review.
#[test]
fn who_crashes_while_ruling_is_asked_once_more() {
    let run = refused(|job, _| match asked(job) {
        (Role::Correct, ..) => answers(&[(1, AnswerAction::Refuted)]),
        (Role::Readjudicate | Role::Arbitrate, ..) if job.attempt == 1 => crashes(),
        (Role::Readjudicate, ..) => rules(&[(1, RulingKind::Upheld)]),
        (Role::Arbitrate, ..) => rules(&[(1, RulingKind::Overruled)]),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    assert_eq!(end(&run), (0, String::new()));
    assert_eq!(
        (
            count(&run, Role::Readjudicate),
            count(&run, Role::Arbitrate)
        ),
        (2, 2)
    );
}

/// Where nobody rules at all, the run ends by that, and says whose failure it is.
#[test]
fn who_never_rules_ends_the_run_by_its_own_failure() {
    let run = refused(|job, _| match asked(job) {
        (Role::Correct, ..) => answers(&[(1, AnswerAction::Refuted)]),
        (Role::Readjudicate, ..) => rules(&[(1, RulingKind::Upheld)]),
        (Role::Arbitrate, ..) => crashes(),
        // It speaks of what is in dispute, and of nothing else.
        (Role::Review, ..) => review(Verdict::NotPass, vec![], &[(1, Open)]),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    let (code, said) = end(&run);
    assert_eq!(code, 6, "{said}");
    assert!(
        said.starts_with("the arbitrate job of the arbiter exited with 1"),
        "{said}"
    );
    assert!(
        said.contains("F-1 was upheld, and nobody ruled on it"),
        "{said}"
    );
}

/// What was said of a finding is no progress where it was said before, on the same content.
#[test]
fn a_second_turn_that_says_the_same_is_the_last() {
    let run = refused(|job, _| match asked(job) {
        (Role::Correct, ..) => answers(&[(1, AnswerAction::Deferred)]),
        (Role::Review, ..) => review(Verdict::NotPass, vec![], &[(1, Open)]),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    let (code, said) = end(&run);
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("F-1 is left for later, and blocks"), "{said}");
    assert_eq!((run.state.rounds.len(), count(&run, Role::Correct)), (2, 2));
}

/// A turn in which nothing at all was said is the last at once.
#[test]
fn a_turn_without_an_answer_is_the_last() {
    let run = refused(|job, _| match asked(job) {
        (Role::Correct, ..) => answers(&[]),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    let (code, said) = end(&run);
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("F-1 was not answered"), "{said}");
    assert_eq!(run.state.rounds.len(), 1);
}

/// Who says that it is mended and changes nothing hears so, and has another turn.
#[test]
fn what_was_left_is_mended_in_a_second_turn() {
    let run = refused(|job, content| match asked(job) {
        (Role::Correct, .., 2) => answers(&[(1, AnswerAction::Fixed)]),
        (Role::Review, .., 2) => review(Verdict::NotPass, vec![], &[(1, Open)]),
        (Role::Correct, .., 3) => {
            *content = 2;
            answers(&[(1, AnswerAction::Fixed)])
        }
        (Role::Review, .., 3) => review(Verdict::Pass, vec![], &[(1, Fixed)]),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    assert_eq!(end(&run), (0, String::new()));
}

/// A PASS does not mend what was found on the very same bytes, and the run says so.
#[test]
fn a_pass_on_what_was_refused_is_no_progress() {
    let run = refused(|job, _| match asked(job) {
        (Role::Correct, ..) => answers(&[(1, AnswerAction::Fixed)]),
        (Role::Review, ..) => passes(),
        (role, ..) => panic!("{role:?} is asked for round {}", job.round),
    });
    let (code, said) = end(&run);
    assert_eq!(code, 7, "{said}");
    assert!(
        said.contains("F-1 is called fixed, and nothing changed"),
        "{said}"
    );
    assert_eq!(run.state.rounds.len(), 2);
}

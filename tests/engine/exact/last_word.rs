//! The last word on a finding is the last that was said, which need not be the newest job's.

use run_loop::domain::event::{Event, Settlement};
use run_loop::domain::finding::Disposition::{self, Fixed, Open, Withdrawn};
use run_loop::domain::job::{AnswerAction, JobOutcome, Role, RulingKind};
use run_loop::domain::verdict::{PassedBy, Verdict};

use crate::delegations::Run;
use crate::exact::{
    answers, asked, end, high, implemented, passes, refuses, review, rules, told, world,
};

/// A slot passes by what became of its findings, and so by an earlier report: that report's word on what it
/// calls mended comes after the creator's, whose job is newer.
#[test]
fn who_passes_by_an_earlier_report_has_the_last_word() {
    let run = told(
        world(1),
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, .., 1) => refuses("a leak", &[]),
            // It is mended, and said to be left for later.
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Deferred)])
            }
            (Role::Review, .., 2) => refuses("a race", &[(1, Fixed)]),
            (Role::Correct, .., 3) => {
                answers(&[(1, AnswerAction::Fixed), (2, AnswerAction::Refuted)])
            }
            (Role::Readjudicate, .., 3) => rules(&[(2, RulingKind::Withdrawn)]),
            (role, ..) => panic!("{role:?} is asked for round {}", job.round),
        },
    );
    assert_eq!(end(&run), (0, String::new()));
    let passed = run.journal.iter().filter_map(|event| match event {
        Event::SlotSettled {
            round,
            settlement: Settlement::Passed { by, .. },
            ..
        } => Some((round.0, *by)),
        _ => None,
    });
    assert_eq!(passed.collect::<Vec<_>>(), [(3, PassedBy::Withdrawal)]);
    // Nobody was asked again.
    assert_eq!(run.state.jobs.len(), 6);
}

/// Round 1: the first reviewer finds three things, and the second another one. All is called mended.
fn after_a_correction(says: impl Fn(usize, u32) -> JobOutcome, contents: [u8; 3]) -> Run {
    told(
        world(2),
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = contents[0];
                implemented()
            }
            (Role::Review, Some(0), _, 1) => {
                let found = ["a leak", "a race", "a gap"].map(high);
                review(Verdict::NotPass, found.into(), &[])
            }
            (Role::Review, Some(1), _, 1) => refuses("no test", &[]),
            (Role::Correct, .., 2) => {
                *content = contents[1];
                answers(&[1, 2, 3, 4].map(|id| (id, AnswerAction::Fixed)))
            }
            (Role::Correct, .., round) => {
                *content = contents[2];
                answers(&[(round + 2, AnswerAction::Fixed)])
            }
            (Role::Review, Some(slot), _, round) => says(slot, round),
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    )
}

fn became(run: &Run) -> Vec<Disposition> {
    let findings = run.state.findings.iter();
    findings.map(|finding| finding.disposition).collect()
}

const SAID: [(u32, Disposition); 2] = [(1, Withdrawn), (2, Fixed)];

/// What a PASS takes back is told as that, and what it calls mended or is silent about as mended.
#[test]
fn what_a_pass_takes_back_is_withdrawn() {
    let run = after_a_correction(
        |slot, _| review(Verdict::Pass, vec![], &SAID[..2 * (1 - slot)]),
        [1, 2, 3],
    );
    assert_eq!(end(&run).0, 0, "{:?}", end(&run));
    assert_eq!(became(&run), [Withdrawn, Fixed, Fixed, Fixed]);
}

/// It is no ruling: on the content of before its NOT PASS stands, and whoever finds it again opens it.
#[test]
fn what_a_pass_takes_back_is_no_ruling() {
    let says = |slot, round| match (slot, round) {
        (0, 2) => review(Verdict::Pass, vec![], &SAID),
        (1, 2) => refuses("no docs", &[]),
        _ => passes(),
    };
    let put_back = after_a_correction(says, [1, 2, 1]);
    let (code, said) = end(&put_back);
    assert_eq!(code, 7, "{said}");
    assert!(said.contains("whose findings stand"), "{said}");
    let goes_on = after_a_correction(says, [1, 2, 3]);
    assert_eq!(end(&goes_on).0, 0, "{:?}", end(&goes_on));
    let found_again = |slot, round| match (slot, round) {
        (1, 3) => review(Verdict::NotPass, vec![], &[(1, Open)]),
        _ => says(slot, round),
    };
    let run = after_a_correction(found_again, [1, 2, 3]);
    assert_ne!(end(&run).0, 0);
    assert_eq!(became(&run)[0], Open);
}

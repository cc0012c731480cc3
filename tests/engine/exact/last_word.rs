//! The last word on a finding is the last that was said, which need not be the newest job's.

use run_loop::domain::event::{Event, Settlement};
use run_loop::domain::finding::Disposition;
use run_loop::domain::job::{AnswerAction, Role, RulingKind};
use run_loop::domain::verdict::PassedBy;

use crate::exact::{answers, asked, end, implemented, refuses, rules, told, world};

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
            (Role::Review, .., 2) => refuses("a race", &[(1, Disposition::Fixed)]),
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

//! Who spoke against a content in a round that is void: the gate heeds that, and nothing else.

use run_loop::domain::event::RoundResult;
use run_loop::domain::finding::Disposition::{Fixed, Open};
use run_loop::domain::id::RoundNumber;
use run_loop::domain::job::{AnswerAction, JobOutcome, Role, RulingKind};
use run_loop::domain::severity::Severity;
use run_loop::domain::summary::Summary;
use run_loop::domain::time::Timestamp;
use run_loop::domain::verdict::Verdict;
use run_loop::store::Attestation;

use crate::exact::{answers, asked, high, implemented, passes, review, rules, told, world};
use crate::world::claim;

/// Round 1 finds what blocks and is refuted (F-1), what blocks and is mended (F-2), and a wish (F-3); the first
/// is taken back. The content moves during the round `void`, in which `says` is said. Whether that round's
/// content was refused, as the journal attests it.
fn refused(void: u32, says: impl Fn() -> JobOutcome) -> bool {
    let run = told(
        world(1),
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, .., 1) => {
                let findings = vec![
                    high("a leak"),
                    high("a race"),
                    claim(Severity::Low, "a wish"),
                ];
                review(Verdict::NotPass, findings, &[])
            }
            (Role::Correct, .., 2) => {
                *content = 2;
                answers(&[(1, AnswerAction::Refuted), (2, AnswerAction::Fixed)])
            }
            (Role::Readjudicate, .., 2) => rules(&[(1, RulingKind::Withdrawn)]),
            (Role::Review, .., round) if round == void => {
                *content += 1;
                says()
            }
            (Role::Review, .., 2) => review(Verdict::NotPass, vec![high("a gap")], &[(2, Fixed)]),
            (Role::Correct, .., 3) => {
                *content = 3;
                answers(&[(4, AnswerAction::Fixed)])
            }
            (Role::Review | Role::Correct, ..) => passes(),
            (role, ..) => panic!("{role:?} is asked for round {}", job.round),
        },
    );
    let entries = run.journal.iter();
    let entries = entries.map(|event| (Timestamp::from_millis(0), event));
    let run_id = run.state.run.as_ref().unwrap().loop_id;
    let attested = Attestation::of(run_id, &Summary::of(entries));
    let mut rounds = attested.rounds.iter();
    let round = rounds.find(|it| it.number == RoundNumber(void)).unwrap();
    assert!(matches!(round.result, Some(RoundResult::Stale { .. })));
    round.refused_at.is_some()
}

#[test]
fn only_what_blocks_and_was_not_settled_there_speaks_against_a_content() {
    let calls_open = |id: u32| move || review(Verdict::Pass, vec![], &[(id, Open)]);
    for (void, finding, is_refusal) in [
        (2, 1, false),
        (2, 2, true),
        (2, 3, false),
        // The ruling was about other content.
        (3, 1, true),
        (3, 3, false),
    ] {
        let refused = refused(void, calls_open(finding));
        assert_eq!(refused, is_refusal, "F-{finding} in round {void}");
    }
    assert!(!refused(2, passes));
    assert!(refused(2, || review(Verdict::NotPass, vec![], &[])));
}

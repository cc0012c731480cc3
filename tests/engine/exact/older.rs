//! What journals of older engines mean.

use run_loop::domain::event::{Event, RoundResult};
use run_loop::domain::finding::Disposition;
use run_loop::domain::job::{AnswerAction, Role};
use run_loop::domain::summary::Summary;
use run_loop::domain::time::Timestamp;
use run_loop::engine::State;

use crate::exact::{answers, asked, implemented, passes, refuses, told, world};
use crate::world::Motion;

/// An older engine closed a round that somebody refused without a word of what was touched meanwhile: its
/// last measurement tells, and what passed in it counts for nothing.
#[test]
fn what_passed_where_something_was_touched_is_void_also_where_no_event_says_so() {
    let mut world = world(2);
    world.max_rounds = 2;
    world.motions = vec![
        (Motion::Still, Motion::Still),
        (Motion::Amended, Motion::Still),
    ];
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), _, 1) => refuses("a leak", &[]),
            (Role::Correct, ..) => {
                *content = 2;
                answers(&[(1, AnswerAction::Deferred)])
            }
            (Role::Review, Some(1), _, 2) => refuses("a race", &[]),
            (Role::Review, ..) => passes(),
            (role, ..) => panic!("{role:?} is asked"),
        },
    );
    let mut older = run.journal.clone();
    let mut untold = 0;
    for event in &mut older {
        if let Event::RoundClosed {
            result: RoundResult::NotPassed { tripped },
            ..
        } = event
        {
            untold += tripped.len();
            tripped.clear();
        }
    }
    assert_eq!(untold, 1);
    for journal in [&run.journal, &older] {
        let state = State::replay(journal);
        assert!(!state.rounds[0].is_void() && state.rounds[1].is_void());
        let finding = &state.findings[0];
        // As the creator left it: its reviewer's word is void.
        assert_eq!(finding.disposition, Disposition::Deferred);
        assert_eq!(state.notes[&finding.id].len(), 1);
        assert_eq!(state.unconfirmed(&finding.slot), Some(finding));
        let entries = journal
            .iter()
            .map(|event| (Timestamp::from_millis(0), event));
        assert_eq!(Summary::of(entries).findings, state.findings);
    }
}

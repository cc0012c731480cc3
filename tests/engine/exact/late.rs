//! Who is told that what it finds anew may come late.

use run_loop::domain::job::{AnswerAction, Role};

use crate::exact::{answers, asked, end, implemented, passes, refuses, told_by, world};

/// From the third report of an agent on; and never `checks`, whose findings are not lowered.
#[test]
fn the_third_report_of_a_reader_may_come_late() {
    let mut world = world(2);
    world.slots[1].checks = true;
    let mut late = Vec::new();
    let run = told_by(
        world,
        |_| (),
        |state, job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, slot, _, round) => {
                late.push((slot, round, state.may_be_late(job)));
                match round {
                    1 => refuses("a leak", &[]),
                    2 => refuses("a race", &[]),
                    _ => passes(),
                }
            }
            (Role::Correct, .., round) => {
                *content += 1;
                let [first, second] = [1, 2].map(|nth| (round - 2) * 2 + nth);
                answers(&[(first, AnswerAction::Fixed), (second, AnswerAction::Fixed)])
            }
            (role, ..) => panic!("{role:?} is asked for round {}", job.round),
        },
    );
    assert_eq!(end(&run), (0, String::new()));
    let told: Vec<_> = late.iter().filter(|(.., late)| *late).collect();
    assert_eq!(told, [&(Some(0), 3, true)]);
    assert_eq!(late.len(), 6);
}

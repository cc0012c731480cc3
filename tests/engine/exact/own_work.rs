//! A creator that reviews its own work, joined by `checks`.

use run_loop::domain::job::{AnswerAction, Role};

use crate::exact::{answers, asked, end, implemented, passes, refuses, told, world};

/// What `checks` finds beside a self-review that passed is corrected, and not looked for again on the very same
/// content.
#[test]
fn what_checks_find_beside_a_pass_is_corrected() {
    let mut world = world(2);
    world.slots[1].checks = true;
    world.crew.as_mut().unwrap().own_work = true;
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, Some(0), ..) | (Role::Review, Some(1), _, 3) => passes(),
            (Role::Review, Some(1), _, 1) => refuses("a failing test", &[]),
            // It is left for a second turn.
            (Role::Correct, .., 2) => answers(&[(1, AnswerAction::Deferred)]),
            (Role::Correct, .., 3) => {
                *content = 2;
                answers(&[(1, AnswerAction::Fixed)])
            }
            (role, ..) => panic!("{role:?} of {} is asked for round {}", job.slot, job.round),
        },
    );
    assert_eq!(end(&run), (0, String::new()));
    assert_eq!(run.state.jobs.len(), 7);
}

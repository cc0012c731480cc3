//! HEAD is on another branch after a round: the run is not about what is there.

use run_loop::domain::end::End;
use run_loop::domain::failure::Failure;
use run_loop::domain::job::{JobOutcome, Role};

use crate::exact::{asked, implemented, passes, refuses, told, world};
use crate::world::Motion;

/// How a run ends whose branch is switched while its first round runs, in which the content moves, too, or not.
fn switched(says: impl Fn() -> JobOutcome, moves: bool) -> Failure {
    let mut world = world(1);
    world.motions = vec![(Motion::Switched, Motion::Still)];
    let run = told(
        world,
        |_| (),
        |job, content| match asked(job) {
            (Role::Implement, ..) => {
                *content = 1;
                implemented()
            }
            (Role::Review, .., 1) => {
                *content += u8::from(moves);
                says()
            }
            (role, ..) => panic!("{role:?} is asked for round {}", job.round),
        },
    );
    match run.state.end().unwrap() {
        End::Failed { failure } => failure.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_round_after_which_head_is_elsewhere_is_the_last() {
    let cases: [(&dyn Fn() -> JobOutcome, bool, u8); 3] = [
        (&passes, true, 4),
        (&|| refuses("a leak", &[]), true, 4),
        (&|| refuses("a leak", &[]), false, 1),
    ];
    for (says, moves, code) in cases {
        let failure = switched(says, moves);
        assert_eq!(failure.code.exit().code(), code, "{}", failure.message);
        let said = "HEAD was switched from feature to elsewhere";
        assert!(failure.message.contains(said), "{}", failure.message);
        let next = failure.next.0;
        assert_eq!(next, ["git", "-C", "/source", "switch", "feature"]);
    }
}

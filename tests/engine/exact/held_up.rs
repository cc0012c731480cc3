//! A run that lies aside since something could not be written or opened (4-30): what could not be done is tried
//! again, on what is there by then, and nothing that was said is lost.

use run_loop::domain::code::Code;
use run_loop::domain::event::RoundResult;
use run_loop::domain::failure::Failure;
use run_loop::domain::limits::Allowed;
use run_loop::engine::InputKind;

use crate::delegations::Run;
use crate::exact::aside::{goes_on, is_approved, panel, with_alias};
use crate::exact::{asked, passes};
use crate::world::World;

/// Taken up where the content is this.
fn taken_up(run: &mut Run) {
    run.input(InputKind::Resume {
        allowed: Allowed::default(),
        ran: None,
        found: Some(with_alias(run.content, None)),
        gone: None,
    });
}

/// Why the run lies aside.
fn held_up(run: &Run) -> &Failure {
    let failure = run.state.suspended.as_ref().unwrap();
    assert_eq!(failure.code, Code::HeldUp);
    failure
}

/// What no tree can show stays so: where the source is another one by then, the next round reviews that.
#[test]
fn a_tree_that_cannot_be_opened_binds_no_round_to_what_is_gone() {
    for (max_rounds, moves) in [(2, true), (1, true), (2, false)] {
        let mut world = World {
            max_rounds,
            ..panel(2)
        };
        world.slots[1].tree_fails_in = Some(1);
        let mut run = Run::start_in(world, |_| ());
        goes_on(&mut run, None, |_| Some(passes()));
        let said = held_up(&run).message.clone();
        run.content += u8::from(moves);
        taken_up(&mut run);
        let mut all = Vec::new();
        goes_on(&mut run, None, |job| {
            let (_, slot, _, round) = asked(job);
            all.push((slot, round));
            Some(passes())
        });
        if !moves {
            held_up(&run);
            assert!(said.contains("run-loop cancel"), "{said}");
            continue;
        }
        let first = &run.state.rounds[0].result;
        assert!(matches!(first, RoundResult::Stale { .. }), "{first:?}");
        if max_rounds == 1 {
            assert_eq!(run.state.end().unwrap().exit().code(), 4);
            continue;
        }
        assert_eq!(all, [(Some(0), 2), (Some(1), 2)]);
        assert!(is_approved(&run));
    }
}

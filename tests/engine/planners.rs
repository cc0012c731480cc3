//! Planners: they read, and an approved plan is opened again once.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome};
use run_loop::domain::end::End;
use run_loop::domain::identity::{Pin, Remeasured};
use run_loop::domain::job::Role;
use run_loop::engine::Phase;

use crate::delegations::Run;
use crate::trees::crew;
use crate::world::{Answer, Planned, World, oid};

fn planned(planned: Planned, mood: u64) -> World {
    let mut world = crew(mood);
    let crew = world.crew.as_mut().unwrap();
    crew.planner = true;
    crew.planned = planned;
    // Another content each time.
    crew.writes = (1..=10).map(Some).collect();
    world
}

/// C13: "approved plan: one attempt". Whatever fails afterwards, the planner does not write it anew.
#[test]
fn an_approved_plan_is_refined_once() {
    let mut most = 0;
    for mood in 0..40 {
        let mut world = planned(Planned::File, mood);
        world.max_rounds = 5;
        world.slots[0].answers = vec![Answer::NotPass];
        let mut run = Run::start_in(world, |_| ());
        while run.perform(|_| true) {}
        let failed = run.state.rounds.iter();
        let failed = failed.filter(|round| round.result.is_refused());
        let failed = failed.count();
        most = most.max(failed);
        let refined = run.state.works.iter();
        let refined = refined.filter(|closed| closed.work.role == Role::Refine);
        let refined = refined.count();
        // Where everything was answered there was nothing to refine by.
        assert!(refined <= 1, "mood {mood}: {refined} refinements");
        if failed >= 4 {
            assert_eq!(refined, 1, "mood {mood}");
        }
    }
    assert!(most >= 4, "no run had four failed rounds: {most}");
}

/// How a run stands after the first job of its first step came back, and the source like this.
fn measured_after_first(planned_by: Planned, moves: impl Fn(&mut Pin)) -> Run {
    let (mut run, _) = Run::start_in(planned(planned_by, 0), |_| ()).until_asked();
    run.perform(|effect| matches!(effect, Effect::RunJob { .. }));
    let found = run.effect(|effect| matches!(effect, Effect::Measure { .. }));
    let Some((id, Effect::Measure { pinned, .. })) = found else {
        panic!("nothing is measured: {:?}", run.state.phase)
    };
    let mut now = pinned;
    moves(&mut now);
    let result = Done::Ok(Remeasured {
        pin: now,
        moved_paths: Vec::new(),
        base_rewound: false,
        head_descends: true,
        lost: Vec::new(),
        unstaged: Vec::new(),
        unmerged: Vec::new(),
        own: Vec::new(),
        kept: None,
        elsewhere: Vec::new(),
        unknown: Vec::new(),
        anew: None,
    });
    run.done(id, Outcome::Measured { result });
    run
}

fn edits(now: &mut Pin) {
    now.identity.tree = oid(9);
    now.identity.content_tree = oid(9);
}

fn commits(now: &mut Pin) {
    edits(now);
    now.identity.head = oid(210);
    now.tripwire.branch_tip = oid(210);
}

fn stages(now: &mut Pin) {
    edits(now);
    now.tripwire.index = Digest::of(b"another");
}

/// C14: the planner's phase is read-only by tripwire: a commit or an edited index beside another content
/// ends the run. Who writes may do both. Content alone is the user's to edit meanwhile.
#[test]
fn a_planner_that_writes_to_the_source_ends_the_run() {
    type Moves = fn(&mut Pin);
    let moves: [(Moves, Option<&str>); 4] = [
        (commits, Some("the source branch")),
        (stages, Some("the index")),
        (edits, None),
        (|_| (), None),
    ];
    for (moves, names) in moves {
        let run = measured_after_first(Planned::Planner, moves);
        match (names, run.into_end()) {
            (Some(names), Some(End::Failed { failure })) => {
                assert_eq!(failure.code, Code::TripwireMoved);
                let says = format!("{names} moved while the plan job of the planner ran");
                assert!(failure.message.contains(&says), "{}", failure.message);
            }
            (None, Some(End::Failed { failure })) => {
                assert_ne!(failure.code, Code::TripwireMoved, "{names:?}");
            }
            (names, end) => panic!("{names:?}: {end:?}"),
        }
        let run = measured_after_first(Planned::Nobody, moves);
        let goes_on = matches!(run.state.phase, Phase::Round { .. });
        assert!(goes_on || names.is_none(), "{:?}", run.state.phase);
    }
}

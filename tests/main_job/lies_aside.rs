//! What is done to git while a run lies aside, and right before (4-43, U34).

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::{Engine, calls, counted};

/// `ann` passes, and `bob` hangs at his first call and passes later; the run up to there.
fn begun() -> (Bench, Engine) {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let ann = counted(&bench, "ann", &ScriptedAgent::passing());
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["slot_settled", "ann"]);
    point.reached();
    (bench, engine)
}

/// What a user does who goes on working.
fn works_on(bench: &Bench) {
    let repo = &bench.repo;
    repo.git(&["config", "alias.st", "status"]);
    repo.git(&["remote", "add", "origin", "https://example.invalid/x.git"]);
    let hooks = repo.root().join(".git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::fs::write(hooks.join("pre-commit"), "exit 0\n").unwrap();
}

#[test]
fn what_people_do_to_git_meanwhile_is_told_and_voids_nothing() {
    let (bench, engine) = begun();
    engine.signal("INT");
    engine.ended().ends(130);
    works_on(&bench);
    let resumed = bench.run(&["resume"]);
    resumed
        .ends(0)
        .says("the local configuration (alias.st, remote.origin.fetch, remote.origin.url)")
        .says("the hooks (hooks/pre-commit) moved while the run lay aside");
    assert_eq!(
        calls(&bench, "ann"),
        1,
        "what is paid for is not bought again"
    );
    bench.gate().ends(0);
}

/// Its engine died: who did it is not known, so all are asked again, and the run goes on.
#[test]
fn after_a_crash_the_round_is_reviewed_again() {
    let (bench, engine) = begun();
    engine.kill();
    works_on(&bench);
    let resumed = bench.run(&["resume"]);
    let told = "alias.st, remote.origin.fetch, remote.origin.url) and the hooks (hooks/pre-commit) moved since the round was pinned";
    resumed.ends(0).says(told);
    assert_eq!(calls(&bench, "ann"), 2);
    bench.gate().ends(0);
}

/// What moves while jobs run is said when the run is put aside, with its names, and ends the run when it is
/// taken up: a reviewer that plants a hook and has the run parked begins no clean round.
#[test]
fn what_moved_before_is_said_when_the_run_is_put_aside() {
    let (bench, engine) = begun();
    works_on(&bench);
    engine.signal("INT");
    let moved = "moved while jobs ran: what passed in the round under way is void";
    let ended = engine.ended();
    ended.ends(130).says("(hooks/pre-commit)").says(moved);
    bench.run(&["resume"]).ends(5).says("RL0305");
    assert_eq!(calls(&bench, "ann"), 1);
    bench.gate().ends(5);
}

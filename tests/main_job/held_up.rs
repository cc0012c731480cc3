//! A cache folder that is gone, or has no room, in the middle of a run: nothing that was paid for is lost.

use crate::resume::cache;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::{Engine, calls, counted, there_is, until};

/// 4-30: a review tree that cannot be opened once somebody was asked is no refusal: the run is put aside, and
/// `resume` uses what was said.
#[test]
fn a_tree_that_cannot_be_opened_in_the_middle_puts_the_run_aside() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (there, go) = (Point::new(&agents, "there"), Point::new(&agents, "go"));
    let gone = format!(
        "echo $$ > {}; read -r _ < {}",
        there.path().display(),
        go.path().display()
    );
    // No report at all: it is asked to mend that.
    let turns = [
        ScriptedAgent::plain_pass().after(&gone),
        ScriptedAgent::passing(),
    ];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let ann = counted(&bench, "ann", &ScriptedAgent::passing());
    let bob = counted(&bench, "bob", &bob);
    let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    there.reached();
    // Nobody makes a folder there, root included.
    let (trees, away) = (cache(&bench).join("trees"), bench.repo.beside("trees"));
    std::fs::rename(&trees, &away).unwrap();
    std::fs::write(&trees, "").unwrap();
    go.release();
    let next = r#""next":["run-loop","resume","#;
    engine.ended().ends(6).says("RL0513").says(next);
    bench.run(&["status"]).says("run-loop resume");
    // As long as it is so, it is put aside again.
    bench.run(&["resume"]).ends(6).with("RL0513");
    std::fs::remove_file(&trees).unwrap();
    bench.run(&["resume"]).ends(0);
    assert_eq!((calls(&bench, "ann"), calls(&bench, "bob")), (1, 2));
    bench.gate().ends(0);
}

/// A run that is killed or interrupted while the second reviewer works, and whose cache is gone then.
fn without_cache(kill: bool) -> Bench {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &bob)
        .ready();
    bench.repo.write("src/lib.rs", "pub fn uncommitted() {}\n");
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    let agent = point.reached();
    if kill {
        engine.kill();
    } else {
        engine.signal("INT");
        engine.ended().ends(130);
    }
    until("the guard has ended the agent", || {
        !there_is(&agent, &bench.repo.beside("agents"))
    });
    std::fs::remove_dir_all(cache(&bench)).unwrap();
    bench
}

/// 4-46: the cache is gone with the snapshot, and the source holds other content. The round is stale in any
/// case, and what is there now is reviewed; git as people left it is nobody's fault, and told.
#[test]
fn a_round_whose_snapshot_is_gone_is_void_when_the_content_moved() {
    for kill in [true, false] {
        let bench = without_cache(kill);
        bench.repo.write("src/lib.rs", "pub fn moved() {}\n");
        bench.repo.git(&["config", "alias.st", "status"]);
        bench
            .run(&["resume"])
            .ends(0)
            .says("the snapshot of round 1 cannot be shown any more, and the source holds other content: the round is void")
            .says("(alias.st) moved");
        assert_eq!(bench.sidecar("ann")["round"], 2);
        bench.repo.commit("reviewed");
        bench.gate().ends(0);
    }
}

/// Who commits what was under review is not told that it is other content.
#[test]
fn a_round_whose_snapshot_is_gone_says_where_its_content_is_committed() {
    let bench = without_cache(true);
    bench.repo.commit("what was under review");
    let said = "the source holds the same content in another commit: the round is void";
    bench.run(&["resume"]).ends(0).says(said);
    let why =
        "the snapshot of round 1 cannot be shown any more, and the source holds the same content";
    bench.run(&["show"]).says(why);
    assert_eq!(bench.sidecar("ann")["round"], 2);
    bench.gate().ends(0);
}

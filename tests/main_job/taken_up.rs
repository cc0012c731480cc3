//! Which run a command without an id is about, and where one is taken up.

use crate::resume::{hanging_once, killed, run_id};
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;

/// K16: a run is taken up on the branch that it is about, and on no other; nothing is asked before.
#[test]
fn k16_another_branch_is_refused() {
    let (bench, point) = hanging_once();
    killed(&bench, &point);
    let repo = &bench.repo;
    repo.git(&["switch", "-q", "-c", "unrelated", "main"]);
    let refused = bench.run(&["resume"]);
    refused.ends(3).with("RL0133").says("is on unrelated");
    let next = refused.next();
    assert_eq!(next[3..], ["switch", "feature"]);
    let next: Vec<&str> = next[3..].iter().map(String::as_str).collect();
    repo.git(&next);
    bench.run(&["resume"]).ends(0);
    bench.gate().ends(0);
}

/// Issue 4.8: `cancel` that is repeated is a no-op, also where another run could be ended.
#[test]
fn a_repeated_cancel_ends_no_other_run() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let hangs = ScriptedAgent::hangs_at(&point);
    let turns = [hangs.clone(), hangs, ScriptedAgent::passing()];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer("ann", &agent).ready();
    killed(&bench, &point);
    let older = run_id(&bench).to_string();
    killed(&bench, &point);
    let newer = run_id(&bench).to_string();
    assert_ne!(older, newer);
    for _ in 0..2 {
        bench.run(&["cancel"]).ends(0).says(&newer);
    }
    // Nor one of another working tree.
    let elsewhere = bench.repo.linked("elsewhere", "elsewhere", "main");
    let ran = bench.command(&["cancel"]).current_dir(&elsewhere).output();
    assert_ne!(Ran::of(&ran.unwrap()).code, Some(0));
    bench.run(&["resume", &older]).ends(0);
}

/// K16: without an id no run of another working tree is taken up where there are runs of this one: it is named.
#[test]
fn k16_a_run_of_another_working_tree_is_named() {
    let (bench, point) = hanging_once();
    let elsewhere = bench.repo.linked("elsewhere", "elsewhere", "feature");
    let there = |args: &[&str]| {
        let ran = bench.command(args).current_dir(&elsewhere).output();
        Ran::of(&ran.unwrap())
    };
    // The first call hangs, and the second passes.
    killed(&bench, &point);
    let run = run_id(&bench).to_string();
    there(&["--base", "main", "--review-only"]).ends(0);
    let refused = there(&["resume"]);
    refused.ends(3).with("RL0140").says(&run);
    assert_eq!(refused.next(), ["run-loop", "resume", &run]);
    bench.run(&["resume"]).ends(0);
}

/// An engine that is stopped (Ctrl-Z) cannot end its run: that is said at once, with what lets it go on, and then
/// the run is cancelled.
#[test]
fn a_stopped_engine_is_named_and_cancels_when_it_goes_on() {
    let (bench, point) = hanging_once();
    let engine = Engine::start(&bench);
    point.reached();
    let pid = engine.pid().to_string();
    engine.signal("STOP");
    let status = bench.run(&["status"]);
    status
        .ends(0)
        .says("is stopped (Ctrl-Z)")
        .says(&format!("next: kill -CONT {pid}\n"));
    let cancelled = bench.run(&["cancel"]);
    cancelled.ends(7).with("RL0702").says("is stopped");
    let next = cancelled.next();
    assert_eq!(next, ["kill", "-CONT", &pid]);
    let went_on = std::process::Command::new("kill").args(&next[1..]).status();
    assert!(went_on.unwrap().success());
    engine.ended().ends(143).says("RL0803");
    bench.run(&["cancel"]).ends(0).says("is cancelled");
}

//! A run is cancelled while its creator works: what it threw away is told.

use crate::stage::{Stage, by_role, looks_for};
use crate::support::agents::{Point, quote};
use crate::support::crash::Engine;

const LINE: [&str; 9] = [
    "--base",
    "main",
    "add a sum",
    "--creator",
    "ann",
    "--reviewer",
    "bob",
    "--format",
    "ndjson",
];

/// A creator that threw the user's edits away and hangs.
fn hanging() -> (Stage, Engine) {
    let stage = Stage::new();
    let point = Point::new(&stage.bench().repo.beside("agents"), "ready");
    let loses = format!(
        "git checkout -q -- src/lib.rs; rm -f notes.txt; echo $$ > {}; forever",
        quote(point.path().to_str().unwrap())
    );
    let stage = stage
        .agent("ann", &by_role(&[("implement", &loses)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("notes.txt", "thoughts\n");
    let engine = Engine::start_with(stage.bench(), &LINE);
    point.reached();
    (stage, engine)
}

#[test]
fn what_a_cancelled_job_threw_away_is_told() {
    let (stage, engine) = hanging();
    stage.bench().run(&["cancel"]).ends(0);
    let ran = engine.ended();
    ran.ends(143).says("RL0803");
    for path in ["notes.txt", "src/lib.rs"] {
        let lost = format!("lost the uncommitted edits of {path}");
        stage.bench().run(&["show"]).says(&lost);
    }
    stage.promoted_nothing();
}

/// Nobody measures for a dead engine: the command prints everything as it was.
#[test]
fn what_a_dead_engine_saw_is_printed() {
    let (stage, engine) = hanging();
    engine.kill();
    let ran = stage.bench().run(&["cancel"]);
    ran.ends(0);
    let line = ran.stderr.lines().find(|it| it.contains("engine is dead"));
    let line = line.unwrap_or_else(|| unreachable!("nothing is told in:\n{}", ran.stderr));
    let command = &line[line.find("git --git-dir").unwrap()..];
    let shown = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(stage.bench().repo.root())
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    for words in ["+// hours of work", "+thoughts"] {
        assert!(shown.contains(words), "{words} in:\n{shown}");
    }
    stage.bench().run(&["status"]).says("cancelled");
}

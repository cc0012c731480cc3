//! Jobs that are open when their run comes to its end.

use crate::single::row;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;

/// 4-37: what a person asks for beside a loop is not lost with that, but waited for, and whoever asks is told.
#[test]
fn a_loop_waits_for_a_persons_job_before_it_ends() {
    let bench = Bench::new();
    let point = |name| Point::new(&bench.repo.beside("tmp"), name);
    let (held, sub, go) = (point("held"), point("sub"), point("go"));
    let agent =
        ScriptedAgent::passing().after(&format!("read -r go < '{}'", held.path().display()));
    let helper = ScriptedAgent::with_script(format!(
        "cat; echo $$ > '{}'; read -r go < '{}'",
        sub.path().display(),
        go.path().display()
    ));
    let bench = bench
        .reviewer("reader", &agent)
        .spare("helper", &helper, "")
        .ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"job_started\""]);
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let file = file.to_str().unwrap();
    let ran = bench.run(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
    let job = ran.ends(0).stdout.trim().to_owned();
    ran.says("which waits for it before it ends");
    sub.reached();
    held.release();
    engine.line_with(&["step_started", "\"wait\""]);
    go.release();
    let ended = engine.ended();
    ended.ends(0).says("waits, until").says(&job);
    bench.gate().ends(0);
    bench.run(&["job", "wait", &job]).ends(0);
    let report = bench.run(&["job", "show", &job, "--report"]);
    report.ends(0).says("Do it.");
}

/// At the bound of the wait it ends with the loop and is told as over, whoever looks later, and the command
/// that is told delegates the same anew.
#[test]
fn a_job_that_is_open_when_its_run_ends_is_over() {
    let bench = Bench::new();
    let point = |name| Point::new(&bench.repo.beside("tmp"), name);
    let (held, sub) = (point("held"), point("sub"));
    let agent =
        ScriptedAgent::passing().after(&format!("read -r go < '{}'", held.path().display()));
    let done = bench.repo.beside("tmp").join("done");
    let helper = ScriptedAgent::with_script(format!(
        "cat; [ -e '{0}' ] && exit; : > '{0}'; echo $$ > '{1}'; forever",
        done.display(),
        sub.path().display()
    ));
    let bench = bench
        .reviewer("reader", &agent)
        .spare("helper", &helper, "")
        .ready();
    let child = bench.spawn(&["--base", "main", "--review-only", "--job-wait", "1"]);
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    while !bench.run(&["list"]).stdout.contains("running") {
        std::thread::yield_now();
    }
    let file = file.to_str().unwrap();
    let ran = bench.run(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
    let job = ran.ends(0).stdout.trim().to_owned();
    sub.reached();
    held.release();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.ends(0).says("is closed, cancelled: run_ended");
    let list = bench.run(&["job", "list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list.ends(0).stdout).unwrap();
    let view = &list["jobs"][0];
    assert_eq!((&view["job"], &view["over"]), (&job.into(), &true.into()));
    assert_eq!(view["status"], "cancelled");
    let job = view["job"].as_str().unwrap();
    let waited = bench.run(&["job", "wait", job]);
    waited.ends(143).says("run_ended");
    for command in ["redispatch", "cancel"] {
        let ran = bench.run(&["job", command, job]);
        ran.ends(3).with("RL0140");
        assert_eq!(ran.next(), waited.next());
    }
    let next = waited.next();
    let next: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    let anew = row(&bench.run(&next).ends(0).stdout, "job");
    let report = bench.run(&["job", "show", &anew, "--report"]);
    report.ends(0).says("Do it.");
}

//! What was finished when an engine died is kept, whoever takes its run up or ends it, and from where.

use std::path::Path;
use std::process::Command;

use crate::support::agents::{Point, ScriptedAgent, finding};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls, counted, until};

const TITLE: &str = "it divides by nothing";
const REVIEW: [&str; 3] = ["--base", "main", "--review-only"];

/// A bench whose reviewer `ann` says NOT PASS at first and PASS then, each time at a point.
fn refusing_once(keys: &str) -> (Bench, Point, Point) {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
    let critical = format!("[{}]", finding(TITLE, "critical", "src/lib.rs", 5));
    let turns = [
        ScriptedAgent::not_passing(&critical),
        ScriptedAgent::passing(),
    ];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns).after(&format!(
        "echo $$ > {}; read -r _ < {}",
        started.path().display(),
        go.path().display()
    ));
    let agent = counted(&bench, "ann", &agent);
    let bench = bench.reviewer_with("ann", &agent, keys).ready();
    (bench, started, go)
}

/// Kills the engine of this command after its agent's report is there and before it took that in.
fn killed_unaware(bench: &Bench, command: Command, (started, go): (&Point, &Point)) {
    let engine = Engine::of(command);
    started.reached();
    engine.signal("STOP");
    go.release();
    until("the guard has written the outcome", || {
        let left = bench.left_in_cache(&["jobs"]);
        left.iter().any(|path| path.ends_with("/outcome.json"))
    });
    engine.kill();
}

fn with_key(bench: &Bench, args: &[&str], key: &str) -> Command {
    let mut command = bench.command(args);
    command.env("HOUSE_LOGIN", key);
    command
}

/// A run whose finished report says NOT PASS, taken up where the key that the job could see is another one
/// now: its words may not be kept, and what it says bars PASS all the same.
#[test]
fn a_finished_not_pass_bars_pass_whatever_the_key_is_now() {
    let (bench, started, go) = refusing_once("env: [HOUSE_LOGIN]");
    let first = with_key(&bench, &REVIEW, "first-canary-1");
    killed_unaware(&bench, first, (&started, &go));
    let mut resume = with_key(&bench, &["resume"], "other-canary-2");
    let resume = resume.stdout(std::process::Stdio::piped());
    let resume = resume.stderr(std::process::Stdio::piped()).spawn().unwrap();
    started.reached();
    go.release();
    let ran = Ran::of(&resume.wait_with_output().unwrap());
    ran.ends(1);
    assert_eq!(calls(&bench, "ann"), 2);
    bench.run(&["show", "--findings"]).ends(0).says("critical");
    assert_ne!(bench.gate().code, Some(0));
}

/// `resume` asks of the run's agents what a start asks: one that lacks its key or its program now changes
/// nothing, and with it again the report that was finished counts.
#[test]
fn a_resume_without_what_an_agent_needs_changes_nothing() {
    let (bench, started, go) = refusing_once("env: [HOUSE_LOGIN]");
    let first = with_key(&bench, &REVIEW, "first-canary-1");
    killed_unaware(&bench, first, (&started, &go));
    let refused = bench.run(&["resume"]);
    refused.ends(2).with("RL0006").says("HOUSE_LOGIN");
    assert_eq!(refused.next()[..2], ["run-loop", "resume"]);
    let program = bench.repo.beside("agents/ann");
    let aside = bench.repo.beside("agents/aside");
    std::fs::rename(&program, &aside).unwrap();
    let refused = with_key(&bench, &["resume"], "first-canary-1").output();
    let refused = Ran::of(&refused.unwrap());
    refused.ends(2).with("RL0006").says("does not exist");
    std::fs::rename(&aside, &program).unwrap();
    let ran = with_key(&bench, &["resume"], "first-canary-1").output();
    Ran::of(&ran.unwrap()).ends(1).says(TITLE);
    assert_eq!(calls(&bench, "ann"), 1, "the report was bought twice");
}

/// V08: a NOT PASS that was there when somebody killed the guard bars PASS, though nobody vouches for it.
#[test]
fn a_not_pass_whose_guard_was_killed_bars_pass() {
    let critical = format!("[{}]", finding(TITLE, "critical", "src/lib.rs", 5));
    let bench = Bench::new();
    let turns = [
        ScriptedAgent::not_passing(&critical).and_then("kill -KILL $PPID"),
        ScriptedAgent::passing(),
    ];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench.reviewer_with("ann", &agent, "report: file").ready();
    bench.review().ends(1);
    bench.run(&["show", "--findings"]).ends(0).says(TITLE);
    assert_ne!(bench.gate().code, Some(0));
}

/// `cancel` of a dead engine's run keeps a report that was finished, and the gate heeds it.
#[test]
fn cancel_keeps_a_finished_report() {
    let (bench, started, go) = refusing_once("report: file");
    killed_unaware(&bench, bench.command(&REVIEW), (&started, &go));
    let ran = bench.run(&["cancel"]);
    ran.ends(0);
    assert!(!ran.stdout.contains("goes on"), "{}", ran.stdout);
    assert_eq!(bench.left_in_cache(&["jobs", "trees"]), [""; 0]);
    assert!(kept(&bench.repo.root().join(".git/run-loop/runs")));
    bench.gate().ends(1).with("RL0910");
}

/// A run that is cancelled while its reviewer works, and whose engine dies before the report comes: `cancel`
/// keeps what came after all, and the gate heeds it.
#[test]
fn a_cancel_whose_engine_died_keeps_the_report() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let [started, told, go] = ["started", "told", "go"].map(|name| Point::new(&agents, name));
    let critical = format!("[{}]", finding(TITLE, "critical", "src/lib.rs", 5));
    let at_term = ScriptedAgent::not_passing(&critical).after(&format!(
        "trap '' TERM; echo $$ > {}; read -r _ < {}",
        told.path().display(),
        go.path().display()
    ));
    let agent = at_term.after(&format!(
        "told=; trap 'told=yes' TERM; echo $$ > {}; while [ -z \"$told\" ]; do sleep 1000 & wait $!; done",
        started.path().display()
    ));
    let bench = bench.reviewer_with("ann", &agent, "report: file").ready();
    let engine = Engine::start(&bench);
    started.reached();
    let cancel = Engine::of(bench.command(&["cancel"]));
    told.reached();
    engine.kill();
    go.release();
    cancel.ended().ends(0);
    assert!(kept(&bench.repo.root().join(".git/run-loop/runs")));
    bench.gate().ends(1).with("RL0910");
}

/// Whether an artifact of a run below the folder holds the finding.
fn kept(runs: &Path) -> bool {
    let mut todo = vec![runs.to_owned()];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(
                std::fs::read_dir(&path)
                    .unwrap()
                    .map(|it| it.unwrap().path()),
            );
        } else if path.components().any(|it| it.as_os_str() == "artifacts") {
            let text = std::fs::read(&path).unwrap();
            if String::from_utf8_lossy(&text).contains(&format!("\"{TITLE}\"")) {
                return true;
            }
        }
    }
    false
}

/// A NOT PASS that came revokes, although its run was cancelled before its round ended.
#[test]
fn a_not_pass_of_a_run_that_was_cancelled_revokes() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let critical = format!("[{}]", finding(TITLE, "critical", "src/lib.rs", 5));
    let ann = [
        ScriptedAgent::passing(),
        ScriptedAgent::not_passing(&critical),
    ];
    let bob = [ScriptedAgent::passing(), ScriptedAgent::hangs_at(&point)];
    let ann = ScriptedAgent::in_turn(&bench.repo.beside("ann"), &ann);
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("bob"), &bob);
    let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
    bench.review().ends(0);
    bench.gate().ends(0);
    let mut engine = Engine::start(&bench);
    engine.line_with(&["job_ended", "NOT PASS"]);
    point.reached();
    bench.run(&["cancel"]).ends(0);
    engine.ended().ends(143);
    bench.gate().ends(1).with("RL0907");
}

/// The run's own cache folder is used, whatever the shell of `resume` would take: a finished report lies
/// there, and so does whoever still writes.
#[test]
fn a_run_keeps_its_cache_folder() {
    let (bench, started, go) = refusing_once("report: file");
    killed_unaware(&bench, bench.command(&REVIEW), (&started, &go));
    let other = bench.repo.beside("other-cache");
    let mut resume = bench.command(&["resume"]);
    let ran = Ran::of(&resume.env("XDG_CACHE_HOME", &other).output().unwrap());
    ran.ends(1).says("keeps its jobs in").says(TITLE);
    assert_eq!(calls(&bench, "ann"), 1, "the report was bought twice");
    assert!(!other.exists(), "two caches");
}

/// W05, L04: in a copy of the repository a run that lives in the original is neither taken up, ended nor
/// cleaned up: its locks say nothing there.
#[test]
fn a_copy_of_the_repository_touches_no_run_of_the_original() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&point))
        .ready();
    let engine = Engine::start(&bench);
    point.reached();
    let copy = bench.repo.beside("copy");
    let copied = Command::new("cp")
        .arg("-r")
        .args([bench.repo.root(), &copy])
        .status();
    assert!(copied.unwrap().success());
    let there = |args: &[&str]| {
        let ran = bench.command(args).current_dir(&copy).output();
        Ran::of(&ran.unwrap())
    };
    let before = bench.left_in_cache(&["trees", "evidence", "jobs"]);
    let shown = bench.run(&["status", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let run = shown["run"].as_str().unwrap();
    for command in ["resume", "cancel"] {
        let refused = there(&[command, run]);
        refused
            .ends(3)
            .with("RL0105")
            .says("is a copy of its record");
        assert_eq!(refused.next()[1], command);
    }
    there(&["cleanup"]).ends(0);
    let outside = bench.command(&["cleanup"]).current_dir("/").output();
    Ran::of(&outside.unwrap()).ends(0);
    let after = bench.left_in_cache(&["trees", "evidence", "jobs"]);
    for path in before.iter().filter(|path| !path.contains(".capture/")) {
        assert!(after.contains(path), "{path} is gone");
    }
    bench.run(&["cancel"]).ends(0);
    engine.ended().ends(143);
}

//! Runs taken up again: killed, interrupted, with everything beside the journal gone.

use std::path::{Path, PathBuf};

use run_loop::domain::id::{LoopId, MessageId};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::inbox::{Message, Request};
use run_loop::store::{Inbox, StateFolder};

use crate::support::agents::{Point, ScriptedAgent, finding};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls, counted, there_is, until};

/// A bench whose reviewer hangs at its first call and passes at the next ones.
pub(crate) fn hanging_once() -> (Bench, Point) {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    (bench.reviewer("ann", &agent).ready(), point)
}

/// Runs until the reviewer hangs, and kills the engine there; the reviewer's process.
pub(crate) fn killed(bench: &Bench, point: &Point) -> String {
    let engine = Engine::start(bench);
    let agent = point.reached();
    engine.kill();
    agent
}

pub(crate) fn cache(bench: &Bench) -> PathBuf {
    bench.repo.beside("home").join(".cache/run-loop")
}

pub(crate) fn run_id(bench: &Bench) -> LoopId {
    let shown = bench.run(&["status", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    LoopId::parse(shown["run"].as_str().unwrap()).unwrap()
}

fn state(bench: &Bench) -> StateFolder {
    StateFolder::open(&bench.repo.root().join(".git")).unwrap()
}

fn nothing_left(bench: &Bench, agent: &str) {
    assert!(
        !there_is(agent, &bench.repo.beside("agents")),
        "{agent} lives"
    );
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
}

/// Issue 4: kill -9 while a reviewer works; the guard ends it, and `resume` asks it again.
#[test]
fn a_killed_run_goes_on() {
    let (bench, point) = hanging_once();
    let agent = killed(&bench, &point);
    bench
        .run(&["status"])
        .ends(0)
        .says("interrupted")
        .says("run-loop resume");
    bench.run(&["resume"]).ends(0);
    nothing_left(&bench, &agent);
    assert_eq!(bench.sidecar("ann")["attempt"], 2);
    bench.gate().ends(0);
    bench.run(&["resume"]).ends(3).with("RL0140");
}

/// Issue 4: from any folder, also when everything that can be made again is gone.
#[test]
fn review_trees_evidence_and_job_folders_may_be_gone() {
    let (bench, point) = hanging_once();
    let agent = killed(&bench, &point);
    until("the guard has ended the agent", || {
        !there_is(&agent, &bench.repo.beside("agents"))
    });
    std::fs::remove_dir_all(cache(&bench)).unwrap();
    let elsewhere = bench.repo.beside("elsewhere");
    bench
        .repo
        .git(&["worktree", "add", "-q", elsewhere.to_str().unwrap(), "main"]);
    let id = run_id(&bench).to_string();
    let ran = bench
        .command(&["resume", &id])
        .current_dir(&elsewhere)
        .output()
        .unwrap();
    let ran = Ran::of(&ran);
    ran.ends(0).says("is about").says("PASS");
    nothing_left(&bench, &agent);
    bench.gate().ends(0);
}

/// Design, section 9: an interrupted run is put aside, and resumed it ends as it would have.
#[test]
fn an_interrupted_run_goes_on() {
    let (bench, point) = hanging_once();
    let engine = Engine::start(&bench);
    let agent = point.reached();
    engine.signal("INT");
    let ran = engine.ended();
    ran.ends(130).says("RL0801").says("\"resume\"");
    nothing_left(&bench, &agent);
    bench
        .run(&["status"])
        .says("interrupted")
        .says("run-loop resume");
    bench.run(&["resume"]).ends(0);
    bench.gate().ends(0);
}

/// "A finished report is never bought again": the engine is stopped while the agent finishes, and
/// then killed, so nobody recorded the report.
#[test]
fn a_report_that_was_finished_unseen_is_used() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
    let agent = counted(
        &bench,
        "ann",
        &ScriptedAgent::passing().after(&format!(
            "echo $$ > {}; read -r _ < {}",
            started.path().display(),
            go.path().display()
        )),
    );
    let bench = bench.reviewer("ann", &agent).ready();
    let engine = Engine::start(&bench);
    started.reached();
    engine.signal("STOP");
    go.release();
    until("the guard has written the outcome", || {
        outcome(&bench).is_some()
    });
    engine.kill();
    let seen = std::fs::read(outcome(&bench).unwrap()).unwrap();
    let seen: serde_json::Value = serde_json::from_slice(&seen).unwrap();
    bench.run(&["resume"]).ends(0);
    assert_eq!(calls(&bench, "ann"), 1, "the report was bought twice");
    assert_eq!(bench.sidecar("ann")["attempt"], 1);
    // When the job was there, and not when somebody read of it.
    for time in ["started_at", "ended_at"] {
        let of_guard = &seen["content"][time];
        assert_eq!(&bench.sidecar("ann")[time], of_guard, "{time}");
    }
    assert!(bench.sidecar("ann")["prompt_sha256"].is_string());
    bench.gate().ends(0);
}

fn outcome(bench: &Bench) -> Option<PathBuf> {
    let jobs = cache(bench).join("jobs");
    let found = bench.left_in_cache(&["jobs"]);
    let name = found
        .into_iter()
        .find(|path| path.ends_with("/outcome.json"))?;
    Some(jobs.parent()?.join(name))
}

/// Issue 4: a flipped bit in an outcome is told, and never believed.
#[test]
fn a_damaged_outcome_is_told_and_not_believed() {
    for damage in ["flipped", "torn"] {
        let bench = Bench::new();
        let agents = bench.repo.beside("agents");
        let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
        let first = ScriptedAgent::exits(3).after(&format!(
            "echo $$ > {}; read -r _ < {}",
            started.path().display(),
            go.path().display()
        ));
        let turns = [first, ScriptedAgent::passing()];
        let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
        let bench = bench.reviewer("ann", &agent).ready();
        let engine = Engine::start(&bench);
        started.reached();
        engine.signal("STOP");
        go.release();
        until("the guard has written the outcome", || {
            outcome(&bench).is_some()
        });
        engine.kill();
        let path = outcome(&bench).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        if damage == "torn" {
            bytes.truncate(bytes.len() / 2);
        } else {
            // The exit code 3 becomes another number.
            let text = String::from_utf8(bytes).unwrap();
            bytes = text.replacen("\"code\":3", "\"code\":0", 1).into_bytes();
        }
        std::fs::write(&path, bytes).unwrap();
        bench
            .run(&["resume"])
            .ends(0)
            .says("outcome.json is damaged");
        assert_eq!(bench.sidecar("ann")["attempt"], 2);
    }
}

/// Issue 4.3, design, section 9: an artifact that an event names is missing, cut, empty or has a flipped
/// bit: that run cannot go on, which is said clearly, and another one can. As it was, it can.
#[test]
fn a_damaged_artifact_ends_that_run_alone() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let ann = counted(&bench, "ann", &ScriptedAgent::passing());
    let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    point.reached();
    engine.kill();
    let run = run_id(&bench);
    let folder = state(&bench).run_path(run).join("artifacts");
    let files = std::fs::read_dir(folder).unwrap();
    let whole: Vec<(PathBuf, Vec<u8>)> = files
        .map(|file| file.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    for nth in 0..4 {
        let damaged = |bytes: &[u8]| match nth {
            0 => {
                let mut flipped = bytes.to_vec();
                flipped[bytes.len() / 2] ^= 1;
                Some(flipped)
            }
            1 => Some(bytes[..bytes.len() - 1].to_vec()),
            2 => Some(Vec::new()),
            _ => None,
        };
        // Of every one: a prompt that no event names yet is not missed.
        for (path, bytes) in &whole {
            match damaged(bytes) {
                Some(bytes) => std::fs::write(path, bytes).unwrap(),
                None => std::fs::remove_file(path).unwrap(),
            }
        }
        let ran = bench.run(&["resume"]);
        ran.ends(6).with("RL0501");
        assert_eq!(ran.next(), ["run-loop", "cancel", &run.to_string()]);
        let names = |(path, _): &(PathBuf, Vec<u8>)| {
            ran.stderr
                .contains(path.file_name().unwrap().to_str().unwrap())
        };
        assert!(
            whole.iter().any(names),
            "damage {nth} names no artifact: {ran:?}"
        );
        for (path, bytes) in &whole {
            std::fs::write(path, bytes).unwrap();
        }
    }
    for (path, _) in &whole {
        std::fs::write(path, "").unwrap();
    }
    bench.review().ends(0);
    bench.gate().ends(0);
    for (path, bytes) in &whole {
        std::fs::write(path, bytes).unwrap();
    }
    bench.run(&["resume", &run.to_string()]).ends(0);
    assert_eq!(calls(&bench, "ann"), 2, "once for each run");
}

/// Content that moved while nobody looked is reviewed again; what was approved before is void.
#[test]
fn content_that_moved_meanwhile_is_reviewed_again() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &bob)
        .ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    point.reached();
    engine.kill();
    bench.repo.write("src/lib.rs", "pub fn moved() {}\n");
    bench.repo.commit("moved");
    bench.run(&["resume"]).ends(0);
    let tree = bench.repo.git(&["rev-parse", "feature^{tree}"]);
    assert_eq!(bench.sidecar("ann")["tree"], tree);
    assert_eq!(bench.sidecar("ann")["round"], 2);
    bench.gate().ends(0);
}

/// Design, section 9: the base's configuration is resolved again; a change voids approvals.
#[test]
fn other_rules_at_the_base_void_the_approvals() {
    let (bench, point) = hanging_once();
    killed(&bench, &point);
    bench.repo.git(&["switch", "-q", "main"]);
    let path = bench.repo.root().join("run-loop.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    bench
        .repo
        .write("run-loop.yaml", format!("{text}review: {{fail-on: low}}\n"));
    bench.repo.commit("stricter");
    bench.repo.git(&["switch", "-q", "feature"]);
    bench.repo.git(&["rebase", "-q", "main"]);
    bench.run(&["resume"]).ends(4).with("RL0205");
    assert_eq!(bench.promoted(), Vec::<String>::new());
    bench.run(&["cancel"]).ends(0);
    bench.review().ends(0);
}

/// A NOT PASS that was recorded before the crash stands.
#[test]
fn a_recorded_not_pass_survives() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let turns = [ScriptedAgent::hangs_at(&point), ScriptedAgent::passing()];
    let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
    let bench = bench
        .reviewer("ann", &ScriptedAgent::not_passing(&high))
        .reviewer("bob", &bob)
        .ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"slot_settled\"", "\"ann\""]);
    point.reached();
    engine.kill();
    bench.run(&["resume"]).ends(1).with("RL0401");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// Issue 4: `cancel` of a living run ends its children once; a cancelled run never exits 0.
#[test]
fn cancel_ends_a_living_run() {
    let (bench, point) = hanging_once();
    let engine = Engine::start(&bench);
    let agent = point.reached();
    bench.run(&["cancel"]).ends(0).says("is cancelled");
    engine.ended().ends(143).says("RL0803");
    nothing_left(&bench, &agent);
    bench.run(&["status"]).says("cancelled");
    bench.run(&["cancel"]).ends(0).says("is cancelled");
    bench.run(&["resume"]).ends(3).with("RL0140");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// A run whose engine is dead is recorded as cancelled by the canceller, also when its working
/// tree is gone.
#[test]
fn cancel_ends_the_run_of_a_dead_engine() {
    let (bench, point) = hanging_once();
    let agent = killed(&bench, &point);
    bench.run(&["cancel"]).ends(0);
    nothing_left(&bench, &agent);
    bench.run(&["status"]).says("cancelled");
    bench.run(&["cancel"]).ends(0);
    bench.run(&["resume"]).ends(3).with("RL0140");
    bench.review().ends(0);
    // What was approved cannot be cancelled any more.
    bench.run(&["cancel"]).ends(3).with("RL0140");
    bench.gate().ends(0);
}

/// A message that a dead engine never read is read first, and twice is once.
#[test]
fn resume_reads_its_messages_first() {
    let (bench, point) = hanging_once();
    let agent = killed(&bench, &point);
    let run = run_id(&bench);
    let inbox = Inbox::open(&state(&bench), run).unwrap();
    for n in 1..3_u8 {
        let stamp = Stamp {
            at: Timestamp::from_millis(i64::from(n)),
            seed: [n; 32],
        };
        let id = MessageId::mint(&stamp, "message");
        inbox.send(&Message::new(id, run, Request::Cancel)).unwrap();
    }
    bench.run(&["resume"]).ends(143).with("RL0803");
    assert_eq!(
        inbox.read().unwrap(),
        Vec::new(),
        "handled messages are removed"
    );
    nothing_left(&bench, &agent);
}

/// A bit of the message's file flips: in the name of the agent `ann`, which makes `ano` of it, else in its
/// digest.
fn flip(path: &Path) {
    let mut text = std::fs::read_to_string(path).unwrap();
    if let Some(at) = text.find("\"ann\"") {
        text.replace_range(at..at + 5, "\"ano\"");
    } else {
        let at = text.find("\"sha256\":\"").unwrap() + 10;
        let digit = if &text[at..=at] == "0" { "1" } else { "0" };
        text.replace_range(at..=at, digit);
    }
    std::fs::write(path, text).unwrap();
}

/// The messages that lie in a folder.
fn messages(inbox: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(inbox).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// Issue 4: torn, flipped and foreign files in the inbox are told once, with a code and what to run, and
/// not acted on; nor is one from before messages had digests. What is right beside them is.
#[test]
fn damaged_messages_are_not_acted_on() {
    let (bench, point) = hanging_once();
    killed(&bench, &point);
    let run = run_id(&bench);
    let folder = state(&bench).run_path(run).join("inbox");
    let inbox = Inbox::open(&state(&bench), run).unwrap();
    let cancel = |n: u8| {
        let stamp = Stamp {
            at: Timestamp::from_millis(i64::from(n)),
            seed: [n; 32],
        };
        let id = MessageId::mint(&stamp, "message");
        let message = Message::new(id, run, Request::Cancel);
        inbox.send(&message).unwrap();
        (folder.join(format!("{id}.json")), message)
    };
    std::fs::write(folder.join("torn.json"), "{\"version\": 1, \"id\"").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.json")).unwrap();
    let (flipped, _) = cancel(1);
    flip(&flipped);
    let (bare, message) = cancel(2);
    std::fs::write(&bare, serde_json::to_vec(&message).unwrap()).unwrap();
    let ran = bench.run(&["resume"]);
    ran.ends(0);
    for path in [
        flipped,
        bare,
        folder.join("torn.json"),
        folder.join("link.json"),
    ] {
        let name = path.file_name().unwrap().to_str().unwrap();
        let line = format!("RL0143: the message {name} is damaged and not acted on: ");
        assert_eq!(
            ran.stderr.matches(&line).count(),
            1,
            "{line}\n{}",
            ran.stderr
        );
        assert!(std::fs::symlink_metadata(&path).is_ok(), "{name} is gone");
    }
    ran.says(&format!("; next: run-loop status {run}"));
    bench.gate().ends(0);
}

/// Issue 4: whoever sent a message that was damaged on its way is told so, with the next command, and
/// nothing is done of it: a flipped bit makes no job of another agent.
#[test]
fn a_sender_is_told_of_its_damaged_message() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let point = Point::new(&agents, "ready");
    let helper = counted(&bench, "ano", &ScriptedAgent::passing());
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&point))
        .spare("ano", &helper, "")
        .ready();
    let engine = Engine::start(&bench);
    let agent = point.reached();
    let run = run_id(&bench);
    let inbox = state(&bench).run_path(run).join("inbox");
    let prompt = bench.repo.beside("prompt.md");
    std::fs::write(&prompt, "Count.\n").unwrap();
    let prompt = prompt.to_str().unwrap();
    let submit = ["job", "submit", "--agent", "ann", "--prompt-file", prompt];
    for (line, next) in [
        (&["cancel"][..], format!("run-loop cancel {run}")),
        (&submit, "run-loop job list".to_owned()),
    ] {
        engine.signal("STOP");
        let sender = bench.spawn(line);
        until("the message is there", || !messages(&inbox).is_empty());
        for message in messages(&inbox) {
            flip(&message);
        }
        engine.signal("CONT");
        let told = Ran::of(&sender.wait_with_output().unwrap());
        told.ends(3).with("RL0143").says(&format!("next: {next}"));
        assert!(messages(&inbox).is_empty(), "{line:?} left its message");
    }
    assert!(there_is(&agent, &agents), "the run goes on");
    assert_eq!(calls(&bench, "ano"), 0);
    bench.run(&["cancel"]).ends(0);
    engine.ended().ends(143);
}

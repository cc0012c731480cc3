//! What a reviewer said whose end nobody vouches for: it bars PASS, and is never one.

use std::fs;
use std::process::Command;

use crate::profiled::JSON;
use crate::support::agents::{Point, ScriptedAgent, finding};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls, counted, there_is, until};

const TITLE: &str = "it divides by nothing";

/// Who reviews: NOT PASS in its first call, which never ends, and PASS then.
enum Who {
    /// A command that prints its report.
    Command,
    /// A known program, whose report stands in its events.
    Program,
}

/// A reviewer that goes on after its NOT PASS, and is under way in an engine: its process and its guard.
struct Refusing {
    bench: Bench,
    engine: Engine,
    agent: String,
    guard: String,
}

impl Refusing {
    fn new(who: &Who) -> Self {
        let bench = Bench::new();
        let point = Point::new(&bench.repo.beside("agents"), "ready");
        let critical = format!("[{}]", finding(TITLE, "critical", "src/lib.rs", 5));
        let goes_on = format!(
            "trap '' TERM; echo $$ $PPID > {}; forever",
            point.path().display()
        );
        let [refuses, passes] = match who {
            Who::Command => [
                ScriptedAgent::not_passing(&critical),
                ScriptedAgent::passing(),
            ],
            Who::Program => [("NOT PASS", &*critical), ("PASS", "[]")].map(said_by_a_program),
        };
        let turns = [refuses.and_then(&goes_on), passes];
        let agent = ScriptedAgent::in_turn(&bench.repo.beside("agents/turn"), &turns)
            .after("if [ \"${1:-}\" = --version ]; then echo 'program 8.8.8'; exit 0; fi");
        let bench = match who {
            Who::Command => bench.reviewer("ann", &agent),
            Who::Program => bench.known("ann", "claude", &agent).also("ann"),
        };
        let bench = bench.ready();
        let args = ["--base", "main", "--review-only", "--format", "ndjson"];
        let engine = Engine::of(command(&bench, &args));
        let told = point.reached();
        let (agent, guard) = told.split_once(' ').unwrap();
        let (agent, guard) = (agent.to_owned(), guard.to_owned());
        until("the guard has what it said", || captured(&bench));
        Self {
            bench,
            engine,
            agent,
            guard,
        }
    }
    fn signal(&self, signal: &str) {
        let kill = Command::new("kill")
            .args([&format!("-{signal}"), &self.guard])
            .status();
        assert!(kill.unwrap().success());
    }
}

/// A command in whose jobs a claude may write where these scripts tell what they do.
fn command(bench: &Bench, args: &[&str]) -> Command {
    let mut command = bench.command(args);
    command.env("CLAUDE_CONFIG_DIR", bench.repo.beside("agents"));
    command
}

/// A report as claude says it.
fn said_by_a_program((verdict, findings): (&str, &str)) -> ScriptedAgent {
    let findings = crate::support::agents::quote(findings);
    ScriptedAgent::with_script(format!(
        r#"{JSON}
REPORT=$(verdict '{verdict}' {findings} | json_text)
echo '{{"type":"system","subtype":"init","session_id":"s-1","model":"m-1","claude_code_version":"9.9.9"}}'
printf '{{"type":"assistant","message":{{"content":[{{"type":"text","text":%s}}]}}}}\n' "$REPORT"
[ '{verdict}' = PASS ] && printf '{{"type":"result","subtype":"success","is_error":false,"result":%s}}\n' "$REPORT"
"#
    ))
}

/// Whether a guard has written the finding down that its job printed.
fn captured(bench: &Bench) -> bool {
    let cache = bench.repo.beside("home").join(".cache/run-loop");
    let printed = bench.left_in_cache(&["jobs"]);
    let mut printed = printed.iter().filter(|path| path.ends_with("/stdout"));
    printed.any(|path| {
        let text = fs::read(cache.join(path)).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(TITLE)
    })
}

/// The PASS of the second call counts for nothing.
#[track_caller]
fn is_barred(bench: &Bench) {
    bench.run(&["show", "--findings"]).ends(0).says(TITLE);
    assert_ne!(bench.gate().code, Some(0));
    assert_eq!(bench.promoted(), [""; 0]);
}

/// V08: somebody kills the guard (the OOM killer, say): whatever kind of agent it was.
#[test]
fn v08_a_killed_guard_makes_no_not_pass_vanish() {
    for who in [Who::Command, Who::Program] {
        let job = Refusing::new(&who);
        job.signal("KILL");
        job.engine.ended().ends(1);
        is_barred(&job.bench);
    }
}

/// V08: the engine and the guard die at once, as where the power is lost, and the run is taken up.
#[test]
fn v08_nor_does_a_guard_that_dies_with_its_engine() {
    for who in [Who::Command, Who::Program] {
        let job = Refusing::new(&who);
        job.engine.signal("STOP");
        job.signal("KILL");
        job.engine.kill();
        let ran = command(&job.bench, &["resume"]).output().unwrap();
        Ran::of(&ran).ends(1);
        let agents = job.bench.repo.beside("agents");
        assert!(!there_is(&job.agent, &agents), "{} lives", job.agent);
        is_barred(&job.bench);
    }
}

/// V08, design section 8: who is impatient and interrupts twice loses no claim, whether the guard still tells
/// how its job ended or stands still itself.
#[test]
fn v08_a_second_signal_makes_no_not_pass_vanish() {
    for stands_still in [false, true] {
        let mut job = Refusing::new(&Who::Command);
        if stands_still {
            job.signal("STOP");
        }
        job.engine.signal("INT");
        job.engine.line_with(&["stop_requested"]);
        job.engine.signal("INT");
        job.engine.ended().ends(130);
        job.bench.run(&["resume"]).ends(1);
        is_barred(&job.bench);
    }
}

/// V08: the record of how it ended is damaged.
#[test]
fn v08_a_damaged_outcome_makes_no_not_pass_vanish() {
    for command in ["resume", "cancel"] {
        let job = Refusing::new(&Who::Command);
        job.engine.kill();
        let cache = job.bench.repo.beside("home").join(".cache/run-loop");
        let written = || {
            let left = job.bench.left_in_cache(&["jobs"]);
            left.into_iter()
                .find(|path| path.ends_with("/outcome.json"))
        };
        until("the guard has written the outcome", || written().is_some());
        let outcome = cache.join(written().unwrap());
        fs::write(outcome, "{").unwrap();
        let ended = job.bench.run(&[command]);
        if command == "resume" {
            ended.ends(1);
            is_barred(&job.bench);
        } else {
            ended.ends(0);
            job.bench.gate().ends(1);
        }
    }
}

/// A report that was finished is not bought again, though somebody interrupted twice while the guard ended what
/// the agent had left.
#[test]
fn a_second_signal_loses_no_finished_report() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let agent = ScriptedAgent::passing().and_then(&format!(
        "(trap '' TERM; echo $$ > {}; forever) < /dev/null > /dev/null 2>&1 &",
        point.path().display()
    ));
    let agent = counted(&bench, "ann", &agent);
    let bench = bench.reviewer("ann", &agent).ready();
    let mut engine = Engine::start(&bench);
    let agent = point.reached();
    until("it has ended", || {
        let stat = fs::read_to_string(format!("/proc/{agent}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
    engine.signal("INT");
    engine.line_with(&["stop_requested"]);
    engine.signal("INT");
    engine.ended().ends(130);
    bench.run(&["resume"]).ends(0);
    assert_eq!(calls(&bench, "ann"), 1, "the report was bought twice");
    bench.gate().ends(0);
}

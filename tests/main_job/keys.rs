//! Who can come by a key: through `/proc`, and by what others hand over (issue 6, 5).

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::profiled::assert_nowhere;
use crate::support::agents::{Point, ScriptedAgent, executable, within};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls, counted, until};
use crate::support::rights::without_capabilities;
use crate::support::skipped;

const CANARY: &str = "engine-canary-9f31c07d";
const OPEN: &str = "open-canary-41be";

/// The command without the capabilities of root; `None` where nobody can take them away.
pub(crate) fn as_anybody(command: &Command) -> Option<Command> {
    let before = without_capabilities()?.iter().map(OsStr::new);
    let mut words = before.chain([command.get_program()]);
    let mut line = Command::new(words.next()?);
    line.args(words)
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in command.get_envs() {
        line.env(name, value.unwrap());
    }
    Some(line)
}

/// An agent that is not confined, and a command of the project, look into every process that they can see:
/// they find the key of a process that anybody may read, and none of those that the engine alone was given.
#[test]
fn no_job_reads_the_keys_that_the_engine_was_given() {
    let bench = Bench::new();
    let found = bench.repo.beside("found");
    std::fs::create_dir_all(&found).unwrap();
    let looks = |who: &str| {
        format!(
            "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -a '^CANARY=' > '{}'",
            found.join(who).display()
        )
    };
    let agent = ScriptedAgent::passing().after(&looks("agent"));
    let check = format!("#!/bin/sh\n{}\nexit 0\n", looks("check"));
    let check = executable(&bench.repo.beside("agents"), "look", &check);
    let bench = bench
        .reviewer("ann", &agent)
        .also("checks")
        .config(&format!(
            "checks: [{{name: look, run: {}}}]",
            check.display()
        ))
        .ready();
    let mut sleeps = Command::new("sleep");
    let sleeps = sleeps.arg("600").current_dir("/").env("CANARY", OPEN);
    let mut run = bench.command(&["--base", "main", "--review-only"]);
    run.env("CANARY", CANARY);
    let (Some(mut sleeps), Some(mut run)) = (as_anybody(sleeps), as_anybody(&run)) else {
        return skipped("nobody can take the capabilities of root away here");
    };
    let mut open = sleeps.spawn().unwrap();
    let ran = Ran::of(&run.output().unwrap());
    open.kill().unwrap();
    open.wait().unwrap();
    ran.ends(0);
    for who in ["agent", "check"] {
        let seen = std::fs::read_to_string(found.join(who)).unwrap();
        assert!(seen.contains(OPEN), "{who} saw nothing: {seen}");
        assert!(!seen.contains(CANARY), "{who} saw it: {seen}");
    }
}

/// What an agent of the user's own is given by name is shown nowhere, whatever the variable is called, and
/// whoever has it from somewhere.
#[test]
fn what_a_command_is_given_by_name_is_shown_nowhere() {
    let bench = Bench::new();
    let given = ScriptedAgent::passing()
        .after("echo \"I am $HOUSE_LOGIN\" >&2; SUMMARY=\"I am $HOUSE_LOGIN\"");
    let stole = ScriptedAgent::passing().after(&format!("SUMMARY='It is {CANARY}'"));
    let bench = bench
        .reviewer_with("ann", &given, "env: [HOUSE_LOGIN]")
        .reviewer("bob", &stole)
        .ready();
    let mut run = bench.command(&["--base", "main", "--review-only"]);
    let ran = Ran::of(&run.env("HOUSE_LOGIN", CANARY).output().unwrap());
    ran.ends(0);
    assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY));
    assert_nowhere(bench.repo.root(), CANARY);
    assert_nowhere(&bench.repo.beside("home"), CANARY);
}

/// A path of the change is what a report answers for, whatever it looks like: it is read as it came. What is
/// kept and shown of it holds no key all the same.
#[test]
fn a_path_that_looks_like_a_key_is_reviewed() {
    let token = concat!("sk-", "0123456789abcdef0123");
    let finding = format!(
        r#"[{{"severity": "high", "title": "No {CANARY}", "path": "{token}", "line": 1, "body": "It is {CANARY}."}}]"#
    );
    for (verdict, findings, code) in [("PASS", "[]", 0), ("NOT PASS", &*finding, 1)] {
        let agent = ScriptedAgent::with_script(format!(
            "read_prompt; SUMMARY=\"For $A_KEY and {CANARY}\" verdict '{verdict}' '{findings}'"
        ));
        let bench = Bench::new()
            .reviewer_with("ann", &agent, "env: [A_KEY, HOUSE_LOGIN]")
            .ready();
        for path in [token, "placeholder.txt"] {
            bench.repo.write(path, "a\n");
        }
        bench.repo.commit("names like keys");
        let mut run = bench.command(&["--base", "main", "--review-only"]);
        run.env("A_KEY", "placeholder").env("HOUSE_LOGIN", CANARY);
        Ran::of(&run.output().unwrap()).ends(code);
        assert_nowhere(bench.repo.root(), CANARY);
        assert_nowhere(&bench.repo.beside("home"), CANARY);
        if code != 0 {
            let told = bench.run(&["show", "--findings"]);
            told.says(&format!("{token}:1")).says("No [redacted]");
        }
    }
}

/// A setting that an agent is given by name is none: its word may be said. What looks like a key is one,
/// whatever the variable is called, and so is a password in an address.
#[test]
fn a_setting_that_is_given_by_name_may_be_said() {
    let bench = Bench::new();
    let given = ScriptedAgent::passing()
        .after("SUMMARY=\"For $NODE_ENV, $HOUSE_LINE, $http_proxy and proxy-canary-5\"");
    let bench = bench
        .reviewer_with("ann", &given, "env: [NODE_ENV, HOUSE_LINE]")
        .ready();
    let mut run = bench.command(&["--base", "main", "--review-only"]);
    run.env("NODE_ENV", "production")
        .env("HOUSE_LINE", "line-0123456789abcdefghij")
        .env("http_proxy", "http://me:proxy-canary-5@127.0.0.1:9");
    Ran::of(&run.output().unwrap()).ends(0);
    let report = format!(
        "report-{}.md",
        bench.sidecar("ann")["job"].as_str().unwrap()
    );
    let report = bench.repo.root().join(".agents/reports/ann").join(report);
    let report = std::fs::read_to_string(report).unwrap();
    assert!(
        report.contains("For production, [redacted], http://"),
        "{report}"
    );
    for secret in ["line-0123456789abcdefghij", "proxy-canary-5"] {
        assert_nowhere(bench.repo.root(), secret);
        assert_nowhere(&bench.repo.beside("home"), secret);
    }
}

/// A reviewer that says its key, reaches a point, and waits at another.
fn says_its_key(bench: &Bench) -> (ScriptedAgent, Point, Point) {
    let agents = bench.repo.beside("agents");
    let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
    let agent = ScriptedAgent::passing().after(&format!(
        "echo \"I am $HOUSE_LOGIN\"; echo $$ > {}; read -r _ < {}; SUMMARY=\"I am $HOUSE_LOGIN\"",
        started.path().display(),
        go.path().display()
    ));
    (agent, started, go)
}

const REVIEW: [&str; 3] = ["--base", "main", "--review-only"];

/// The engine dies, and the run is taken up in a shell in which the key is another one: nobody there could
/// take the first one out of what the job left, so nothing of it is used.
#[test]
fn a_key_that_only_the_dead_engine_knew_is_shown_nowhere() {
    let bench = Bench::new();
    let (agent, started, go) = says_its_key(&bench);
    let agent = counted(&bench, "ann", &agent);
    let bench = bench
        .reviewer_with("ann", &agent, "env: [HOUSE_LOGIN], report: file")
        .ready();
    let with = |args: &[&str], login: &str| {
        let mut command = bench.command(args);
        command.env("HOUSE_LOGIN", login);
        command
    };
    let engine = Engine::of(with(&REVIEW, CANARY));
    started.reached();
    engine.signal("STOP");
    go.release();
    until("the guard has written the outcome", || {
        let left = bench.left_in_cache(&["jobs"]);
        left.iter().any(|path| path.ends_with("/outcome.json"))
    });
    engine.kill();
    let mut resume = with(&["resume"], "another-login-77");
    let resume = resume.stdout(std::process::Stdio::piped());
    let resume = resume.stderr(std::process::Stdio::piped()).spawn().unwrap();
    started.reached();
    go.release();
    let ran = within("the run to end", || resume.wait_with_output().unwrap());
    let ran = Ran::of(&ran);
    ran.ends(0);
    assert_eq!(calls(&bench, "ann"), 2, "the job was believed");
    assert!(!ran.stdout.contains(CANARY) && !ran.stderr.contains(CANARY));
    assert_nowhere(bench.repo.root(), CANARY);
    assert_nowhere(&bench.repo.beside("home"), CANARY);
    bench
        .run(&["log"])
        .says("keys that it could see are not set here");
}

/// Who looks from a shell that lacks the key is shown nothing of what the job says.
#[test]
fn a_key_that_the_shell_lacks_is_not_shown_while_the_job_runs() {
    let bench = Bench::new();
    let (agent, started, go) = says_its_key(&bench);
    let bench = bench
        .reviewer_with("ann", &agent, "env: [HOUSE_LOGIN], report: file")
        .ready();
    let engine = Engine::of({
        let mut command = bench.command(&REVIEW);
        command.env("HOUSE_LOGIN", CANARY);
        command
    });
    started.reached();
    let mut log = bench.spawn(&["log", "-f"]);
    let out = log.stdout.take().unwrap();
    let lines = within("the activity to be told", move || {
        let mut lines = String::new();
        let mut reader = BufReader::new(out);
        while !lines.contains("ann: …") && !lines.contains("ann: I am") {
            assert!(reader.read_line(&mut lines).unwrap() > 0, "{lines}");
        }
        lines
    });
    go.release();
    engine.ended().ends(0);
    log.wait().unwrap();
    assert!(!lines.contains(CANARY), "{lines}");
}

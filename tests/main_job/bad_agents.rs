//! Agents that do not do what they should: no verdict, no promotion, nothing left running.

use std::process::{Command, Stdio};

use crate::support::agents::{ScriptedAgent, quote, within};
use crate::support::bench::{Bench, Ran};
use crate::support::skipped;

/// T-108: TERM, grace, KILL; a perfect report of a job that we stopped is no verdict.
#[test]
fn an_agent_that_ignores_term_is_killed_and_gives_no_verdict() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::ignores_term())
        .ready();
    bench
        .run(&["--base", "main", "--review-only", "--job-timeout", "1"])
        .ends(5)
        .with("RL0301")
        .says("budget");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// P12: 50 MB on the report's own channel is no report, though a verdict stands at its end.
#[test]
fn a_flood_on_the_report_channel_is_no_verdict() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::floods(50_000_000))
        .ready();
    bench.review().ends(5).with("RL0301");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// A flood beside the report is cut and costs the verdict nothing.
#[test]
fn a_flood_beside_the_report_file_is_cut() {
    let bench = Bench::new()
        .reviewer_with("ann", &ScriptedAgent::floods(50_000_000), "report: file")
        .ready();
    bench.review().ends(0);
}

/// T-062: what an agent needs is asked before anything starts, of a fallback too.
#[test]
fn a_missing_variable_is_a_usage_error_of_a_fallback_too() {
    let passing = ScriptedAgent::passing();
    let own = Bench::new()
        .reviewer_with("ann", &passing, "env: [NO_SUCH_TOKEN]")
        .ready();
    let fallback = Bench::new()
        .spare("ann", &passing, "")
        .spare("bob", &passing, "env: [NO_SUCH_TOKEN]")
        .also("{agent: ann, fallback: [bob]}")
        .ready();
    for bench in [own, fallback] {
        bench
            .review()
            .ends(2)
            .with("RL0006")
            .says("NO_SUCH_TOKEN")
            .next();
        assert!(
            !bench.repo.root().join(".git/run-loop").exists(),
            "validation comes before any file"
        );
    }
}

#[test]
fn a_fallback_that_is_missing_is_a_usage_error() {
    let bench = Bench::new()
        .spare("ann", &ScriptedAgent::passing(), "")
        .also("{agent: ann, fallback: [bob]}")
        .config("# `bob` is defined nowhere")
        .ready();
    bench.review().ends(2).with("RL0005").says("bob");
}

/// An agent that writes into the source: the content moved, so its PASS is void, whatever it said.
#[test]
fn an_agent_that_writes_into_the_source_is_not_promoted() {
    let bench = Bench::new();
    let file = bench.repo.root().join("src/lib.rs");
    let agent = ScriptedAgent::writes_into(&quote(file.to_str().unwrap()));
    let bench = bench.reviewer("ann", &agent).ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--max-rounds", "1"]);
    ran.ends(4).with("RL0201").says("src/lib.rs");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

fn with_a_person() -> Bench {
    Bench::new()
        .config("agents: {pat: {kind: human}}\nroles: {reviewers: [{agent: pat, coverage: none}]}")
        .ready()
}

/// A person needs a terminal; that there is none is a reason to start nobody.
#[test]
fn a_person_without_a_terminal_is_missed_before_anything_starts() {
    let bench = with_a_person();
    bench.review().ends(2).with("RL0006").says("no terminal");
    assert!(!bench.repo.root().join(".git/run-loop").exists());
    let doctor = bench.run(&["doctor", "--base", "main"]);
    doctor.ends(2).says("no terminal");
}

/// Why a program failed stands in what it said last, and all of that is kept without its keys.
#[test]
fn what_a_failed_program_said_is_kept_and_shown() {
    let script =
        "echo trying; echo 'warming up' >&2; echo \"FATAL: $BOT_TOKEN is no key\" >&2; exit 3";
    let bench = Bench::new()
        .reviewer_with(
            "ann",
            &ScriptedAgent::with_script(script),
            "env: [BOT_TOKEN]",
        )
        .ready();
    let mut command = bench.command(&["--base", "main", "--review-only"]);
    command.env("BOT_TOKEN", "canary-0123456789");
    let ran = Ran::of(&command.output().unwrap());
    ran.ends(5).with("RL0301").says("exited with 3: FATAL: ");
    let shown = bench.run(&["show", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    let printed = report["printed"].as_array().unwrap();
    assert_eq!(printed.len(), 2, "both attempts: {printed:?}");
    for one in printed {
        assert_eq!(
            (&one["what"], &one["role"]),
            (&"stderr".into(), &"review".into())
        );
        let file = one["file"].as_str().unwrap();
        let said = std::fs::read_to_string(file).unwrap();
        assert!(said.contains("warming up\nFATAL: "), "{said}");
        assert!(!said.contains("canary"), "{said}");
        let people = bench.run(&["show"]).stdout;
        assert!(
            people.contains(&format!("round 1 ann review stderr  {file}")),
            "{people}"
        );
    }
}

/// A person at a (pseudo-)terminal confirms by the slot's name.
#[test]
fn a_person_at_a_terminal_passes_or_does_not() {
    for (typed, code) in [
        ("Looks good.\nVERDICT: PASS\npat\n", 0),
        ("Not good.\nVERDICT: NOT PASS\npat\n", 1),
        // Asked once more, and not confirmed again.
        ("VERDICT: PASS\nyes\nVERDICT: PASS\nno\n", 5),
    ] {
        let bench = with_a_person();
        let Some(ran) = at_a_terminal(&bench, typed) else {
            skipped("no script(1) of util-linux is here to make a terminal");
            return;
        };
        ran.ends(code);
        assert_eq!(bench.promoted().is_empty(), code != 0);
        if code == 0 {
            assert_eq!(bench.sidecar("pat")["coverage"], "none");
        }
    }
}

/// The main job at a pseudo-terminal made by `script`, where it is.
fn at_a_terminal(bench: &Bench, typed: &str) -> Option<Ran> {
    let version = Command::new("script").arg("--version").output().ok()?;
    String::from_utf8_lossy(&version.stdout)
        .contains("util-linux")
        .then_some(())?;
    let line = format!(
        "{} --base main --review-only",
        quote(env!("CARGO_BIN_EXE_run-loop"))
    );
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(bench.repo.root())
        .env_clear()
        .env("SHELL", "/bin/sh")
        .envs(bench.environment())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, typed.as_bytes()).unwrap();
    // The end of input stays open: at a terminal nobody hangs up after the last word.
    let output = within("the person's run to end", move || {
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        output
    });
    Some(Ran::of(&output))
}

/// What a program leaves running (a server for its user, a build) is ended with its job, and told of by name.
#[test]
fn what_a_program_leaves_running_is_told() {
    let leaves = "setsid sleep 600 > /dev/null 2>&1 < /dev/null &
        until [ \"$(cat /proc/$!/comm)\" = sleep ]; do :; done";
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing().after(leaves))
        .reviewer("bob", &ScriptedAgent::passing())
        .ready();
    let ran = bench.review();
    ran.ends(0);
    let log = bench.run(&["log"]).ends(0).stdout.clone();
    let ended = |name: &str| {
        let mut lines = log.lines();
        lines.find(|line| line.contains(&format!("{name}: ended after")))
    };
    let told = "(exit code 0, 1 process that it left running ended with it: sleep): says PASS";
    assert!(ended("ann").unwrap().contains(told), "{log}");
    assert!(
        ended("bob").unwrap().contains("(exit code 0): says PASS"),
        "{log}"
    );
    // Of one that is delegated, too.
    let prompt = bench.repo.beside("prompt.md");
    std::fs::write(&prompt, "Do it.\n").unwrap();
    let prompt = prompt.to_str().unwrap();
    let line = ["job", "submit", "--agent", "ann", "--prompt-file", prompt];
    bench
        .run(&line)
        .ends(0)
        .says("ended: exit code 0, 1 process that it left running ended with it: sleep");
}

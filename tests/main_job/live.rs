//! What a person sees while a run goes on: at a terminal, and with `log --follow`.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Command;

use crate::support::agents::{Point, ScriptedAgent, within};
use crate::support::bench::{Bench, Ran};
use crate::support::skipped;
use crate::support::terminal::Terminal;

/// A reviewer that says something hostile, reaches one point, and waits at another.
struct Held {
    bench: Bench,
    reached: Point,
    go: Point,
}

fn held() -> Held {
    let bench = Bench::new();
    let folder = bench.repo.beside("agents");
    let (reached, go) = (Point::new(&folder, "reached"), Point::new(&folder, "go"));
    let script = format!(
        "read_prompt; printf 'looks \\033[2Jat \\342\\200\\256it ghp_%s\\n' wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx; \
         echo here > {}; read -r _ < {}; verdict PASS '[]' | deliver",
        reached.path().display(),
        go.path().display()
    );
    let agent = ScriptedAgent::with_script(script);
    let bench = bench.reviewer_with("ann", &agent, "report: file").ready();
    Held { bench, reached, go }
}

const REVIEW: [&str; 3] = ["--base", "main", "--review-only"];

fn at_terminal(held: &Held, columns: u16, more: &[(&str, &str)]) -> Option<Terminal> {
    let prepare = |command: &mut Command| {
        command.env_clear().envs(held.bench.environment());
        command.env("TERM", "xterm").envs(more.iter().copied());
    };
    let line = [&[env!("CARGO_BIN_EXE_run-loop")], &REVIEW[..]].concat();
    Terminal::start(prepare, &line, columns, held.bench.repo.root())
}

#[test]
fn a_terminal_shows_each_slot_and_nothing_can_act_on_it() {
    let held = held();
    let Some(mut terminal) = at_terminal(&held, 72, &[]) else {
        return skipped("there is no `script` here");
    };
    held.reached.reached();
    terminal.shows("round 1, review, ");
    terminal.shows(" ago: looks \\u{1b}[2Jat \\u{202e}it");
    held.go.release();
    let ended = terminal.ends();
    assert_eq!(ended.code, 0, "{}", ended.screen);
    assert!(!ended.screen.contains("\u{1b}[2J"), "{}", ended.screen);
    assert!(
        !ended.screen.contains("ghp_wWPw5k"),
        "a token is shown: {}",
        ended.screen
    );
    assert!(
        ended.screen.contains("round 1 ann: PASS"),
        "{}",
        ended.screen
    );
    assert!(ended.screen.contains("verdicts"), "{}", ended.screen);
}

#[test]
fn a_ci_system_and_a_dumb_terminal_get_plain_lines() {
    for more in [("CI", "true"), ("TERM", "dumb")] {
        let held = held();
        let Some(mut terminal) = at_terminal(&held, 72, &[more]) else {
            return skipped("there is no `script` here");
        };
        held.reached.reached();
        terminal.shows("round 1 ann: started");
        held.go.release();
        let ended = terminal.ends();
        assert_eq!(ended.code, 0, "{}", ended.screen);
        assert!(
            !ended.screen.contains("round 1, review"),
            "{more:?}: {}",
            ended.screen
        );
        // Colours may be there; nothing moves the cursor.
        for moves in ["\u{1b}[1A", "\u{1b}[2K", "\u{1b}[K"] {
            assert!(
                !ended.screen.contains(moves),
                "{more:?}: {:?}",
                ended.screen
            );
        }
    }
}

/// `log --follow` tells what goes on and ends with the run.
#[test]
fn a_run_is_followed_to_its_end() {
    let held = held();
    let run = held.bench.spawn(&REVIEW);
    held.reached.reached();
    let mut log = held.bench.spawn(&["log", "-f"]);
    let mut events = held.bench.spawn(&["events", "-f"]);
    let out = log.stdout.take().unwrap();
    let lines = within("the activity to be told", move || {
        let mut reader = BufReader::new(out);
        let mut lines = String::new();
        while !lines.contains("ann: looks") {
            assert!(reader.read_line(&mut lines).unwrap() > 0, "{lines}");
        }
        (reader, lines)
    });
    held.go.release();
    let (mut reader, mut text) = lines;
    let text = within("the log to end", move || {
        reader.read_to_string(&mut text).unwrap();
        text
    });
    assert!(text.contains("ann: started (attempt 1"), "{text}");
    assert!(
        !text.contains('\u{1b}') && !text.contains("ghp_wWPw5k"),
        "{text}"
    );
    assert!(
        text.contains("verdicts\n") && text.contains(": PASS\n"),
        "{text}"
    );
    assert_eq!(log.wait().unwrap().code(), Some(0));
    Ran::of(&within("the run to end", || {
        run.wait_with_output().unwrap()
    }))
    .ends(0);
    let mut documents = String::new();
    events
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut documents)
        .unwrap();
    assert_eq!(events.wait().unwrap().code(), Some(0));
    let kinds: Vec<String> = documents
        .lines()
        .map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event["event"]["kind"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(kinds.first().map(String::as_str), Some("run_started"));
    assert_eq!(kinds.last().map(String::as_str), Some("run_ended"));
}

/// A job that is no review is followed like one, and told with its agent.
#[test]
fn what_a_creator_does_is_told() {
    let bench = Bench::new();
    let folder = bench.repo.beside("agents");
    let (reached, go) = (Point::new(&folder, "reached"), Point::new(&folder, "go"));
    let writes = ScriptedAgent::with_script(format!(
        "read_prompt; echo 'looks for the sum'; echo here > {}; read -r _ < {}; \
         echo '// sum' >> src/lib.rs; echo 'It is written.' | deliver",
        reached.path().display(),
        go.path().display()
    ));
    let bench = bench
        .reviewer("bob", &ScriptedAgent::passing())
        .spare("cora", &writes, "report: file")
        .ready();
    let line = ["--base", "main", "--creator", "cora", "add a sum"];
    let prepare = |command: &mut Command| {
        command.env_clear().envs(bench.environment());
        command.env("TERM", "xterm");
    };
    let program = [&[env!("CARGO_BIN_EXE_run-loop")], &line[..]].concat();
    let Some(mut terminal) = Terminal::start(prepare, &program, 100, bench.repo.root()) else {
        return skipped("there is no `script` here");
    };
    reached.reached();
    terminal.shows("cora");
    terminal.shows(" ago: looks for the sum");
    let mut log = bench.spawn(&["log", "-f"]);
    let out = log.stdout.take().unwrap();
    let reader = within("the activity to be told", move || {
        let mut reader = BufReader::new(out);
        let mut lines = String::new();
        while !lines.contains(": looks for the sum") {
            assert!(reader.read_line(&mut lines).unwrap() > 0, "{lines}");
        }
        reader
    });
    go.release();
    assert_eq!(terminal.ends().code, 0);
    drop(reader);
    log.wait().unwrap();
}

/// H09: who follows a run whose engine dies is told so, and what to do.
#[test]
fn a_run_whose_engine_dies_is_followed_no_further() {
    let held = held();
    let mut run = held.bench.spawn(&REVIEW);
    held.reached.reached();
    let log = held.bench.spawn(&["log", "--follow"]);
    run.kill().unwrap();
    run.wait().unwrap();
    let ran = Ran::of(&within("the log to end", || {
        log.wait_with_output().unwrap()
    }));
    ran.ends(0)
        .says("interrupted")
        .says("next: run-loop resume");
}

//! Engines that are killed: started with a stream of events, signalled, waited for.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use super::agents::ScriptedAgent;
use super::bench::{Bench, Ran};

/// A running loop whose events are read line by line.
pub struct Engine {
    child: Child,
    lines: BufReader<ChildStdout>,
    /// The lines read so far.
    pub seen: Vec<String>,
}

impl Engine {
    /// The main job against `main`.
    pub fn start(bench: &Bench) -> Self {
        Self::start_with(
            bench,
            &["--base", "main", "--review-only", "--format", "ndjson"],
        )
    }
    pub fn start_with(bench: &Bench, args: &[&str]) -> Self {
        Self::of(bench.command(args))
    }
    /// Any command of the program's.
    pub fn of(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            lines,
            seen: Vec::new(),
        }
    }
    /// The next event; false at the end of the stream.
    pub fn next(&mut self) -> bool {
        let mut line = String::new();
        let there = self.lines.read_line(&mut line).unwrap() > 0;
        if there {
            self.seen.push(line);
        }
        there
    }
    /// Reads on to a line with all of these texts.
    #[track_caller]
    pub fn line_with(&mut self, texts: &[&str]) {
        while self.next() {
            let line = self.seen.last().unwrap();
            if texts.iter().all(|text| line.contains(text)) {
                return;
            }
        }
        panic!("no line with {texts:?} in {:#?}", self.seen);
    }
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(kill.unwrap().success());
    }
    /// SIGKILL, and reaped; the lines that it had printed before are read.
    pub fn kill(mut self) -> Vec<String> {
        // One that has ended already is not there to be killed.
        drop(self.child.kill());
        self.child.wait().unwrap();
        while self.next() {}
        self.seen
    }
    /// Waits for its end; it is not read while it runs, but what it prints is small.
    pub fn ended(mut self) -> Ran {
        while self.next() {}
        let mut stderr = String::new();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        Ran {
            code: self.child.wait().unwrap().code(),
            stdout: self.seen.concat(),
            stderr,
        }
    }
}

/// An agent that writes its process and its round down first, one line for each call.
pub fn counted(bench: &Bench, name: &str, agent: &ScriptedAgent) -> ScriptedAgent {
    let path = bench.repo.beside("agents").join(format!("{name}.calls"));
    agent.clone().after(&format!(
        "echo \"$$ ${{RUN_LOOP_JOB_ROUND:-0}}\" >> '{}'",
        path.display()
    ))
}

/// How often it was called.
pub fn calls(bench: &Bench, name: &str) -> usize {
    processes(bench, name).len()
}

/// How often it was called in a round.
pub fn calls_in(bench: &Bench, name: &str, round: u64) -> usize {
    let noted = noted(bench, name);
    noted.iter().filter(|(_, of)| *of == round).count()
}

/// The processes of its calls.
pub fn processes(bench: &Bench, name: &str) -> Vec<String> {
    noted(bench, name).into_iter().map(|(pid, _)| pid).collect()
}

/// The process and the round of each call.
fn noted(bench: &Bench, name: &str) -> Vec<(String, u64)> {
    let path = bench.repo.beside("agents").join(format!("{name}.calls"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let noted = text.lines().filter_map(|line| line.split_once(' '));
    noted
        .map(|(pid, round)| (pid.to_owned(), round.parse().unwrap()))
        .collect()
}

/// Whether a process of this number lives that was started from this folder.
pub fn there_is(pid: &str, folder: &Path) -> bool {
    let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains(folder.to_str().unwrap())
}

/// Waits until something holds; panics after a minute.
#[track_caller]
pub fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "waited a minute until {what}"
        );
        // Not a guess of how long it takes: only how often we look.
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

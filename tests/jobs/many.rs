//! Fifty jobs at once whose agents flood 10 MB each: flat memory, every byte kept or marked as
//! cut, and few commits for each job.

use std::path::Path;

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};

const JOBS: usize = 50;
const FLOOD: u64 = 10 << 20;
/// What a journal tells of a job that a job delegates.
const EVENTS: [&str; 4] = [
    "job_submitted",
    "delegate_started",
    "delegate_ended",
    "job_closed",
];

/// A figure of `/proc/<pid>/status`, in KiB.
fn kib(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap();
    figure(line)
}

/// The number in a line.
fn figure(line: &str) -> u64 {
    let digits: String = line.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

fn captures(root: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for run in std::fs::read_dir(root.join("jobs")).unwrap() {
        for folder in std::fs::read_dir(run.unwrap().path()).unwrap() {
            let path = folder.unwrap().path();
            if path.extension().is_some_and(|end| end == "capture") {
                found.push(path);
            }
        }
    }
    found
}

/// How many durable commits the write-ahead log of the only run holds: frames that end one, of the log
/// as it was begun (`SQLite`'s file format, section 4.1).
fn commits(root: &Path) -> usize {
    let run = std::fs::read_dir(root.join(".git/run-loop/runs"))
        .unwrap()
        .next();
    let wal = run.unwrap().unwrap().path().join("journal.db-wal");
    let bytes = std::fs::read(wal).unwrap();
    let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    let (page, begun) = (word(8) as usize, word(12));
    assert_eq!(
        begun, 0,
        "the log was started over, and what it held before is not counted"
    );
    let frames = (32..bytes.len()).step_by(24 + page);
    let whole = frames.filter(|at| at + 24 + page <= bytes.len());
    let ours = whole.filter(|at| bytes[at + 8..at + 16] == bytes[16..24]);
    ours.filter(|at| word(at + 4) != 0).count()
}

/// Keeps what the log of the only run holds there until it is dropped: one that reads an older state is
/// not written over.
fn reading(root: &Path) -> rusqlite::Connection {
    let run = std::fs::read_dir(root.join(".git/run-loop/runs"))
        .unwrap()
        .next();
    let path = run.unwrap().unwrap().path().join("journal.db");
    let reader = rusqlite::Connection::open(path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let count = "SELECT count(*) FROM sqlite_schema";
    reader
        .query_row(count, [], |row| row.get::<_, i64>(0))
        .unwrap();
    reader
}

/// T-188: whoever else reads the log at the same time, each line comes once.
fn each_line_comes_once(bench: &Bench, log: &str) {
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let mut command = bench.command(&["log", "--format", "ndjson"]);
            command
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for reader in readers {
        let read = reader.wait_with_output().unwrap().stdout;
        assert_eq!(String::from_utf8(read).unwrap(), log);
    }
    let mut lines: Vec<&str> = log.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all);
}

/// Issue 3: the engine holds nothing of what eight agents print at once, 100 MB each.
#[test]
fn eight_agents_that_print_100_mb_each_cost_the_engine_no_memory() {
    const AGENTS: usize = 8;
    const PRINTED: u64 = 100_000_000;
    let mut bench = Bench::new().config("review: {max-parallel: 8}");
    let folder = bench.repo.beside("tmp");
    let mut points = Vec::new();
    for number in 0..AGENTS {
        let point = |name: &str| Point::new(&folder, &format!("{name}.{number}"));
        let (ready, go, done, end) = (point("ready"), point("go"), point("done"), point("end"));
        let agent = ScriptedAgent::with_script(format!(
            "read_prompt; echo x > {}; read -r _ < {}; head -c {PRINTED} /dev/zero | tr '\\0' y >&2; \
             echo x > {}; read -r _ < {}; verdict PASS '[]' | deliver",
            ready.path().display(),
            go.path().display(),
            done.path().display(),
            end.path().display(),
        ));
        bench = bench.reviewer(&format!("reader-{number}"), &agent);
        points.push((ready, go, done, end));
    }
    let bench = bench.ready();
    let child = bench.spawn(&["--base", "main", "--review-only"]);
    for (ready, ..) in &points {
        ready.reached();
    }
    let idle = kib(child.id(), "VmRSS:");
    for (_, go, ..) in &points {
        go.release();
    }
    for (_, _, done, _) in &points {
        done.reached();
    }
    for (.., end) in &points {
        end.release();
    }
    let pid = child.id();
    // Its peak is read while it lives: what comes after the agents is no more.
    let peak = kib(pid, "VmHWM:");
    Ran::of(&child.wait_with_output().unwrap()).ends(0);
    println!("{idle} KiB before they print, {peak} KiB at the peak");
    assert!(
        peak < idle + 40 * 1024,
        "{peak} KiB at the peak, {idle} KiB before they print"
    );
}

/// What each guard held at most once its agent had flooded. The first line is the reviewer's own guard,
/// which has held nothing by then.
fn guards_hold_nothing(told: &Path) {
    let told = std::fs::read_to_string(told).unwrap();
    let held: Vec<u64> = told.lines().map(figure).collect();
    assert_eq!(held.len(), 1 + JOBS);
    for guard in &held[1..] {
        let idle = held[0];
        assert!(
            *guard < idle + 2 * 1024,
            "{guard} KiB of a guard, {idle} KiB idle"
        );
    }
}

/// A helper that floods, and tells what its guard held then; and where each says that it runs, by the number
/// that is its prompt. None of them floods before it is let go.
fn floods_with_the_others(folder: &Path, guards: &Path) -> (ScriptedAgent, Vec<Point>) {
    let numbers = 1..=JOBS;
    let began = numbers.map(|number| Point::new(folder, &format!("began.{number}")));
    let helper = ScriptedAgent::with_script(format!(
        "read -r number; cat > /dev/null; echo x > '{folder}/began.'$number; \
         read -r _ < '{folder}/began.'$number; head -c {FLOOD} /dev/zero | tr '\\0' y >&2; \
         grep VmHWM: /proc/$PPID/status >> '{guards}'; echo report",
        folder = folder.display(),
        guards = guards.display(),
    ));
    (helper, began.collect())
}

/// M-010: nobody is refused since an agent is busy: each job is a process of its own.
/// Issue 4: what 50 concurrent jobs print costs no memory, neither the engine's nor their guards', and
/// nothing of it is lost silently; each costs at most four durable commits, counted in the journal's own
/// log.
#[test]
fn fifty_flooding_jobs_are_held_in_flat_memory() {
    let bench = Bench::new();
    let folder = bench.repo.beside("tmp");
    let (begin, done) = (Point::new(&folder, "begin"), Point::new(&folder, "done"));
    let guards = folder.join("guards");
    let (helper, began) = floods_with_the_others(&folder, &guards);
    let reader = ScriptedAgent::with_script(format!(
        "read_prompt\nRL={}\ngrep VmHWM: /proc/$PPID/status > '{guards}'\nread -r go < '{begin}'\n\
         for i in $(seq {JOBS}); do echo \"$i\" > \"$TMPDIR/prompt.$i\"; \"$RL\" job submit --agent helper \
         --prompt-file \"$TMPDIR/prompt.$i\" > \"$TMPDIR/id.$i\" & done\nwait\n\
         for id in \"$TMPDIR\"/id.*; do \"$RL\" job wait \"$(cat \"$id\")\" >/dev/null || {{ echo failed > '{done}'; exit 7; }}; done\n\
         echo done > '{done}'; read -r go < '{begin}'\nverdict PASS '[]'",
        env!("CARGO_BIN_EXE_run-loop"),
        guards = guards.display(),
        begin = begin.path().display(),
        done = done.path().display(),
    ));
    let bench = bench
        .reviewer("reader", &reader)
        .spare("helper", &helper, "")
        .ready();
    let mut child = bench.spawn(&["--base", "main", "--review-only"]);
    begin.release();
    let idle = kib(child.id(), "VmRSS:");
    let log = reading(bench.repo.root());
    let before = commits(bench.repo.root());
    for job in &began {
        job.reached();
    }
    began.iter().for_each(Point::release);
    let said = done.reached();
    if said.trim() != "done" {
        child.kill().unwrap();
        unreachable!("{:?}", bench.run(&["job", "list"]));
    }
    // Each begins with its message and ends with its outcome; two of them may be taken at once.
    let durable = commits(bench.repo.root()) - before;
    drop(log);
    assert!(
        (JOBS..=4 * JOBS).contains(&durable),
        "{durable} durable commits for {JOBS} jobs"
    );
    let peak = kib(child.id(), "VmHWM:");
    let mut kept = 0;
    let root = bench.repo.beside("home").join(".cache/run-loop");
    for capture in captures(&root) {
        let outcome = std::fs::read_to_string(capture.join("outcome.json"));
        // The reviewer's own is still under way.
        let Ok(outcome) = outcome else { continue };
        let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap();
        let stderr = &outcome["content"]["stderr"];
        let (total, cut) = (&stderr["bytes_total"], &stderr["bytes_cut"]);
        assert_eq!(*total, FLOOD, "{stderr}");
        assert!(
            cut.as_u64().unwrap() > 0 && cut.as_u64().unwrap() < FLOOD,
            "{stderr}"
        );
        assert!(stderr["broken"].is_null(), "{stderr}");
        kept += 1;
    }
    assert_eq!(kept, JOBS);
    assert!(
        peak < idle + 40 * 1024,
        "{peak} KiB at the peak, {idle} KiB before the jobs"
    );
    guards_hold_nothing(&guards);
    begin.release();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.ends(0);
    // No job has more events than these.
    let log = bench
        .run(&["log", "--format", "ndjson"])
        .ends(0)
        .stdout
        .clone();
    let count = |kind: &str| log.matches(&format!("\"kind\":\"{kind}\"")).count();
    for kind in EVENTS {
        assert_eq!(count(kind), JOBS, "{kind}");
    }
    each_line_comes_once(&bench, &log);
}

//! Engine and guard are killed together, and a process of the agent had escaped.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};

use run_loop::lock::{Locked, Sharing};
use run_loop::process::guard::attach;
use run_loop::process::guard::remains::{self, Left};

use crate::keys::as_anybody;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls, counted};
use crate::support::skipped;

/// A run of which only a process is left that has nothing to do with us any more by its looks.
struct Escaped {
    bench: Bench,
    pid: String,
    stranger: Child,
}

impl Escaped {
    fn new() -> Self {
        let bench = Bench::new();
        let agents = bench.repo.beside("agents");
        let (guard, escaped) = (Point::new(&agents, "guard"), Point::new(&agents, "escaped"));
        let turns = [escapes(&guard, &escaped), ScriptedAgent::passing()];
        let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
        let agent = counted(&bench, "ann", &agent);
        let bench = bench.reviewer("ann", &agent).ready();
        let engine = Engine::start(&bench);
        let (pid, guard) = (escaped.reached(), guard.reached());
        engine.signal("STOP");
        kill(guard.trim());
        engine.kill();
        let stranger = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
        let pid = pid.trim().to_owned();
        assert!(lives(&pid));
        Self {
            bench,
            pid,
            stranger,
        }
    }
    #[track_caller]
    fn gone(mut self) -> Bench {
        assert!(!lives(&self.pid), "{} lives", self.pid);
        assert!(self.stranger.try_wait().unwrap().is_none());
        self.stranger.kill().unwrap();
        self.stranger.wait().unwrap();
        self.bench
    }
}

/// An agent that leaves a process with nothing of ours about it, tells who that is and who guards it,
/// and never ends.
fn escapes(guard: &Point, escaped: &Point) -> ScriptedAgent {
    ScriptedAgent::with_script(format!(
        "read_prompt; (setsid env -i /bin/bash -c 'echo $$ > {}; exec /bin/sleep 1000' &); \
         echo $PPID > {}; forever",
        escaped.path().display(),
        guard.path().display()
    ))
}

fn kill(pid: &str) {
    let sent = Command::new("kill").args(["-KILL", "--", pid]).status();
    assert!(sent.unwrap().success());
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim();
    !state.is_empty() && !state.starts_with('Z')
}

/// The guard alone is killed: the engine ends what escaped, asks again, and the next attempt gets a
/// tree that is another folder.
#[test]
fn a_killed_guard_costs_its_tree_and_an_attempt() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (guard, escaped) = (Point::new(&agents, "guard"), Point::new(&agents, "escaped"));
    let turns = [escapes(&guard, &escaped), ScriptedAgent::passing()];
    let trees = bench.repo.beside("trees");
    let agent = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns).after(&format!(
        "stat -c %i \"$RUN_LOOP_JOB_TREE\" >> '{}'",
        trees.display()
    ));
    let bench = bench.reviewer("ann", &agent).ready();
    let engine = Engine::start(&bench);
    let (pid, guard) = (escaped.reached(), guard.reached());
    kill(guard.trim());
    engine.ended().ends(0);
    assert!(!lives(pid.trim()));
    let trees = std::fs::read_to_string(trees).unwrap();
    let trees: Vec<&str> = trees.lines().collect();
    assert!(trees.len() == 2 && trees[0] != trees[1], "{trees:?}");
    assert_eq!(bench.sidecar("ann")["attempt"], 2);
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn resume_ends_what_escaped_and_goes_on() {
    let escaped = Escaped::new();
    escaped.bench.run(&["resume"]).ends(0);
    let bench = escaped.gone();
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
    bench.gate().ends(0);
}

#[test]
fn cancel_ends_what_escaped() {
    let escaped = Escaped::new();
    escaped.bench.run(&["cancel"]).ends(0);
    let bench = escaped.gone();
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn cleanup_ends_what_escaped_and_removes_its_tree() {
    let escaped = Escaped::new();
    let told = escaped.bench.run(&["cleanup", "--dry-run"]);
    told.ends(0).says("would remove processes of the dead job");
    assert!(lives(&escaped.pid));
    let told = escaped.bench.run(&["cleanup"]);
    told.ends(0)
        .says("removed processes of the dead job")
        .says("removed review trees");
    let bench = escaped.gone();
    bench.run(&["resume"]).ends(0);
}

/// While somebody of the job surely lives who cannot be ended, no tree is handed on: here it is
/// this very test, which has the mark and is above the command.
#[tokio::test]
async fn nothing_is_handed_on_while_somebody_lives() {
    let escaped = Escaped::new();
    let cache = escaped.bench.repo.beside("home").join(".cache/run-loop");
    let find = Command::new("find")
        .arg(cache.join("jobs"))
        .args(["-name", "mark"])
        .output();
    let found = String::from_utf8(find.unwrap().stdout).unwrap();
    let mark = Path::new(found.trim());
    attach(mark.parent().unwrap()).await.unwrap();
    let left = remains::end(mark.parent().unwrap()).await.unwrap();
    assert_eq!(left, Left::Nobody);
    let held = Locked::attempt(File::open(mark).unwrap(), Sharing::Exclusive);
    let held = held.unwrap().unwrap();
    let bench = &escaped.bench;
    bench
        .run(&["resume"])
        .ends(3)
        .with("RL0142")
        .says("started by one of them");
    bench
        .run(&["cleanup"])
        .says("kept review trees")
        .says("processes of its jobs may live");
    assert_eq!(calls(bench, "ann"), 1);
    drop(held);
    bench.run(&["resume"]).ends(0);
    assert_eq!(calls(bench, "ann"), 2);
    escaped.gone();
}

/// What a job leaves as the module cache of Go does, with folders that nobody may write to, is given back with
/// its folder.
#[test]
fn folders_that_a_job_closed_go_with_it() {
    let closes = "mkdir -p \"$TMPDIR/m/x\"; touch \"$TMPDIR/m/x/f\"; chmod 555 \"$TMPDIR/m/x\" \"$TMPDIR/m\"";
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing().after(closes))
        .ready();
    let review = bench.command(&["--base", "main", "--review-only"]);
    let Some(mut review) = as_anybody(&review) else {
        return skipped("the capabilities of root cannot be taken away");
    };
    let ran = Ran::of(&review.output().unwrap());
    ran.ends(0);
    assert!(!ran.stderr.contains("not given back"), "{}", ran.stderr);
    assert_eq!(bench.left_in_cache(&["jobs", "trees", "evidence"]), [""; 0]);
}

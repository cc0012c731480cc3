//! Delegated jobs whose engine is killed, and another one takes them over.

use run_loop::domain::digest::Digest;

use crate::single::row;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::{Engine, calls, counted, processes, there_is, until};
use crate::support::skipped;

/// Whether the guard has written how the job ended.
fn is_written(bench: &Bench) -> bool {
    let left = bench.left_in_cache(&["jobs"]);
    left.iter().any(|path| path.ends_with("/outcome.json"))
}

/// The engine of one job for the helper.
fn submits(bench: &Bench) -> Engine {
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let file = file.to_str().unwrap();
    let line = ["job", "submit", "--agent", "helper", "--prompt-file", file];
    Engine::start_with(bench, &[&line[..], &["--format", "ndjson"]].concat())
}

/// A finished report is never bought again (design, section 9): the agent ends while its engine stands
/// still, and then the engine is killed. Its guard has written the outcome, or still lives and ends
/// what the agent left behind: `resume` waits for it then.
#[test]
fn a_report_that_nobody_read_is_used() {
    for lingers in [false, true] {
        let bench = Bench::new();
        let agents = bench.repo.beside("agents");
        let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
        let left = if lingers {
            "(trap '' TERM; sleep 1000) > /dev/null 2>&1 &"
        } else {
            ""
        };
        let helper = ScriptedAgent::with_script(format!(
            "cat > /dev/null; echo x > {}; read -r _ < {}; {left} echo 'All of it.'",
            started.path().display(),
            go.path().display()
        ));
        let helper = counted(&bench, "helper", &helper);
        let bench = bench.spare("helper", &helper, "").ready();
        let engine = submits(&bench);
        started.reached();
        engine.signal("STOP");
        go.release();
        let agent = processes(&bench, "helper").remove(0);
        until("the agent has ended", || !there_is(&agent, &agents));
        if lingers {
            assert!(!is_written(&bench), "its guard is done already");
        } else {
            until("the guard has written the outcome", || is_written(&bench));
        }
        engine.kill();
        let ran = bench.run(&["resume"]);
        ran.ends(0).says("completed (attempt 1,");
        assert_eq!(calls(&bench, "helper"), 1, "the report was bought twice");
        let job = row(&ran.stdout, "job");
        let report = bench.run(&["job", "show", &job, "--report"]);
        assert_eq!(report.ends(0).stdout, "All of it.\n");
        assert_eq!(bench.left_in_cache(&["jobs"]), [""; 0]);
    }
}

/// A job that works while its engine is killed is ended by its guard, and asked again: what it had
/// printed by then is no report.
#[test]
fn a_job_that_was_cut_short_is_asked_again() {
    let bench = Bench::new();
    let started = Point::new(&bench.repo.beside("agents"), "started");
    // It takes its time to end, so that its guard still lives when it is taken over.
    let first = format!(
        "trap 'sleep 1; exit 0' TERM; cat > /dev/null; echo first; echo x > {}; \
         while :; do sleep 0.1; done",
        started.path().display()
    );
    let turns = [first, "cat > /dev/null; echo second".to_owned()];
    let turns = turns.map(ScriptedAgent::with_script);
    let helper = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let helper = counted(&bench, "helper", &helper);
    let bench = bench.spare("helper", &helper, "").ready();
    let engine = submits(&bench);
    started.reached();
    engine.kill();
    // H09: only a living engine makes a job running.
    for command in [&["status"][..], &["job", "list"]] {
        let ran = bench.run(command);
        ran.ends(0).says("interrupted");
        assert!(!ran.stdout.contains("running"), "{ran:?}");
    }
    let ran = bench.run(&["resume"]);
    ran.ends(0).says("completed (attempt 2,");
    assert_eq!(calls(&bench, "helper"), 2);
    let job = row(&ran.stdout, "job");
    let report = bench.run(&["job", "show", &job, "--report"]);
    assert_eq!(report.ends(0).stdout, "second\n");
    for agent in processes(&bench, "helper") {
        assert!(!there_is(&agent, &bench.repo.beside("agents")));
    }
}

/// What became of the dispatches, as the journal tells it: whether each is proven gone.
fn gone(bench: &Bench) -> Vec<bool> {
    let log = bench.run(&["log", "--format", "ndjson"]);
    let lines = log.ends(0).stdout.lines();
    let events = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let ended = events.filter(|line| line["event"]["kind"] == "delegate_ended");
    ended
        .map(|line| line["event"]["gone"].as_bool().unwrap())
        .collect()
}

/// A bench whose helper tells who guards it and never ends, the first time that it is asked; with its engine
/// under way, and the guard.
fn guarded() -> (Bench, Engine, String) {
    let bench = Bench::new();
    let guard = Point::new(&bench.repo.beside("agents"), "guard");
    let first = format!(
        "trap '' TERM; cat > /dev/null; echo $PPID > {}; forever",
        guard.path().display()
    );
    let turns = [first, "cat > /dev/null; echo second".to_owned()];
    let turns = turns.map(ScriptedAgent::with_script);
    let helper = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
    let helper = counted(&bench, "helper", &helper);
    let bench = bench.spare("helper", &helper, "").ready();
    let engine = submits(&bench);
    let guard = guard.reached();
    (bench, engine, guard)
}

fn signal(signal: &str, pid: &str) {
    let mut kill = std::process::Command::new("kill");
    assert!(kill.args([signal, "--", pid]).status().unwrap().success());
}

/// M-151: the guard was killed with its engine, so nobody knows what of the job still runs, although
/// nobody is found. That it is gone is not said; it is not asked again where it may still write, and
/// the next command is named. Whoever cancels it says no more.
#[test]
fn a_job_that_is_not_proven_gone_is_not_asked_again() {
    for command in ["resume", "cancel"] {
        let (bench, engine, guard) = guarded();
        engine.signal("STOP");
        signal("-KILL", &guard);
        engine.kill();
        let ran = bench.run(&[command]);
        if command == "resume" {
            ran.ends(6).with("RL0507").says("end_not_seen");
            assert_eq!(ran.next()[..3], ["run-loop", "job", "submit"]);
        } else {
            ran.ends(0);
        }
        assert_eq!(gone(&bench), [false], "{command}");
        assert_eq!(calls(&bench, "helper"), 1, "{command}");
    }
}

/// Puts the id of an earlier boot in the place of this one's. The lines of processes have a sum over the first
/// one.
fn of_an_earlier_boot(record: &std::path::Path) {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let text = std::fs::read_to_string(record).unwrap();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let head = first.replace(boot.trim(), "00000000-0000-4000-8000-000000000000");
    assert_ne!(head, first, "{}", record.display());
    let lines = rest.lines().map(|line| {
        let (process, _) = line.rsplit_once(' ').unwrap();
        let sum = Digest::of(format!("{head}\n{process}").as_bytes());
        format!("{process} {}\n", &sum.as_str()[..16])
    });
    let lines: String = lines.collect();
    std::fs::write(record, format!("{head}\n{lines}")).unwrap();
}

/// Issue 4.2: the machine lost its power. Engine, guard and job are gone with it, and no number of theirs says
/// anything about who has it now: what is known to be gone is asked again.
#[test]
fn a_job_that_lost_its_power_is_asked_again() {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    if ["", "(none)", "localhost"].contains(&host.trim()) {
        return skipped("the name of this machine tells it from no other");
    }
    let (bench, engine, guard) = guarded();
    engine.signal("STOP");
    signal("-KILL", &guard);
    engine.kill();
    let agent = processes(&bench, "helper").remove(0);
    signal("-KILL", &agent);
    let cache = bench.repo.beside("home").join(".cache/run-loop");
    let left = bench.left_in_cache(&["jobs"]);
    let lineage = left.iter().find(|path| path.ends_with("/lineage")).unwrap();
    of_an_earlier_boot(&cache.join(lineage));
    let mut runs = std::fs::read_dir(bench.repo.root().join(".git/run-loop/runs")).unwrap();
    let run = runs.next().unwrap().unwrap().path();
    of_an_earlier_boot(&run.join("engine.json"));
    bench.run(&["status"]).ends(0).says("interrupted");
    let ran = bench.run(&["resume"]);
    ran.ends(0).says("completed (attempt 2,");
    assert_eq!(gone(&bench), [true, true]);
    assert_eq!(calls(&bench, "helper"), 2);
    assert_eq!(bench.left_in_cache(&["jobs"]), [""; 0]);
}

/// A second signal kills at once; that all of it is gone is said where its guard saw it, and not where
/// the guard stood still.
#[test]
fn what_is_killed_at_once_is_gone_when_that_is_seen() {
    for stands_still in [false, true] {
        let (bench, mut engine, guard) = guarded();
        // It ends nothing by being asked.
        signal("-STOP", &guard);
        engine.signal("TERM");
        engine.line_with(&["stop_requested"]);
        if !stands_still {
            signal("-CONT", &guard);
        }
        engine.signal("TERM");
        engine.ended().ends(143);
        assert_eq!(gone(&bench), [!stands_still]);
        // Before the folder goes that could prove who it is of.
        let stat = std::fs::read_to_string(format!("/proc/{guard}/stat"));
        let is_dead = |stat: String| stat.rsplit(')').next().unwrap().trim().starts_with('Z');
        assert!(stat.map_or(true, is_dead), "the guard {guard} lives");
    }
}

/// A reviewer's helper whose guard was killed may still write to the reviewer's tree: that tree is handed
/// to nobody any more.
#[test]
fn a_tree_in_which_a_job_was_lost_is_not_handed_on() {
    let bench = Bench::new();
    let trees = bench.repo.beside("trees");
    let delegates = ScriptedAgent::with_script(format!(
        "read_prompt; echo 'Count.' > \"$TMPDIR/prompt\"; RL={}; \
         id=$(\"$RL\" job submit --agent helper --prompt-file \"$TMPDIR/prompt\") || exit 9; \
         \"$RL\" job wait \"$id\" >&2; echo 'VERDICT: PASS' | deliver",
        env!("CARGO_BIN_EXE_run-loop")
    ));
    let turns = [delegates, ScriptedAgent::passing()];
    let reader = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns).after(&format!(
        "stat -c %i \"$RUN_LOOP_JOB_TREE\" >> '{}'",
        trees.display()
    ));
    let helper = ScriptedAgent::with_script("cat > /dev/null; kill -KILL $PPID; forever");
    let bench = bench
        .reviewer("ann", &reader)
        .spare("helper", &helper, "")
        .ready();
    let ran = bench.review();
    ran.ends(0).says("not all of it is proven gone");
    assert_eq!(gone(&bench), [false]);
    let trees = std::fs::read_to_string(trees).unwrap();
    let trees: Vec<&str> = trees.lines().collect();
    assert!(trees.len() == 2 && trees[0] != trees[1], "{trees:?}");
}

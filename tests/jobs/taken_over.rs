//! Delegated jobs whose engine is killed, and another one takes them over.

use crate::single::row;
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::{Engine, calls, counted, processes, there_is, until};

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
    Engine::start_with(bench, &line)
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

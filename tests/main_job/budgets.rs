//! Budgets through the built program: time, money and the caps of phases.

use crate::support::agents::{ScriptedAgent, quote};
use crate::support::bench::{Bench, Ran};

/// A program that prints what claude prints, and that its answer cost half a dollar.
const COSTLY: &str = r#"
json_text() { printf '"'; sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/\\n/g' | tr -d '\n'; printf '"'; }
read_prompt
REPORT=$(verdict PASS '[]' | json_text)
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m-1"}'
printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3},"result":%s}\n' "$REPORT"
"#;

fn nothing_promoted(bench: &Bench) {
    assert_eq!(bench.promoted(), Vec::<String>::new());
    let left = bench.left_in_cache(&["trees", "jobs", "evidence"]);
    assert_eq!(left, Vec::<String>::new());
}

/// C08: the time is spent inside a long call. The agent is ended, the run is put aside, and the
/// command that it names takes it up again.
#[test]
fn a_run_whose_time_is_spent_is_put_aside_and_goes_on_with_more() {
    let bench = Bench::new();
    let (pid, free) = (bench.repo.beside("pid"), bench.repo.beside("free"));
    let script = format!(
        "read_prompt\nif [ -e {} ]; then verdict PASS '[]' | deliver; else echo $$ > {}; verdict PASS '[]' | deliver; forever; fi",
        quote(free.to_str().unwrap()),
        quote(pid.to_str().unwrap()),
    );
    let bench = bench
        .reviewer("ann", &ScriptedAgent::with_script(script))
        .ready();
    let line = ["--base", "main", "--review-only", "--max-wall", "3"];
    let ran = bench.run(&line);
    ran.ends(7).with("RL0704");
    nothing_promoted(&bench);
    if let Ok(pid) = std::fs::read_to_string(&pid) {
        let process = std::path::Path::new("/proc").join(pid.trim());
        assert!(!process.exists(), "the agent is still there");
    }
    let next = ran.next();
    assert_eq!(
        (&next[1][..], &next[3..]),
        ("resume", &["--max-wall", "6"].map(str::to_owned)[..])
    );
    bench
        .run(&["status"])
        .ends(0)
        .says("stopped at a limit")
        .says("--max-wall 6");
    // Taken up without more of it, nobody is asked.
    drop(std::fs::remove_file(&pid));
    bench.run(&["resume"]).ends(7).with("RL0704");
    assert!(!pid.exists());
    std::fs::write(&free, "").unwrap();
    bench.run(&["resume", "--max-wall", "600"]).ends(0);
    bench.gate().ends(0);
}

/// K12, K07: what was told is looked at before each job; a finished report is not bought again.
#[test]
fn a_run_whose_money_is_spent_asks_nobody_else_and_goes_on_with_more() {
    let bench = Bench::new();
    // In what is the program's own: it may write there.
    let own = bench.repo.beside("home/.claude");
    let (bin, calls) = (bench.repo.beside("bin"), own.join("calls"));
    std::fs::create_dir_all(&bin).unwrap();
    let noted = format!("echo x >> {}", quote(calls.to_str().unwrap()));
    ScriptedAgent::with_script(COSTLY)
        .after(&noted)
        .install(&bin, "claude");
    let bench = bench.config("review: {max-parallel: 1}").ready();
    let path = format!("{}:{}", bin.display(), bench.environment()["PATH"]);
    let run = |args: &[&str]| {
        let output = bench.command(args).env("PATH", &path).output().unwrap();
        Ran::of(&output)
    };
    let asked = || std::fs::read_to_string(&calls).unwrap().lines().count();
    let ran = run(&[
        "--base",
        "main",
        "--review-only",
        "--max-cost",
        "0.4",
        "--reviewer",
        "claude:a",
        "--reviewer",
        "claude:b",
    ]);
    ran.ends(7).with("RL0705").says("cost 0.5 USD");
    nothing_promoted(&bench);
    assert_eq!(asked(), 1);
    run(&["resume"]).ends(7).with("RL0705");
    assert_eq!(asked(), 1);
    let next = ran.next();
    let next: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    // Twice what was told, with one more that costs the same.
    assert_eq!(next[2..], ["--max-cost", "2"]);
    run(&next).ends(0);
    assert_eq!(asked(), 2);
}

/// What is not told is not known: it is said once, and does not count.
#[test]
fn a_cost_that_nobody_tells_is_said_once() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .reviewer("bob", &ScriptedAgent::passing())
        .ready();
    let ran = bench.run(&["--base", "main", "--review-only", "--max-cost", "0.01"]);
    ran.ends(0);
    assert_eq!(
        ran.stderr.matches("told no cost").count(),
        1,
        "{}",
        ran.stderr
    );
}

/// C06: a phase has a cap of its own.
#[test]
fn a_phase_is_capped() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::hangs())
        .config("limits: {phases: {review: 1}}")
        .ready();
    bench
        .review()
        .ends(5)
        .says("stopped at the end of its budget");
    nothing_promoted(&bench);
}

/// What a program tells of its tokens alone costs by the price of its model (issue 5, item 6): it
/// counts towards the limit, and is told as computed.
#[test]
fn tokens_cost_by_the_prices_of_the_configuration() {
    let bench = Bench::new();
    let bin = bench.repo.beside("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let untold = COSTLY.replace("\"total_cost_usd\":0.5,", "");
    let untold = untold.replace("\"usage\":{", "\"usage\":{\"cache_read_input_tokens\":0,");
    assert!(untold.contains("cache_read") && !untold.contains("cost"));
    ScriptedAgent::with_script(untold).install(&bin, "claude");
    let bench = bench
        .config("review: {max-parallel: 1}")
        .config("prices: [{model: m-1, input: \"1000\", output: \"100000\"}]")
        .ready();
    let path = format!("{}:{}", bin.display(), bench.environment()["PATH"]);
    let run = |args: &[&str]| {
        let output = bench.command(args).env("PATH", &path).output().unwrap();
        Ran::of(&output)
    };
    let panel = ["--reviewer", "claude:a", "--reviewer", "claude:b"];
    let line = ["--base", "main", "--review-only", "--max-cost", "0.3"];
    // 7 tokens read and 3 written.
    let ran = run(&[&line[..], &panel].concat());
    ran.ends(7).with("RL0705").says("cost 0.307 USD");
    assert!(!ran.stderr.contains("told no cost"), "{}", ran.stderr);
    let shown = run(&["show", "--cost"]);
    assert!(
        shown.ends(0).stdout.contains("$0.3070 computed"),
        "{}",
        shown.stdout
    );
    let shown = run(&["show", "--cost", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.ends(0).stdout).unwrap();
    assert_eq!(shown["jobs"][0]["computed"], true);
    assert_eq!(
        (&shown["total"]["cost_usd"], &shown["total"]["computed"]),
        (&0.307.into(), &1.into())
    );
}

/// Who was never started cost nothing, and that is known.
#[test]
fn a_job_that_was_not_started_cost_nothing() {
    let bench = Bench::new();
    let gone = bench.repo.beside("agents").join("bob");
    let removes = ScriptedAgent::passing().after(&format!("rm -f '{}'", gone.display()));
    let bench = bench
        .reviewer("ann", &removes)
        .reviewer("bob", &ScriptedAgent::passing())
        .config("review: {max-parallel: 1}")
        .ready();
    bench.review().ends(5);
    let told = bench.run(&["show", "--cost", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    assert_eq!(told["agents"]["bob"]["without_cost"], 0, "{told}");
    assert_eq!(told["agents"]["bob"]["cost_usd"], 0.0, "{told}");
    assert_eq!(told["agents"]["ann"]["without_cost"], 1, "{told}");
}

/// One note before the end of a budget (issue 5, item 6), for programs that look for it.
#[test]
fn a_program_is_told_that_its_time_is_nearly_over() {
    let waits = "read_prompt\n[ ! -e \"$RUN_LOOP_JOB_WRAP_UP\" ]\n\
                 until grep -q 'wrap up' \"$RUN_LOOP_JOB_WRAP_UP\" 2> /dev/null; do sleep 0.05; done\n\
                 verdict PASS '[]' | deliver";
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::with_script(waits))
        .ready();
    // Before its own budget ends, and before the run's time does.
    for (limit, seconds) in [("--job-timeout", "6"), ("--max-wall", "8")] {
        let line = ["--base", "main", "--review-only", limit, seconds];
        bench.run(&line).ends(0);
    }
}

//! Rate limits and quotas: the run is parked (75) and goes on where it stood; nothing is spent.

use crate::stage::{Stage, adds, by_role, implements, looks_for};
use crate::support::agents::{Point, quote, within};
use crate::support::bench::Ran;

/// A script whose first call meets a limit, and whose later ones do this.
fn limited_once(stage: &Stage, name: &str, then: &str) -> String {
    let met = stage.bench().repo.beside(&format!("met-{name}"));
    let met = quote(met.to_str().unwrap());
    format!(
        "if [ ! -e {met} ]; then : > {met}; verdict PASS '[]'; echo 'busy' >&2; \
         echo '429: retry after 7200 s' >&2; exit 75; fi\n{then}"
    )
}

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.ends(0).stdout).unwrap()
}

/// Issue 4.7, H07, H14, K09, K11: a perfect report beside the word that there was a limit is none;
/// the run says until when it is parked, and `resume` asks the same again.
#[test]
fn a_limit_of_a_reviewer_parks_the_run() {
    let stage = Stage::new();
    let script = limited_once(&stage, "bob", "verdict PASS '[]' | deliver");
    let stage = stage.agent("bob", &script).ready();
    let line = ["--base", "main", "--review-only", "--reviewer", "bob"];
    let ran = stage.bench().run(&line);
    ran.ends(75).with("RL0720").says("429: retry after 7200 s");
    assert_eq!(ran.next()[1], "resume");
    stage.promoted_nothing();
    let shown = json(&stage.bench().run(&["show", "--format", "json"]));
    assert_eq!(
        (&shown["exit"], &shown["state"]),
        (&75.into(), &"interrupted".into())
    );
    let until: jiff::Timestamp = shown["parked_until"].as_str().unwrap().parse().unwrap();
    let at: jiff::Timestamp = shown["at"].as_str().unwrap().parse().unwrap();
    let seconds = until.duration_since(at).as_secs();
    assert!((7100..=7200).contains(&seconds), "{seconds}");
    stage
        .bench()
        .run(&["status"])
        .says("parked on a limit until")
        .says("run-loop resume");
    stage.bench().run(&["list"]).says("put aside, RL0720");
    let next = ran.next();
    let next: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    stage
        .bench()
        .run(&next)
        .ends(0)
        .says("asked now all the same");
    assert_eq!(stage.asked(), ["review bob", "review bob"]);
    stage.gate_ends(0);
}

/// A fallback is asked before anybody waits.
#[test]
fn a_fallback_is_asked_in_place_of_one_at_its_limit() {
    let stage = Stage::new();
    let script = limited_once(&stage, "bob", "verdict PASS '[]' | deliver");
    let mut stage = stage
        .agent("bob", &script)
        .agent("cid", "verdict PASS '[]' | deliver");
    stage = stage.panel("{agent: bob, fallback: [cid]}").ready();
    stage.bench().review().ends(0);
    assert_eq!(stage.asked(), ["review bob", "review cid"]);
}

/// One that was passed over has its attempt still: where the fallback gives no verdict, the run waits
/// for it.
#[test]
fn who_met_a_limit_keeps_its_attempt() {
    let stage = Stage::new();
    let script = limited_once(&stage, "bob", "verdict PASS '[]' | deliver");
    let stage = stage
        .agent("bob", &script)
        .agent("cid", "exit 1")
        .panel("{agent: bob, fallback: [cid]}")
        .ready();
    stage.bench().review().ends(75).with("RL0720");
    stage.promoted_nothing();
    stage.bench().run(&["resume"]).ends(0);
    let asked = ["review bob", "review cid", "review cid", "review bob"];
    assert_eq!(stage.asked(), asked);
}

/// A limit is no failed round and no failed delegation, wherever it is met.
#[test]
fn a_limit_of_the_creator_parks_the_run_in_its_step() {
    let stage = Stage::new();
    let implement = limited_once(&stage, "begin", &implements("// begun"));
    let correct = limited_once(
        &stage,
        "mend",
        &format!("{}; answers fixed | deliver", adds("// sum")),
    );
    let creator = by_role(&[("implement", &implement), ("correct", &correct)]);
    let stage = stage
        .agent("ann", &creator)
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let line = ["--creator", "ann", "--reviewer", "bob", "--max-rounds", "2"];
    stage.run(&line).ends(75).with("RL0720");
    stage.bench().run(&["resume"]).ends(75).with("RL0720");
    stage.promoted_nothing();
    stage.bench().run(&["resume"]).ends(0);
    let asked = [
        "implement ann",
        "implement ann",
        "review bob",
        "correct ann",
        "correct ann",
        "review bob",
    ];
    assert_eq!(stage.asked(), asked);
    stage.gate_ends(0);
}

/// H14: words about limits in a report, or beside another exit code, are none.
#[test]
fn words_about_a_limit_are_no_limit() {
    for script in [
        "echo 'Rate limit reached, retry after 60 s.' | deliver",
        "echo '429: retry after 60 s' >&2; exit 1",
    ] {
        let stage = Stage::new().agent("bob", script).ready();
        let line = ["--base", "main", "--review-only", "--reviewer", "bob"];
        stage.bench().run(&line).ends(5).with("RL0301");
        stage.promoted_nothing();
    }
}

/// `--wait-for-limits` waits in the process, which a signal ends as any other wait.
#[test]
fn a_run_that_waits_for_limits_does_not_end() {
    let stage = Stage::new();
    let met = Point::new(&stage.bench().repo.beside("agents"), "met");
    let script = format!(
        "echo x > {}; echo 'retry after 7200 s' >&2; exit 75",
        quote(met.path().to_str().unwrap())
    );
    let stage = stage.agent("bob", &script).ready();
    let line = [
        "--base",
        "main",
        "--review-only",
        "--reviewer",
        "bob",
        "--wait-for-limits",
        "--format",
        "ndjson",
    ];
    let mut child = stage.bench().spawn(&line);
    met.reached();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap());
    within("the run to wait", move || {
        use std::io::BufRead as _;
        let mut line = String::new();
        while !line.contains("\"timer_started\"") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it ended");
        }
    });
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status();
    assert!(sent.unwrap().success());
    let ended = within("the program to end", move || child.wait().unwrap());
    assert_eq!(ended.code(), Some(130));
    stage.promoted_nothing();
    // Its own time ends before the limit does: waiting for it would be in vain.
    let stage = Stage::new()
        .agent("bob", "echo 'retry after 7200 s' >&2; exit 75")
        .ready();
    let line = [
        "--base",
        "main",
        "--review-only",
        "--reviewer",
        "bob",
        "--wait-for-limits",
        "--max-wall",
        "600",
    ];
    stage.bench().run(&line).ends(75).with("RL0720");
}

//! Sessions of known programs that go on, through the built program.

use std::path::Path;

use crate::profiled::{JSON, Profiled};
use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Ran;
use crate::support::crash::{Engine, until};

/// A claude that answers by whether it is to continue a session: its first call, a call that
/// continues `s-1`, and any other call.
fn in_sessions(world: &Path, first: &str, continued: &str, other: &str) -> ScriptedAgent {
    let calls = world.join("calls");
    ScriptedAgent::with_script(format!(
        r#"{JSON}
CALLS={calls}; SAVED={calls}.report
echo "$*" >> "$CALLS"
SESSION=s-$(wc -l < "$CALLS")
case " $* " in *" --resume s-1 "*) SESSION=s-1 ;; esac
init() {{ printf '{{"type":"system","subtype":"init","cwd":"%s","session_id":"%s"}}\n' "${{CWD:-$PWD}}" "$SESSION"; }}
done_at() {{ init; printf '{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":%s,"usage":{{"input_tokens":7,"output_tokens":3}},"result":%s}}\n' "$1" "$REPORT"; }}
if [ "$SESSION" = s-1 ] && [ "$(wc -l < "$CALLS")" = 1 ]; then
{first}
elif [ "$SESSION" = s-1 ]; then
{continued}
else
{other}
fi"#,
        calls = calls.display()
    ))
}

const NO_VERDICT: &str = r#"REPORT='"I forgot the verdict."'; done_at 0.5"#;

fn jobs(world: &Profiled) -> Vec<serde_json::Value> {
    let ran = world.bench.run(&["show", "--cost", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.ends(0).stdout).unwrap();
    told["jobs"].as_array().unwrap().clone()
}

/// Row A-022: a re-ask goes on in the session of the attempt before it; cost that the program
/// counts on is not told twice.
#[test]
fn a_re_ask_goes_on_in_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let again = in_sessions(folder.path(), NO_VERDICT, "done_at 0.75", "exit 9");
    let world = Profiled::keeping(folder.path(), &[("claude", &again)]);
    world.run(&["claude"]).ends(0);
    let jobs = jobs(&world);
    assert_eq!(jobs.len(), 2);
    assert_eq!(jobs[1]["session"], "s-1");
    assert_eq!(
        (&jobs[0]["cost_usd"], &jobs[1]["cost_usd"]),
        (&0.5.into(), &0.25.into())
    );
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert!(
        !calls.lines().next().unwrap().contains("--resume"),
        "{calls}"
    );
}

/// A session that a program leaves for another one of its own is told of: what was said in it, it may not know.
#[test]
fn a_program_that_leaves_its_session_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let leaves = "SESSION=s-9; done_at 0.75";
    let again = in_sessions(folder.path(), NO_VERDICT, leaves, "exit 9");
    let world = Profiled::keeping(folder.path(), &[("claude", &again)]);
    world.run(&["claude"]).ends(0);
    let log = world.bench.run(&["log"]);
    log.says("(exit code 0, in another session than it was to go on in): says PASS");
}

/// Row A-023, T-064: a session that is not there any more is replaced once, and that is said.
#[test]
fn a_session_that_is_gone_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let gone = r#"SESSION=s-9; init; echo '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s-9","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"errors":["No conversation found with session ID: s-1"]}'; exit 1"#;
    let program = in_sessions(folder.path(), NO_VERDICT, gone, "done_at 0.5");
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    world
        .run(&["claude"])
        .ends(0)
        .says("its session cannot be continued");
    let log = world.bench.run(&["log"]).ends(0).stdout.clone();
    assert!(!log.contains("in another session"), "{log}");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    let resumed: Vec<bool> = calls
        .lines()
        .map(|line| line.contains("--resume"))
        .collect();
    assert_eq!(resumed, [false, true, false]);
    // Gone every time, it is no verdict in the end, and nobody asks without end.
    let program = in_sessions(folder.path(), NO_VERDICT, gone, NO_VERDICT);
    std::fs::remove_file(folder.path().join("calls")).unwrap();
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    world.refused("claude", 5, "invalid report");
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 3);
}

/// What a session remembers proves nothing: the report of the job before, word for word.
#[test]
fn a_session_carries_no_pass_over() {
    let folder = tempfile::tempdir().unwrap();
    // Perfect but for its receipts; then perfect, under the nonce of the job before.
    let first = r#"REPORT=$(verdict PASS '[]' | json_text); printf '%s' "$REPORT" > "$SAVED"
REPORT=$(RECEIPTS='{}' verdict PASS '[]' | json_text); done_at 0.5"#;
    let continued = r#"REPORT=$(cat "$SAVED"); done_at 0.5"#;
    let program = in_sessions(folder.path(), first, continued, "exit 9");
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    world.refused("claude", 5, "nonce");
    // And a NOT PASS does not become a PASS by a session that goes on.
    let folder = tempfile::tempdir().unwrap();
    let first = r"REPORT=$(RECEIPTS='{}' verdict 'NOT PASS' '[]' | json_text); done_at 0.5";
    let program = in_sessions(folder.path(), first, "done_at 0.5", "exit 9");
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    world.refused("claude", 1, "NOT PASS");
}

/// K16: a program that says it works in another folder has not read what it was asked about.
#[test]
fn a_session_of_another_folder_has_no_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let continued = "CWD=/ done_at 0.5";
    let program = in_sessions(folder.path(), NO_VERDICT, continued, "CWD=/ done_at 0.5");
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    world.refused("claude", 5, "it worked in /");
}

/// Also where the engine that asked it is dead: the one that takes the job over knows where it was started.
#[test]
fn a_session_of_another_folder_has_no_verdict_when_it_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let point = |name: &str| Point::new(folder.path(), name);
    let (started, go) = (point("started"), point("go"));
    let continued = format!(
        "echo x > {}; read -r _ < {}; CWD=/ done_at 0.5",
        started.path().display(),
        go.path().display()
    );
    let program = in_sessions(folder.path(), NO_VERDICT, &continued, "CWD=/ done_at 0.5");
    let world = Profiled::keeping(folder.path(), &[("claude", &program)]);
    let line = [
        "--base",
        "main",
        "--review-only",
        "--reviewer",
        "claude",
        "--format",
        "ndjson",
    ];
    let engine = Engine::of(world.command(&line));
    started.reached();
    let ended = || {
        let left = world.bench.left_in_cache(&["jobs"]);
        let ended = left.iter().filter(|path| path.ends_with("/outcome.json"));
        ended.count()
    };
    let before = ended();
    engine.signal("STOP");
    go.release();
    until("the guard has written the outcome", || ended() > before);
    engine.kill();
    let ran = Ran::of(&world.command(&["resume"]).output().unwrap());
    ran.ends(5).says("it worked in /");
    assert_eq!(world.bench.promoted(), Vec::<String>::new());
    let calls = std::fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls.matches("--resume s-1").count(), 1, "{calls}");
}

/// Such a program's re-ask goes on in its session, from the same folder: made anew, so that nothing lies
/// in it which the job before put there, and not to be written where it is confined.
#[test]
fn a_program_that_works_elsewhere_goes_on_in_its_session() {
    let script = format!(
        r#"{JSON}
SEEN="$HOME/.local/share/opencode/seen"
{{ printf '%s|%s|%s\n' "$PWD" "$(ls -A | tr -d '\n')" "$*"; }} >> "$SEEN"
touch planted 2> /dev/null
[ "$(wc -l < "$SEEN")" -gt 1 ] || REPORT='"I forgot the verdict."'
printf '{{"type":"text","sessionID":"ses_1","part":{{"text":%s}}}}\n' "$REPORT"
echo '{{"type":"step_finish","sessionID":"ses_1","part":{{"reason":"stop","tokens":{{"input":1,"output":1}},"cost":0}}}}'"#
    );
    let world = Profiled::new(&[("opencode", &ScriptedAgent::with_script(script))]);
    world.run(&["opencode"]).ends(0);
    let seen = world.bench.repo.beside("home/.local/share/opencode/seen");
    let seen = std::fs::read_to_string(seen).unwrap();
    let calls: Vec<Vec<&str>> = seen.lines().map(|line| line.split('|').collect()).collect();
    assert_eq!(calls.len(), 2, "{seen}");
    assert_eq!(calls[0][0], calls[1][0]);
    assert_eq!((calls[0][1], calls[1][1]), ("", ""), "{seen}");
    assert!(!calls[0][2].contains("--session"), "{seen}");
    assert!(calls[1][2].contains("--session ses_1"), "{seen}");
}

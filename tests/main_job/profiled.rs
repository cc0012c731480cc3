//! Known programs as reviewers, through the built program: played by scripts that print what the
//! real ones print (`tests/real_agents.rs` drives the real ones).

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};

const KEY: &str = "sk-canary-5c1f0e9a7b";
const OTHER_KEY: &str = "sk-canary-other-77d2";

/// Functions for the scripts: a text as a JSON string, and a whole report as one.
pub(crate) const JSON: &str = r#"
json_text() { printf '"'; sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n/\\n/g' | tr -d '\n'; printf '"'; }
read_prompt
REPORT=$(verdict "${VERDICT:-PASS}" '[]' | json_text)
"#;

/// A program that prints what claude prints, with these lines at its end.
fn claude(end: &str) -> ScriptedAgent {
    ScriptedAgent::with_script(format!(
        r#"{JSON}
echo '{{"type":"system","subtype":"init","session_id":"s-1","model":"m-1","claude_code_version":"9.9.9"}}'
{end}"#
    ))
}

const DONE: &str = r#"printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3},"result":%s}\n' "$REPORT""#;

pub(crate) struct Profiled {
    pub(crate) bench: Bench,
    bin: PathBuf,
    /// Where a claude keeps what is its own, and may write.
    keeps: Option<PathBuf>,
}

impl Profiled {
    pub(crate) fn new(programs: &[(&str, &ScriptedAgent)]) -> Self {
        let bench = Bench::new().ready();
        let bin = bench.repo.beside("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for (name, program) in programs {
            // As the real ones do.
            let tells = "if [ \"${1:-}\" = --version ]; then echo 'program 8.8.8'; exit 0; fi";
            let program = (*program).clone().after(tells);
            program.install(&bin, name);
        }
        Self {
            bench,
            bin,
            keeps: None,
        }
    }
    /// With programs that tell a test something by files in this folder.
    pub(crate) fn keeping(folder: &Path, programs: &[(&str, &ScriptedAgent)]) -> Self {
        Self {
            keeps: Some(folder.to_owned()),
            ..Self::new(programs)
        }
    }
    pub(crate) fn run(&self, reviewers: &[&str]) -> Ran {
        self.run_with(reviewers, &[])
    }
    pub(crate) fn run_with(&self, reviewers: &[&str], more: &[&str]) -> Ran {
        let mut args = vec!["--base", "main", "--review-only", "--job-timeout", "20"];
        args.extend(more);
        for reviewer in reviewers {
            args.extend(["--reviewer", reviewer]);
        }
        Ran::of(&self.command(&args).output().unwrap())
    }
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let path = &self.bench.environment()["PATH"];
        let mut command = self.bench.command(args);
        command
            .envs(self.keeps.iter().map(|kept| ("CLAUDE_CONFIG_DIR", kept)))
            .env("PATH", format!("{}:{path}", self.bin.display()))
            .env("ANTHROPIC_API_KEY", KEY)
            .env("OPENAI_API_KEY", OTHER_KEY);
        command
    }
    #[track_caller]
    pub(crate) fn refused(&self, reviewer: &str, code: i32, says: &str) {
        self.run(&[reviewer]).ends(code).says(says);
        assert_eq!(self.bench.promoted(), Vec::<String>::new());
    }
}

/// A profile needs no configuration; model and version stand in what is promoted.
#[test]
fn a_known_program_reviews_by_its_name_alone() {
    let world = Profiled::new(&[("claude", &claude(DONE))]);
    world.run(&["claude:opus"]).ends(0);
    let sidecar = world.bench.sidecar("claude-opus");
    assert_eq!(sidecar["agent"]["name"], "claude:opus");
    // What its program told, and not the name that it was asked by.
    assert_eq!(sidecar["agent"]["model"], "m-1");
    assert_eq!(sidecar["agent"]["family"], "anthropic");
    assert_eq!(sidecar["agent"]["version"], "9.9.9");
    assert_eq!(world.bench.gate().code, Some(0));
}

/// Who is denied a tool may end well without it: whoever reads of its end is told.
#[test]
fn what_a_program_was_denied_is_told_with_its_end() {
    let denied = r#"echo '{"type":"system","subtype":"permission_denied","tool_name":"Write"}'"#;
    let world = Profiled::new(&[("claude", &claude(&format!("{denied}\n{DONE}")))]);
    world.run(&["claude"]).ends(0);
    let log = world.bench.run(&["log"]);
    log.says("(exit code 0, 1 tool call denied): says PASS");
}

/// The source root holds the records of runs, and whoever reads it cannot be kept from them: nobody is
/// confined, the run says so, and so does what is promoted.
#[test]
fn a_known_program_reviews_the_source_root_unconfined() {
    let world = Profiled::new(&[("claude", &claude(DONE))]);
    let ran = world.run_with(&["claude"], &["--review-isolation", "env"]);
    ran.ends(0).says("claude run unconfined");
    let sidecar = world.bench.sidecar("claude");
    assert_eq!(sidecar["evidence"], "source-tree");
    assert_eq!(sidecar["confinement"], "none");
}

/// copilot tells of each try that its provider refuses, and, when our clock ends it, of nothing but that.
#[test]
fn a_program_that_is_refused_until_its_budget_ends_is_at_a_limit() {
    let copilot = ScriptedAgent::with_script(
        r#"cat > /dev/null
echo '{"type":"model.call_failure","data":{"statusCode":429,"errorMessage":"slow down"}}'
trap 'echo "{\"type\":\"abort\",\"data\":{}}"; exit 0' TERM
while :; do sleep 1000 & wait $!; done"#,
    );
    let world = Profiled::new(&[("copilot", &copilot)]);
    let line = ["--base", "main", "--review-only", "--reviewer", "copilot"];
    let mut command = world.command(&[&line[..], &["--job-timeout", "5"]].concat());
    let ran = Ran::of(&command.output().unwrap());
    ran.ends(75).with("RL0720").says("slow down");
    assert_eq!(world.bench.promoted(), [""; 0]);
}

/// gemini is told its folders in a list: a comma in the cache's path would make others of them.
#[test]
fn a_folder_that_a_program_would_read_as_two_is_refused() {
    let gemini = ScriptedAgent::with_script("exit 9");
    let world = Profiled::new(&[("gemini", &gemini)]);
    let line = ["--base", "main", "--review-only", "--reviewer", "gemini"];
    let mut command = world.command(&line);
    command.env("XDG_CACHE_HOME", world.bench.repo.beside("a,b"));
    let ran = Ran::of(&command.output().unwrap());
    ran.ends(5).says("for the `,` in it");
    assert_eq!(world.bench.promoted(), [""; 0]);
}

/// What a program tells of its use is added up; what one does not tell is unknown, never zero.
#[test]
fn cost_is_told_and_unknown_is_not_zero() {
    let world = Profiled::new(&[("claude", &claude(DONE))]);
    let cost = |world: &Profiled| -> serde_json::Value {
        let ran = world.bench.run(&["show", "--cost", "--format", "json"]);
        serde_json::from_str(&ran.ends(0).stdout).unwrap()
    };
    world.run(&["claude", "checks"]).ends(0);
    let told = cost(&world);
    assert_eq!(told["total"]["cost_usd"], 0.5);
    assert_eq!(told["total"]["told"]["input"], 7);
    assert_eq!(told["jobs"][0]["model"], "m-1");
    assert_eq!(told["jobs"][0]["session"], "s-1");
    assert_eq!(told["agents"]["checks"]["cost_usd"], 0.0);
    let silent = DONE.replace(
        "\"total_cost_usd\":0.5,\"usage\":{\"input_tokens\":7,\"output_tokens\":3},",
        "",
    );
    let world = Profiled::new(&[("claude", &claude(&silent))]);
    world.run(&["claude", "checks"]).ends(0);
    let told = cost(&world);
    assert_eq!(told["total"]["cost_usd"], serde_json::Value::Null);
    assert_eq!(told["jobs"][0]["usage"], serde_json::Value::Null);
    world.bench.run(&["show", "--cost"]).ends(0).says("unknown");
}

/// Work before and between the rounds costs too, and each job names its agent.
#[test]
fn what_a_creator_costs_is_told() {
    let writes = format!(
        r#"if [ "$RUN_LOOP_JOB_ROLE" = implement ]; then
  echo '// sum' >> src/lib.rs; REPORT='"It is written."'
fi
{DONE}"#
    );
    let world = Profiled::new(&[("claude", &claude(&writes))]);
    let (path, bin) = (&world.bench.environment()["PATH"], world.bin.display());
    let line = [
        "--base",
        "main",
        "--creator",
        "claude",
        "--reviewer",
        "checks",
        "add a sum",
    ];
    let output = world
        .bench
        .command(&line)
        .env("PATH", format!("{bin}:{path}"))
        .output()
        .unwrap();
    Ran::of(&output).ends(0);
    let ran = world.bench.run(&["show", "--cost", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.ends(0).stdout).unwrap();
    let first = &told["jobs"][0];
    assert_eq!(first["role"], "implement");
    assert_eq!(first["agent"], "claude");
    assert_eq!(first["cost_usd"], 0.5);
    assert_eq!(told["phases"]["implement"]["cost_usd"], 0.5);
    assert_eq!(told["rounds"]["1"]["cost_usd"], 0.5);
    assert_eq!(told["agents"]["claude"]["told"]["output"], 3);
    assert_eq!(told["total"]["cost_usd"], 0.5);
}

/// A program that is not here: the list of those that are helps.
#[test]
fn a_missing_program_names_the_list_of_programs() {
    let world = Profiled::new(&[]);
    let ran = world.run(&["qwen"]);
    ran.ends(2).with("RL0006");
    assert_eq!(ran.next(), ["run-loop", "agents"]);
}

/// A reviewer is started so that it may not write, with the prompt on standard input.
#[test]
fn a_reviewer_is_started_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!(
        "printf '%s\\n' \"$PWD\" \"$@\" > {}\n{DONE}",
        seen.display()
    );
    let world = Profiled::keeping(folder.path(), &[("claude", &claude(&script))]);
    world.run(&["claude"]).ends(0);
    let seen = std::fs::read_to_string(seen).unwrap();
    let words: Vec<&str> = seen.lines().collect();
    for wanted in [
        "-p",
        "--restricted",
        "--safe-mode",
        "--strict-mcp-config",
        "dontAsk",
    ] {
        assert!(words[1..].contains(&wanted), "{words:?}");
    }
    for word in &words[1..] {
        assert!(!word.contains('{') && !word.contains("Bash"), "{word}");
    }
    let added = words.iter().position(|word| *word == "--add-dir").unwrap();
    assert!(words[added + 1].ends_with("/evidence"), "{words:?}");
}

/// What the real programs do without being done: none of it is a PASS.
#[test]
fn a_perfect_report_without_the_programs_word_is_no_pass() {
    let message = r#"printf '{"type":"assistant","message":{"content":[{"type":"text","text":%s}]}}\n' "$REPORT""#;
    for (end, says) in [
        // Nothing but messages; exit 0, as gemini after SIGTERM.
        (message.to_owned(), "ended without its end event"),
        // `subtype: success` beside an error.
        (
            DONE.replace(
                "\"is_error\":false",
                "\"is_error\":true,\"api_error_status\":401",
            ),
            "no valid key or login",
        ),
        // A result that does not say how it went.
        (DONE.replace("\"is_error\":false,", ""), "failed"),
        // The word, and another exit code.
        (format!("{DONE}\nexit 3"), "exit code 3"),
        // The word, and death.
        (format!("{DONE}\nkill -KILL $$"), "signal 9"),
        // The word, cut within its line.
        (
            format!("{DONE} | head -c 200"),
            "ended without its end event",
        ),
        // The word of another program.
        (
            format!("{message}\necho '{{\"type\":\"turn.completed\"}}'"),
            "ended without its end event",
        ),
    ] {
        let world = Profiled::new(&[("claude", &claude(&end))]);
        world.refused("claude", 5, says);
    }
}

/// A wrong key is not tried a second time: the attempt would cost and end the same.
#[test]
fn what_will_not_pass_is_not_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let count = |status: u32| {
        let end = DONE.replace(
            "\"is_error\":false",
            &format!("\"is_error\":true,\"api_error_status\":{status}"),
        );
        let script = format!("echo x >> {}\n{end}\nexit 1", starts.display());
        drop(std::fs::remove_file(&starts));
        let world = Profiled::keeping(folder.path(), &[("claude", &claude(&script))]);
        let ran = world.run(&["claude"]);
        ran.ends(5);
        // What mends a login is no log.
        let next = match status {
            401 => &["run-loop", "doctor", "--agent", "claude"][..],
            _ => &["run-loop", "log"],
        };
        assert_eq!(ran.next()[..next.len()], *next);
        std::fs::read_to_string(&starts).unwrap().lines().count()
    };
    assert_eq!(count(401), 1);
    assert_eq!(count(529), 2);
}

/// NOT PASS in one of two results stays: a later one does not hide it.
#[test]
fn a_second_result_does_not_hide_a_not_pass() {
    let script = format!(
        "GOOD=$REPORT\nREPORT=$(verdict 'NOT PASS' '[]' | json_text)\n{DONE}\nREPORT=$GOOD\n{DONE}"
    );
    let world = Profiled::new(&[("claude", &claude(&script))]);
    let ran = world.run(&["claude"]);
    assert_ne!(ran.code, Some(0));
    assert_eq!(world.bench.promoted(), Vec::<String>::new());
}

/// Programs that obey their working directory are not started in the reviewed tree.
#[test]
fn a_program_that_obeys_its_folder_works_elsewhere() {
    let script = format!(
        r#"{JSON}
{{ pwd; ls -A; printf '%s\n' "$RUN_LOOP_JOB_TREE"; }} > "$HOME/.local/share/opencode/seen"
printf '{{"type":"text","sessionID":"s","part":{{"text":%s}}}}\n' "$REPORT"
echo '{{"type":"step_finish","sessionID":"s","part":{{"reason":"stop","tokens":{{"input":1,"output":1}},"cost":0}}}}'"#
    );
    let world = Profiled::new(&[("opencode", &ScriptedAgent::with_script(script))]);
    world.run(&["opencode"]).ends(0);
    let seen = world.bench.repo.beside("home/.local/share/opencode/seen");
    let seen = std::fs::read_to_string(seen).unwrap();
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines.len(), 2, "the folder is empty: {lines:?}");
    assert!(lines[0].ends_with("/opencode.own"), "{lines:?}");
    assert_ne!(lines[0], lines[1]);
}

/// A key goes to its agent alone, and what the agent makes of it is shown nowhere. Nor is the key of another
/// agent of the run, wherever somebody has it from.
#[test]
fn a_key_is_seen_by_its_agent_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let got = folder.path().join("got");
    let leaks = format!(
        r#"printf '%s %s' "$ANTHROPIC_API_KEY" "${{OPENAI_API_KEY:-none}}" > {}
echo "keys $ANTHROPIC_API_KEY {OTHER_KEY}" >&2
REPORT=$(SUMMARY="I have $ANTHROPIC_API_KEY and {OTHER_KEY}" verdict PASS '[]' | json_text)
{DONE}"#,
        got.display()
    );
    let fails = DONE.replace("\"is_error\":false", "\"is_error\":true") + "; exit 1";
    let fails = format!(
        r#"REPORT=$(printf 'Invalid API key %s, nor is {OTHER_KEY}\n.' "$ANTHROPIC_API_KEY" | json_text)
{fails}"#
    );
    let codex = ScriptedAgent::with_script(format!(
        r#"{JSON}
echo '{{"type":"thread.started","thread_id":"t-1"}}'
printf '{{"type":"item.completed","item":{{"type":"agent_message","text":%s}}}}\n' "$REPORT"
echo '{{"type":"turn.completed"}}'"#
    ));
    for (end, code) in [(leaks.as_str(), 0), (fails.as_str(), 5)] {
        let programs = [("claude", &claude(end)), ("codex", &codex)];
        let world = Profiled::keeping(folder.path(), &programs);
        let ran = world.run(&["claude", "codex"]);
        ran.ends(code);
        for key in [KEY, OTHER_KEY] {
            assert!(!ran.stdout.contains(key) && !ran.stderr.contains(key));
            assert_nowhere(world.bench.repo.root(), key);
            assert_nowhere(&world.bench.repo.beside("home"), key);
        }
    }
    assert_eq!(std::fs::read_to_string(got).unwrap(), format!("{KEY} none"));
}

/// No file below the folder holds the text.
#[track_caller]
pub(crate) fn assert_nowhere(folder: &Path, text: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            assert_nowhere(&path, text);
        } else if let Ok(bytes) = std::fs::read(&path) {
            let found = bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes());
            assert!(!found, "{} holds the key", path.display());
        }
    }
}

/// Of several keys that are set the program gets that of the provider that its model names.
#[test]
fn only_the_key_of_the_models_provider_is_given() {
    let script = format!(
        r#"{JSON}
env | grep -o '^[A-Z]*_API_KEY' | sort > "$HOME/.local/share/opencode/keys"
printf '{{"type":"text","sessionID":"s","part":{{"text":%s}}}}\n' "$REPORT"
echo '{{"type":"step_finish","sessionID":"s","part":{{"reason":"stop","tokens":{{"input":1,"output":1}},"cost":0}}}}'"#
    );
    let world = Profiled::new(&[("opencode", &ScriptedAgent::with_script(script))]);
    world.run(&["opencode:openai/m"]).ends(0);
    let keys = world.bench.repo.beside("home/.local/share/opencode/keys");
    assert_eq!(std::fs::read_to_string(keys).unwrap(), "OPENAI_API_KEY\n");
}

/// A key goes to its agent alone: a change that has it in itself is shown to nobody.
#[test]
fn a_change_that_adds_a_key_is_shown_to_nobody() {
    let key = "sk-canary-5c1f0e9a7b3d2e4f6a";
    let folder = tempfile::tempdir().unwrap();
    let asked = folder.path().join("asked");
    let script = format!("echo x >> {}\n{DONE}", asked.display());
    let world = Profiled::keeping(folder.path(), &[("claude", &claude(&script))]);
    world
        .bench
        .repo
        .write("leak.txt", format!("token = {key}\n"));
    world.bench.repo.commit("a leak");
    let line = ["--base", "main", "--review-only", "--reviewer", "claude"];
    let review = |key: &str| {
        let mut run = world.command(&line);
        Ran::of(&run.env("ANTHROPIC_API_KEY", key).output().unwrap())
    };
    let ran = review(key);
    ran.ends(5).with("RL0303").says("leak.txt");
    assert!(!ran.stderr.contains(key) && !asked.exists());
    // Whose key it is not is told by nobody.
    review(KEY).ends(0);
}

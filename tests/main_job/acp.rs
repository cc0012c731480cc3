//! Agents that speak the Agent Client Protocol, through the built program: played by scripts
//! (`tests/real_agents.rs` drives real ones).

use std::path::Path;

use crate::support::agents::{Point, ScriptedAgent, quote};
use crate::support::bench::{Bench, Ran};

const LIBRARY: &str = include_str!("acp.bash");

/// A bench with an agent `talker` that does this; more keys of its entry.
fn talker(script: &str, keys: &str) -> Bench {
    let bench = Bench::new();
    let agent = ScriptedAgent::with_script(format!("{LIBRARY}\n{script}\nserve"));
    let program = agent.install(&bench.repo.beside("agents"), "talker");
    let entry = format!(
        "agents:\n  talker: {{kind: acp, command: [{}]{keys}}}",
        program.display()
    );
    bench.config(&entry).ready()
}

fn review(bench: &Bench) -> Ran {
    review_within(bench, 20)
}

fn review_within(bench: &Bench, seconds: u32) -> Ran {
    let seconds = seconds.to_string();
    bench.run(&[
        "--base",
        "main",
        "--review-only",
        "--job-timeout",
        &seconds,
        "--reviewer",
        "talker",
    ])
}

/// The agent's script ends so, and nobody takes it for a PASS.
#[track_caller]
fn refused(script: &str, code: i32, says: &str) {
    let bench = talker(script, "");
    review(&bench).ends(code).says(says);
    assert_eq!(bench.promoted(), Vec::<String>::new(), "{script}");
}

fn jobs(bench: &Bench) -> Vec<serde_json::Value> {
    let ran = bench.run(&["show", "--cost", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&ran.ends(0).stdout).unwrap();
    told["jobs"].as_array().unwrap().clone()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn an_agent_reviews_by_the_protocol() {
    let bench = talker("", "");
    review(&bench).ends(0);
    let sidecar = bench.sidecar("talker");
    assert_eq!(sidecar["verdict"], "PASS");
    assert_eq!(sidecar["agent"]["version"], "7.7.7");
    assert_eq!(bench.gate().code, Some(0));
    let jobs = jobs(&bench);
    assert_eq!(jobs[0]["session"], "s-1");
    // It told nothing of it.
    assert_eq!(jobs[0]["usage"], serde_json::Value::Null);
}

/// A perfect report is none where its turn did not end by itself, or where nobody said it to us.
#[test]
fn a_perfect_report_without_the_end_of_its_turn_is_no_pass() {
    for (prompt, says) in [
        ("say \"$(report)\"; end refusal", "refusal"),
        ("say \"$(report)\"; end max_tokens", "max_tokens"),
        ("say \"$(report)\"; end cancelled", "cancelled"),
        ("say \"$(report)\"; end of_tomorrow", "of_tomorrow"),
        ("say \"$(report)\"; refuse 500 broken", "broken"),
        ("say \"$(report)\"; exit 0", "ended before its turn did"),
        ("say \"$(report)\"; kill -KILL $$", "signal: 9"),
        ("say \"$(report)\"; end; exit 3", "exit status: 3"),
        (
            "say \"$(report)\"; tell 'Debugger attached.'; end",
            "no message of the protocol: Debugger attached.",
        ),
        ("say \"$(report)\"; answer null; exec 1>&-", "does not read"),
        // A second answer takes back the first.
        ("say \"$(report)\"; end; refuse 500 broken", "broken"),
        ("say \"$(report)\"; end; end refusal", "refusal"),
        // Words for people after the end hide no failure.
        (
            "say \"$(report)\"; end; tell Bye.; refuse 500 broken",
            "broken",
        ),
        // What is torn then may have been one.
        (
            r#"say "$(report)"; end; tell '{"jsonrpc":"2.0","id":3,"error":{"co'"#,
            "no message of the protocol",
        ),
        (
            r#"say "$(report)"; end; tell 'de":500,"message":"broken"}}'; tell Bye."#,
            "no message of the protocol",
        ),
        // Its end without an answer.
        ("end", "no report"),
        ("say '\"I forgot the verdict.\"'; end", "invalid report"),
        // Nobody said it to us.
        ("verdict PASS '[]'; end", "no message of the protocol"),
        ("say \"$(report)\" agent_thought_chunk; end", "no report"),
        ("say \"$PROMPT_JSON\" user_message_chunk; end", "no report"),
        (
            "say \"$(report)\" agent_message_chunk s-2; end",
            "no report",
        ),
        ("say \"$(report 'NOT PASS')\"; end", "NOT PASS"),
    ] {
        let script = format!("on_prompt() {{ PROMPT_JSON=$(report); {prompt}; }}");
        let code = if says == "NOT PASS" { 1 } else { 5 };
        refused(&script, code, says);
    }
}

/// Neither is there one where nobody was asked.
#[test]
fn an_agent_that_cannot_be_asked_has_no_verdict() {
    for (script, says) in [
        (
            "on_initialize() { answer '{\"protocolVersion\":2}'; }",
            "version 2",
        ),
        (
            "on_new() { refuse -32000 'Authentication required'; }",
            "no valid key or login",
        ),
        ("on_new() { answer '{}'; }", "does not read"),
        ("exit 7", "exit status: 7"),
    ] {
        refused(script, 5, says);
    }
}

/// codex-acp ends a turn that met a limit with `end_turn`, and the error as its message: the run waits.
#[test]
fn a_limit_that_ends_like_an_answer_is_one() {
    let script = r#"on_prompt() {
  say "$(report)"
  update s-1 '{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 5/5","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":429}},"willRetry":true}}}}'
  update s-1 '{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}'
  end
}"#;
    refused(script, 75, "limit");
}

/// Whoever is refused by its provider until its budget ends is at a limit, whether it cancels its turn then
/// or is gone at once.
#[test]
fn a_limit_until_the_budget_ends_is_one() {
    let limited = r#"on_prompt() {
  update s-1 '{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 1/5","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":429}},"willRetry":true}}}}'
}"#;
    let ends = ["trap '' TERM\non_cancel() { end cancelled; }", ""];
    std::thread::scope(|scope| {
        for end in ends {
            scope.spawn(move || {
                let bench = talker(&format!("{limited}\n{end}"), "");
                let ran = review_within(&bench, 5);
                ran.ends(75)
                    .with("RL0720")
                    .says("until its budget was spent");
                assert_eq!(bench.promoted(), [""; 0], "{end}");
            });
        }
    });
}

/// Options whose names and ids lie, and one that is for ever; what is not known is said so.
const ASKS: &str = r#"ask() {
  tell '{"jsonrpc":"2.0","id":"p","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t","title":"write it"},"options":[{"optionId":"reject","name":"No","kind":"allow_always"},{"optionId":"cancel","name":"Never","kind":"allow_once"},{"optionId":"proceed","name":"Yes","kind":"reject_once"}]}}'
  IFS= read -r REPLY
  tell '{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"path":"/etc/passwd"}}'
  IFS= read -r UNKNOWN
  tell '{"jsonrpc":"2.0","method":"_talker/notice","params":{}}'
  tell '{"jsonrpc":"2.0","id":10,"method":"session/request_permission","params":{"options":7}}'
  IFS= read -r UNREADABLE
  printf '%s\n' "$REPLY" "$UNKNOWN" "$UNREADABLE" > "$SEEN"
}
"#;

#[test]
fn a_readers_permission_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!(
        "SEEN={}\n{ASKS}on_prompt() {{ ask; say \"$(report)\"; end; }}",
        quote(seen.to_str().unwrap())
    );
    let bench = talker(&script, "");
    review(&bench).ends(0);
    let seen = read(&seen);
    let lines: Vec<&str> = seen.lines().collect();
    assert!(lines[0].contains(r#""optionId":"proceed""#), "{lines:?}");
    assert!(lines[0].contains(r#""id":"p""#), "{lines:?}");
    assert!(lines[1].contains("-32601"), "{lines:?}");
    assert!(lines[2].contains("-32602"), "{lines:?}");
}

#[test]
fn a_creators_permission_is_given_once() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!(
        "SEEN={}\n{ASKS}on_prompt() {{
  ask
  case $REPLY in *'\"optionId\":\"cancel\"'*) echo '// sum' >> src/lib.rs ;; esac
  say '\"It is written.\"'; end
}}",
        quote(seen.to_str().unwrap())
    );
    let bench = talker(&script, "");
    let line = [
        "--base",
        "main",
        "--creator",
        "talker",
        "--reviewer",
        "checks",
        "add a sum",
    ];
    bench.run(&line).ends(0);
    assert!(read(&seen).lines().next().unwrap().contains("cancel"));
    assert!(read(&bench.repo.root().join("src/lib.rs")).contains("// sum"));
}

/// An agent that takes no notice of TERM is told in the protocol, and nothing of it is left.
#[test]
fn a_turn_that_hangs_is_cancelled_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (told, pid) = (folder.path().join("told"), folder.path().join("pid"));
    let script = format!(
        "trap '' TERM
echo $$ > {}
on_prompt() {{ say \"$(report)\"; }}
on_cancel() {{ echo cancelled > {}; end cancelled; }}",
        quote(pid.to_str().unwrap()),
        quote(told.to_str().unwrap())
    );
    let bench = talker(&script, "");
    review_within(&bench, 3).ends(5).says("budget");
    assert_eq!(bench.promoted(), Vec::<String>::new());
    assert_eq!(read(&told), "cancelled\n");
    let process = Path::new("/proc").join(read(&pid).trim());
    assert!(!process.exists(), "{}", process.display());
}

/// Some do not end when nobody says anything more to them: the turn is over, and nothing of them is left.
#[test]
fn an_agent_that_stays_after_its_turn_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!(
        "echo $$ > {}\non_prompt() {{ say \"$(report)\"; end; forever; }}",
        quote(pid.to_str().unwrap())
    );
    let bench = talker(&script, "");
    review(&bench).ends(0);
    assert_eq!(bench.sidecar("talker")["verdict"], "PASS");
    let process = Path::new("/proc").join(read(&pid).trim());
    assert!(!process.exists(), "{}", process.display());
}

/// A re-ask goes on in the session. What an agent tells of it again is not said to us: the report that
/// was invalid then would be another one now.
#[test]
fn a_session_goes_on_where_the_agent_can() {
    let script = r#"on_load() { say "$(NONCE=0 TREE=0 report)"; answer '{}'; LOADED=yes; }
on_prompt() {
  if [ -n "${LOADED:-}" ]; then say "$(report)"; else say '"I forgot the verdict."'; fi
  end
}"#;
    let bench = talker(script, "");
    review(&bench).ends(0);
    let told = jobs(&bench);
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["session"], told[1]["session"]);
    // An agent that tells it again, and is done: nothing was said to us.
    let silent = script.replace("then say \"$(report)\"", "then :");
    refused(&silent, 5, "no report");
}

/// Row A-023, K14: one that is gone, or that the agent cannot continue, is replaced once, and that is said.
#[test]
fn a_session_that_does_not_go_on_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for (case, load) in [
        ("gone", "on_load() { refuse -32603 'Internal error'; }"),
        ("cannot", "CAN=''"),
    ] {
        let calls = folder.path().join(case);
        let script = format!(
            "CALLS={}\n{load}
on_new() {{ echo new >> \"$CALLS\"; SESSION=s-$(wc -l < \"$CALLS\"); answer \"{{\\\"sessionId\\\":\\\"$SESSION\\\"}}\"; }}
on_prompt() {{ case $SESSION in s-1) say '\"I forgot the verdict.\"' ;; *) say \"$(report)\" ;; esac; end; }}",
            quote(calls.to_str().unwrap())
        );
        let bench = talker(&script, "");
        review(&bench)
            .ends(0)
            .says("its session cannot be continued");
        assert_eq!(read(&calls).lines().count(), 2, "{case}");
    }
}

/// Before its prompt an agent waits for no model: it has a clock of its own, which tells what it waited for.
#[test]
fn an_agent_that_is_not_ready_in_time_has_no_verdict() {
    let profile = include_str!("../../profiles/acp.yaml");
    let short = profile.replace(
        "{model-option: model}",
        "{model-option: model, ready-within: 1}",
    );
    assert_ne!(short, profile);
    for (script, asked) in [
        ("on_initialize() { :; }", "initialize"),
        ("on_new() { :; }", "session/new"),
    ] {
        let bench = talker(script, "");
        let folder = bench.repo.beside("home/.config/run-loop/profiles");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("acp.yaml"), &short).unwrap();
        review(&bench).ends(5).says(&format!(
            "was not ready for its prompt within 1 s: no answer to {asked}"
        ));
        assert_eq!(bench.promoted(), Vec::<String>::new());
    }
}

/// Told to stop before it was asked, there is no turn to cancel: the client ends, and nothing is left.
#[test]
fn an_agent_is_ended_before_it_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let script = format!(
        "trap '' TERM\necho $$ > {}\non_new() {{ :; }}",
        quote(pid.to_str().unwrap())
    );
    let bench = talker(&script, "");
    review_within(&bench, 2).ends(5).says("budget");
    assert_eq!(bench.promoted(), Vec::<String>::new());
    let process = Path::new("/proc").join(read(&pid).trim());
    assert!(!process.exists(), "{}", process.display());
}

/// A line is one message however long; one that is too long is none, whatever its first part says.
#[test]
fn a_line_that_is_too_long_is_no_message() {
    let script = "on_prompt() {
  say \"$(report)\"
  printf '{\"id\":%s,\"result\":{\"stopReason\":\"end_turn\"}}' \"$ID\"
  head -c 34000000 /dev/zero | tr '\\0' ' '; echo
}";
    refused(script, 5, "a line of more than 33554432 bytes");
}

/// One that asks without end and reads no answer fills nothing but a bounded queue.
#[test]
fn an_agent_that_reads_no_answer_is_ended() {
    let script =
        "on_prompt() { say \"$(report)\"; while :; do tell '{\"id\":1,\"method\":\"x\"}'; done; }";
    refused(script, 5, "reads no answer");
}

/// A message without a name before or within one that has one is a warning; after it, its verdict counts.
#[test]
fn a_nameless_message_after_a_named_one_counts() {
    let named = |say: &str| {
        format!(
            "named() {{ update s-1 \"{{\\\"sessionUpdate\\\":\\\"agent_message_chunk\\\",\\\"messageId\\\":\\\"m\\\",\\\"content\\\":{{\\\"type\\\":\\\"text\\\",\\\"text\\\":$1}}}}\"; }}
on_prompt() {{ {say}; end; }}"
        )
    };
    for say in [
        "say \"$(report 'NOT PASS')\"; named \"$(report)\"",
        "named '\"So: \"'; say '\"Slow today.\"'; named \"$(report)\"",
        "named \"$(report)\"; say '\"Slow today.\"'",
    ] {
        let bench = talker(&named(say), "");
        review(&bench).ends(0);
    }
    let bench = talker(
        &named("named \"$(report)\"; say \"$(report 'NOT PASS')\""),
        "",
    );
    assert_ne!(review(&bench).code, Some(0));
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// The model is chosen in the protocol; one that the agent does not take is not passed over.
#[test]
fn a_model_is_chosen_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let script = format!(
        "on_option() {{ printf '%s' \"$LINE\" > {}; answer '{{\"configOptions\":[]}}'; }}",
        quote(seen.to_str().unwrap())
    );
    let bench = talker(&script, ", model: m-1");
    review(&bench).ends(0);
    let seen = read(&seen);
    assert!(
        seen.contains(r#""configId":"model""#) && seen.contains(r#""value":"m-1""#),
        "{seen}"
    );
    let bench = talker(
        "on_option() { refuse -32602 'no such model'; }",
        ", model: m-1",
    );
    review(&bench).ends(5).says("unknown model");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// H20: nothing but the job's budget bounds how long a session takes to be set up: one whose program
/// takes its time with each step is waited for, and one that never answers is ended at the budget, which
/// is the user's to set.
#[test]
fn a_slow_set_up_is_bounded_by_the_budget_alone() {
    let folder = tempfile::tempdir().unwrap();
    let steps = ["initialize", "new"];
    let points = steps.map(|step| {
        let point = |name: &str| Point::new(folder.path(), &format!("{step}.{name}"));
        (point("begun"), point("go"))
    });
    let waits = |step: &str| {
        let path = folder.path().join(step);
        format!(
            "eval \"usual_$(declare -f on_{step})\"\n\
             on_{step}() {{ echo x > {0}.begun; read -r _ < {0}.go; usual_on_{step}; }}\n",
            path.display()
        )
    };
    let bench = talker(&steps.map(waits).concat(), "");
    let child = bench.spawn(&["--base", "main", "--review-only", "--reviewer", "talker"]);
    for (begun, go) in &points {
        begun.reached();
        // Whatever else happens meanwhile.
        bench.run(&["status"]).ends(0).says("running");
        go.release();
    }
    Ran::of(&child.wait_with_output().unwrap()).ends(0);
    for step in steps {
        let bench = talker(&format!("on_{step}() {{ :; }}"), "");
        review_within(&bench, 2).ends(5).says("budget");
    }
}

//! Delegated jobs that go on in the session of an earlier one (rows A-022, A-023, A-036, T-064).

use serde_json::Value;

use crate::single::row;
use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};

/// A program that prints what claude prints. Call by call it runs one of these lines; `done_at COST TEXT`
/// ends one well, in the session that it is to continue, else in one of its own.
fn program(turns: &[&str]) -> ScriptedAgent {
    use std::fmt::Write as _;
    let mut script = String::from(
        r#"CALLS="$HOME/.claude/calls"; mkdir -p "$HOME/.claude"
echo "$*" >> "$CALLS"; NTH=$(wc -l < "$CALLS"); cat > "$CALLS.$NTH"; SESSION=s-$NTH
case " $* " in *" --resume "*) SESSION=$(printf '%s' "$*" | sed 's/.*--resume \([^ ]*\).*/\1/') ;; esac
done_at() {
  printf '{"type":"system","subtype":"init","cwd":"%s","session_id":"%s"}\n' "$PWD" "$SESSION"
  printf '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":%s,"usage":{"input_tokens":7,"output_tokens":3},"result":"%s"}\n' "$1" "$2"
}
gone() {
  echo '{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"s-9","total_cost_usd":0,"usage":{"input_tokens":0,"output_tokens":0},"errors":["No conversation found with session ID: x"]}'
  exit 1
}
case $NTH in
"#,
    );
    for (nth, turn) in turns.iter().enumerate() {
        writeln!(script, "{}) {turn} ;;", nth + 1).unwrap();
    }
    script.push_str("*) exit 9 ;;\nesac");
    ScriptedAgent::with_script(script)
}

fn bench(turns: &[&str]) -> Bench {
    Bench::new()
        .known("helper", "claude", &program(turns))
        .ready()
}

fn submit(bench: &Bench, agent: &str, more: &[&str]) -> Ran {
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let args = ["job", "submit", "--agent", agent, "--prompt-file", &file];
    bench.run(&[&args, more].concat())
}

/// What the program was called with, and its prompt.
fn call(bench: &Bench, nth: usize) -> (String, String) {
    let folder = bench.repo.beside("home/.claude");
    let calls = std::fs::read_to_string(folder.join("calls")).unwrap();
    let prompt = std::fs::read_to_string(folder.join(format!("calls.{nth}"))).unwrap();
    let line = calls.lines().nth(nth - 1).unwrap().to_owned();
    (line, prompt)
}

fn calls(bench: &Bench) -> usize {
    let calls = std::fs::read_to_string(bench.repo.beside("home/.claude/calls")).unwrap();
    calls.lines().count()
}

fn shown(bench: &Bench, job: &str) -> Value {
    let ran = bench.run(&["job", "show", job, "--format", "json"]);
    serde_json::from_str(&ran.ends(0).stdout).unwrap()
}

/// A job goes on in the session of one that is over, of another run too; who was followed is followed by nobody else.
#[test]
fn a_job_goes_on_in_the_session_of_an_earlier_one() {
    let bench = bench(&[
        "done_at 0.5 one",
        "done_at 0.75 two",
        "done_at 1.25 three",
        "done_at 0.5 four",
    ]);
    let first = row(&submit(&bench, "helper", &[]).ends(0).stdout, "job");
    let ran = submit(&bench, "helper", &["--continue", &first]);
    ran.ends(0).says(&format!("that of job {first}"));
    let second = row(&ran.stdout, "job");
    assert_eq!(shown(&bench, &second)["continues"], first.as_str());
    let (args, prompt) = call(&bench, 2);
    assert!(args.contains("--resume s-1"), "{args}");
    assert!(!prompt.contains("was reported before"), "{prompt}");
    let ran = submit(&bench, "helper", &["--continue", &first]);
    ran.ends(3).with("RL0141").says(&second);
    assert_eq!(ran.next(), ["run-loop", "job", "show", &second]);
    let ran = submit(&bench, "helper", &["--continue", &second]);
    ran.ends(0);
    assert!(call(&bench, 3).0.contains("--resume s-1"));
    // And one that is not told to goes on in none.
    submit(&bench, "helper", &[]).ends(0);
    assert!(!call(&bench, 4).0.contains("--resume"));
}

/// T-064: a session that is gone is replaced by a new one, once, which is told what was reported in it;
/// that is said.
#[test]
fn a_session_that_is_gone_is_replaced_once() {
    let gone_once = bench(&["done_at 0.5 one-report", "gone", "done_at 0.25 two"]);
    let first = row(&submit(&gone_once, "helper", &[]).ends(0).stdout, "job");
    let ran = submit(&gone_once, "helper", &["--continue", &first]);
    ran.ends(0)
        .says("its session cannot be continued")
        .says(&format!("in a new session: that of job {first}"));
    assert_eq!(
        row(&ran.stdout, "status"),
        "completed (attempt 2, budget 3600 s)"
    );
    let second = row(&ran.stdout, "job");
    assert_eq!(shown(&gone_once, &second)["anew"], true);
    let (args, prompt) = call(&gone_once, 3);
    assert!(!args.contains("--resume"), "{args}");
    assert!(prompt.contains("[begin earlier report"), "{prompt}");
    assert!(prompt.contains("one-report"), "{prompt}");
    // Row M-054: whatever is told, the instructions end with the sentence.
    let told = prompt.find("[end earlier report").unwrap();
    assert!(
        prompt[told..].contains("To pass a part of this job on"),
        "{prompt}"
    );
    // One that fails in its new session is not asked a third time.
    let gone = bench(&["done_at 0.5 one", "gone", "gone", "done_at 1 late"]);
    let first = row(&submit(&gone, "helper", &[]).ends(0).stdout, "job");
    submit(&gone, "helper", &["--continue", &first])
        .ends(6)
        .with("RL0507");
    assert_eq!(calls(&gone), 3);
}

/// A program that answers in another session than it was told to go on in may count on from the one before or
/// not: what that one cost is not told twice, nor guessed. It may not know what was said there, which is told.
#[test]
fn a_program_that_leaves_the_session_it_was_to_go_on_in_is_told() {
    let bench = bench(&["done_at 0.5 one", "SESSION=s-9; done_at 0.75 two"]);
    let first = row(&submit(&bench, "helper", &[]).ends(0).stdout, "job");
    let ran = submit(&bench, "helper", &["--continue", &first]);
    ran.ends(0)
        .says("exit code 0, in another session than it was to go on in")
        .says(&format!("a new one, since that of job {first}"));
    let cost = bench.run(&["show", "--cost", "--format", "json"]);
    let cost: Value = serde_json::from_str(&cost.ends(0).stdout).unwrap();
    assert_eq!(cost["jobs"][0]["session"], "s-9");
    assert_eq!(cost["jobs"][0]["cost_usd"], Value::Null);
}

/// Some programs take a prompt that begins with a slash for a command of their own, and say that all went
/// well: it reaches them as text, and what no model answered is no answer.
#[test]
fn a_prompt_that_looks_like_a_command_is_none() {
    let own = r#"echo '{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"Context: 3%"}'"#;
    let bench = bench(&["done_at 0.5 one", own, own]);
    let file = bench.repo.beside("command.md");
    std::fs::write(&file, "/context of the change\n").unwrap();
    let file = file.to_str().unwrap();
    let line = ["job", "submit", "--agent", "helper", "--prompt-file", file];
    bench.run(&line).ends(0);
    let (_, prompt) = call(&bench, 1);
    assert!(
        prompt.starts_with("Do what follows.\n\n/context of"),
        "{prompt}"
    );
    let ran = submit(&bench, "helper", &[]);
    ran.ends(6).with("RL0507").says("no model answered");
    assert!(call(&bench, 2).1.starts_with("Do it."));
}

/// What has no session that could go on is refused before anything is made.
#[test]
fn what_has_no_session_to_go_on_in_is_refused() {
    let plain = ScriptedAgent::with_script("cat > /dev/null; echo done");
    let silent = ScriptedAgent::with_script(
        r#"cat > /dev/null; echo '{"type":"result","subtype":"success","is_error":false,"result":"one"}'"#,
    );
    let bench = Bench::new()
        .known("helper", "claude", &program(&["exit 3", "done_at 1 one"]))
        .known("silent", "claude", &silent)
        .spare("plain", &plain, "")
        .ready();
    let job = |ran: &Ran| row(&ran.stdout, "job");
    let failed = job(submit(&bench, "helper", &[]).ends(6));
    let done = job(submit(&bench, "helper", &[]).ends(0));
    let untold = job(submit(&bench, "silent", &[]).ends(0));
    let command = job(submit(&bench, "plain", &[]).ends(0));
    let runs = || bench.run(&["job", "list"]).stdout.lines().count();
    let before = runs();
    for (agent, after, says) in [
        ("helper", &failed, "is closed, error"),
        ("silent", &done, "was asked of helper"),
        ("silent", &untold, "no session that its program told"),
        ("plain", &command, "sessions cannot be continued"),
    ] {
        let ran = submit(&bench, agent, &["--continue", after]);
        ran.ends(3).with("RL0141").says(says);
        assert_eq!(ran.next(), ["run-loop", "job", "show", after]);
    }
    submit(&bench, "helper", &["--continue", "0123"])
        .ends(2)
        .with("RL0022");
    assert_eq!(runs(), before);
    // Its session is found from its own folder alone.
    let other = bench.repo.beside("other");
    let other = other.to_str().unwrap();
    bench.repo.git(&["worktree", "add", "-q", other, "main"]);
    submit(
        &bench,
        "helper",
        &["--continue", &done, "--worktree", other],
    )
    .ends(3)
    .says("would work in");
    assert_eq!(calls(&bench), 2);
}

/// A job asks one that it delegated something more, once that is over; never one that runs, nor itself,
/// nor a job of the loop.
#[test]
fn a_job_asks_its_sub_job_something_more() {
    let log = "log";
    let lines = format!(
        "RL={}\nread_prompt\nexec 3>&1\n{{\nprintf 'Look.\\n' > \"$TMPDIR/prompt\"\n\
         submit() {{ \"$RL\" job submit --agent helper --prompt-file \"$TMPDIR/prompt\" \"$@\"; }}\n\
         one=$(submit); submit --continue \"$one\" 2>&1 | grep -o 'is not over'\n\
         : > \"$TMPDIR/go\"; \"$RL\" job wait \"$one\" > /dev/null\n\
         two=$(submit --continue \"$one\"); \"$RL\" job wait \"$two\" > /dev/null\n\
         \"$RL\" job show \"$two\" --report; echo; \"$RL\" job show \"$two\" | grep session\n\
         submit --continue \"$one\" 2>&1 | grep -o 'was followed by'\n\
         submit --continue \"$RUN_LOOP_JOB_ID\" 2>&1 | grep -o \"is one of the loop's own\"\n\
         }} > \"$TMPDIR/{log}\" 2>&1\nverdict PASS '[]' >&3\n",
        env!("CARGO_BIN_EXE_run-loop")
    );
    let helper = program(&[
        "until [ -e \"$GO\" ]; do sleep 0.02; done; done_at 0.5 one",
        "done_at 0.75 two",
    ]);
    let bench = Bench::new();
    let tmp = bench.repo.beside("tmp");
    let go = format!("GO={}/go", tmp.display());
    let bench = bench
        .reviewer(
            "reader",
            &ScriptedAgent::with_script(lines).after(&format!("TMPDIR={}", tmp.display())),
        )
        .known("helper", "claude", &helper.after(&go))
        .ready();
    bench.review().ends(0);
    let log = std::fs::read_to_string(tmp.join(log)).unwrap();
    for line in [
        "is not over",
        "two",
        "was followed by",
        "is one of the loop's own",
    ] {
        assert!(log.lines().any(|said| said == line), "{line:?} in:\n{log}");
    }
    assert!(log.contains("that of job"), "{log}");
    assert!(call(&bench, 2).0.contains("--resume s-1"));
    assert_eq!(calls(&bench), 2);
}

/// A re-ask for the form of an answer goes on in its own session; where that is gone, in a new one.
#[test]
fn a_re_ask_for_its_form_goes_on_in_the_session() {
    let fits = r#"done_at 0.75 '{\"count\": 3}'"#;
    let schema = |bench: &Bench| {
        let file = bench.repo.beside("schema.json");
        let text = r#"{"type": "object", "required": ["count"]}"#;
        std::fs::write(&file, text).unwrap();
        submit(bench, "helper", &["--schema", file.to_str().unwrap()])
    };
    let at_once = bench(&["done_at 0.5 no-json", fits]);
    schema(&at_once).ends(0);
    assert!(call(&at_once, 2).0.contains("--resume s-1"));
    let gone = bench(&["done_at 0.5 no-json", "gone", fits]);
    schema(&gone).ends(0).says("in a new session");
    let (args, prompt) = call(&gone, 3);
    assert!(!args.contains("--resume"), "{args}");
    assert!(prompt.contains("did not fit"), "{prompt}");
    assert!(prompt.contains("[begin earlier report"), "{prompt}");
    assert_eq!(calls(&gone), 3);
}

/// A-036: inside of a delegated job another one cannot go on in its session while that is under way, which
/// is said; once it is over, one that is delegated inside it does.
#[test]
fn a_sub_job_goes_on_in_the_session_of_its_parent_once_that_is_over() {
    let log = "log";
    let lines = format!(
        "RL={}\nread_prompt\nexec 3>&1\n{{\nprintf 'Look.\\n' > \"$TMPDIR/prompt\"\n\
         submit() {{ \"$RL\" job submit --agent helper --prompt-file \"$TMPDIR/prompt\" \"$@\"; }}\n\
         one=$(submit); \"$RL\" job wait \"$one\" > /dev/null\n\
         two=$(submit --parent-job \"$one\" --continue \"$one\"); \"$RL\" job wait \"$two\" > /dev/null\n\
         \"$RL\" job show \"$two\" --report; echo; \"$RL\" job show \"$two\" --format json\n\
         }} > \"$TMPDIR/{log}\" 2>&1\nverdict PASS '[]' >&3\n",
        env!("CARGO_BIN_EXE_run-loop")
    );
    let itself = format!(
        "{} job submit --agent helper --prompt-file \"$CALLS.1\" --continue \"$RUN_LOOP_JOB_ID\" \
         > \"$HOME/.claude/itself\" 2>&1; done_at 0.5 one",
        env!("CARGO_BIN_EXE_run-loop")
    );
    let helper = program(&[&itself, "done_at 0.75 two"]);
    let bench = Bench::new();
    let tmp = bench.repo.beside("tmp");
    let bench = bench
        .reviewer(
            "reader",
            &ScriptedAgent::with_script(lines).after(&format!("TMPDIR={}", tmp.display())),
        )
        .known("helper", "claude", &helper)
        .ready();
    bench.review().ends(0);
    let log = std::fs::read_to_string(tmp.join(log)).unwrap();
    assert!(log.lines().any(|line| line == "two"), "{log}");
    assert!(
        log.contains("\"parent\":\"") && log.contains("\"continues\":\""),
        "{log}"
    );
    assert!(call(&bench, 2).0.contains("--resume s-1"));
    let itself = std::fs::read_to_string(bench.repo.beside("home/.claude/itself")).unwrap();
    assert!(
        itself.contains("RL0141") && itself.contains("is not over"),
        "{itself}"
    );
    assert_eq!(calls(&bench), 2);
}

/// The job's own model and effort come before those of the configuration; what takes none is refused before
/// anything is made.
#[test]
fn a_job_states_its_model_and_its_effort() {
    let plain = ScriptedAgent::with_script("cat > /dev/null; echo done");
    let bench = Bench::new()
        .known(
            "helper",
            "claude",
            &program(&["done_at 0.5 one", "done_at 0.5 two"]),
        )
        .known("other", "gemini", &plain)
        .spare("plain", &plain, "")
        .ready();
    submit(&bench, "helper", &["--model", "m-job", "--effort", "high"]).ends(0);
    let (line, _) = call(&bench, 1);
    assert!(line.contains("--model m-job --effort high"), "{line}");
    submit(&bench, "helper", &[]).ends(0);
    assert!(!call(&bench, 2).0.contains("--model"));
    for (agent, more, says) in [
        ("plain", ["--model", "m"], "takes no model"),
        ("other", ["--effort", "high"], "takes no effort"),
        ("helper", ["--model", "--resume=x"], "is no model"),
        ("helper", ["--model", " "], "is no model"),
    ] {
        let more = match more {
            [option, value] if value.starts_with('-') => vec![format!("{option}={value}")],
            more => more.map(str::to_owned).to_vec(),
        };
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        submit(&bench, agent, &more)
            .ends(2)
            .with("RL0013")
            .says(says);
    }
    assert_eq!(calls(&bench), 2);
}

//! What agents say of their jobs: a claim, and nothing that anybody's keys get out by.

use crate::single::row;
use crate::support::agents::{ScriptedAgent, quote};
use crate::support::bench::{Bench, Ran};

const RL: &str = env!("CARGO_BIN_EXE_run-loop");
const KEY: &str = "k3y-71c9e2aa04d85b6f";

fn submit(bench: &Bench, more: &[&str]) -> Ran {
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let args = ["job", "submit", "--agent", "helper", "--prompt-file", &file];
    bench.run(&[&args, more].concat())
}

/// An agent that says it is done and then fails, or goes on until its budget ends it, did not complete:
/// what came to pass is told, and what it said.
#[test]
fn an_agent_that_says_it_is_done_and_fails_did_not_complete() {
    for (then, code, reason, word) in [
        ("exit 3", 6, "RL0507", "exited with 3"),
        ("forever", 7, "RL0701", "wall_clock_timeout"),
    ] {
        let script = format!("cat > /dev/null; {RL} job event completed --detail all >&2; {then}");
        let bench = Bench::new()
            .spare("helper", &ScriptedAgent::with_script(script), "")
            .ready();
        let ran = submit(&bench, &["--timeout", "3"]);
        ran.ends(code)
            .with(reason)
            .says(word)
            .says("(its agent said completed: all)");
        bench.run(&["job", "list"]).ends(0).says(word);
    }
}

/// What an agent was given stands in nothing that it says: not in the journal, nor the index, nor what is
/// printed, and no other agent gets it with a prompt.
#[test]
fn what_an_agent_says_holds_none_of_its_keys() {
    let bench = Bench::new();
    let prompt = bench.repo.beside("tmp").join("got");
    let script = format!(
        "read_prompt; say() {{ {RL} job \"$@\" >&2; }}\n\
         say event permission_required --detail \"may I use $BOT_TOKEN?\"\n\
         printf 'Use %s.\\n' \"$BOT_TOKEN\" > \"$TMPDIR/prompt\"\n\
         printf '{{\"enum\": [\"%s\", \"x\"]}}' \"$BOT_TOKEN\" > \"$TMPDIR/schema\"\n\
         id=$({RL} job submit --agent helper --prompt-file \"$TMPDIR/prompt\" \
         --schema \"$TMPDIR/schema\") || exit 9\n\
         {RL} job wait \"$id\" >&2\n\
         id=$({RL} job submit --agent sleeper --prompt-file \"$TMPDIR/prompt\") || exit 8\n\
         say cancel \"$id\" --reason \"no $BOT_TOKEN\"; {RL} job wait \"$id\" >&2\n\
         verdict PASS '[]' | deliver"
    );
    let helper = format!(
        "cat >> {}; {RL} job event progress >&2; echo '\"x\"'",
        quote(prompt.to_str().unwrap())
    );
    let bench = bench
        .reviewer_with(
            "reader",
            &ScriptedAgent::with_script(script),
            "env: [BOT_TOKEN]",
        )
        .spare("helper", &ScriptedAgent::with_script(helper), "")
        .spare("sleeper", &ScriptedAgent::hangs(), "")
        .ready();
    let mut command = bench.command(&["--base", "main", "--review-only", "--format", "ndjson"]);
    let ran = Ran::of(&command.env("BOT_TOKEN", KEY).output().unwrap());
    ran.ends(0);
    for told in ["may I use", "\"no "] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    let got = std::fs::read_to_string(prompt).unwrap();
    assert!(got.contains("Use "), "{got}");
    for text in [&ran.stdout, &ran.stderr, &got] {
        assert!(!text.contains(KEY), "{text}");
    }
    let state = bench.repo.root().join(".git/run-loop");
    let mut files = vec![state];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).unwrap();
            files.extend(entries.map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let held = bytes.windows(KEY.len()).any(|it| it == KEY.as_bytes());
        assert!(!held, "{}", path.display());
    }
}

/// A key is taken out of an answer before anybody keeps it: what is left must be what was asked for, or it is
/// no answer, and whoever gave it is told why without the key.
#[test]
fn an_answer_that_does_not_fit_without_its_keys_is_none() {
    // A number, and a member's name: without them there is no JSON, or another object.
    for (key, given, whole) in [
        ("8675309123", "$BOT_TOKEN", "8"),
        ("k3y-71c9e2aa", "{\\\"$BOT_TOKEN\\\": 1}", "{\\\"k\\\": 1}"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let told = folder.path().join("told");
        let first = format!("cat > /dev/null; echo \"{given}\"");
        let second = format!("cat > {}; echo \"{whole}\"", quote(told.to_str().unwrap()));
        let turns = [first, second].map(ScriptedAgent::with_script);
        let agent = ScriptedAgent::in_turn(&folder.path().join("turn"), &turns);
        let bench = Bench::new().spare("helper", &agent, "env: [BOT_TOKEN]");
        let bench = bench.ready();
        let (prompt, schema) = (bench.repo.beside("prompt.md"), bench.repo.beside("schema"));
        std::fs::write(&prompt, "Count.\n").unwrap();
        let names = r#"{"pattern": "^k"}"#;
        let form = format!(r#"{{"type": ["integer", "object"], "propertyNames": {names}}}"#);
        std::fs::write(&schema, form).unwrap();
        let mut command = bench.command(&["job", "submit", "--agent", "helper"]);
        command.arg("--prompt-file").arg(prompt);
        command.arg("--schema").arg(schema);
        let ran = Ran::of(&command.env("BOT_TOKEN", key).output().unwrap());
        let status = row(&ran.ends(0).stdout, "status");
        assert!(status.contains("attempt 2"), "{status}");
        let told = std::fs::read_to_string(told).unwrap();
        assert!(told.contains("it holds a key"), "{told}");
        assert!(!told.contains(key), "{told}");
    }
}

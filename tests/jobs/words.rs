//! What agents say of their jobs: a claim, and nothing that anybody's keys get out by.

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

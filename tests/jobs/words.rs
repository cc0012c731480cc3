//! What agents say of their jobs: a claim.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};

const RL: &str = env!("CARGO_BIN_EXE_run-loop");

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
            .says(&format!("{word} (its agent said completed: all)"));
        bench.run(&["job", "list"]).ends(0).says(word);
    }
}

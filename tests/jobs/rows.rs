//! What reviewers are told of how delegated jobs closed, through the program.

use crate::support::agents::{ScriptedAgent, quote};
use crate::support::bench::Bench;

/// T-111, T-112: a job that its budget ended may still be writing, and is told as unconfirmed with
/// the warning; one that never ran is told as that, with the reason.
#[test]
fn reviewers_see_how_each_delegated_job_closed() {
    let bench = Bench::new();
    let (ghost, prompt) = (
        bench.repo.beside("agents/ghost"),
        bench.repo.beside("prompt"),
    );
    let submit = format!(
        "{} job submit --prompt-file \"$TMPDIR/prompt\"",
        env!("CARGO_BIN_EXE_run-loop")
    );
    let creator = ScriptedAgent::with_script(format!(
        "read_prompt; echo '// begun' >> src/lib.rs; echo Do it. > \"$TMPDIR/prompt\"; rm {}; \
         {submit} --agent ghost >&2 || exit 8; {submit} --agent helper --timeout 1 >&2 || exit 9; \
         echo Done. | deliver",
        quote(ghost.to_str().unwrap())
    ));
    let reader = ScriptedAgent::with_script(format!(
        "read_prompt; printf '%s' \"$PROMPT\" > {}; verdict PASS '[]' | deliver",
        quote(prompt.to_str().unwrap())
    ));
    let bench = bench
        .reviewer("reader", &reader)
        .spare("writer", &creator, "")
        .spare("ghost", &ScriptedAgent::passing(), "")
        .spare("helper", &ScriptedAgent::hangs(), "")
        .ready();
    let line = ["--base", "main", "--creator", "writer", "add a line"];
    bench.run(&line).ends(0);
    let prompt = std::fs::read_to_string(prompt).unwrap();
    let row = |agent: &str| {
        let of = format!("| {agent} |");
        let row = prompt.lines().find(|line| line.contains(&of));
        row.unwrap_or_else(|| panic!("{agent}: {prompt}"))
            .to_owned()
    };
    let (late, never) = (row("helper"), row("ghost"));
    assert!(
        late.contains("| CLOSED-UNCONFIRMED | wall_clock_timeout"),
        "{late}"
    );
    assert!(
        never.contains("| NOT-DISPATCHED | not_started: "),
        "{never}"
    );
    assert!(
        prompt.contains("1 of them were closed without their own word"),
        "{prompt}"
    );
}

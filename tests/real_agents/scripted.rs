//! Scripted agents beside a real one, where only one role is on trial.

use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::Bench;

/// `bob`: NOT PASS until the reviewed tree holds a file of this name.
pub(crate) fn reviewer(bench: Bench, name: &str) -> Bench {
    reviewer_after(bench, name, ":")
}

/// `bob`, who does something first.
pub(crate) fn reviewer_after(bench: Bench, name: &str, first: &str) -> Bench {
    let missing = format!(
        "[{}]",
        finding("a file is missing", "high", "src/lib.rs", 1)
    );
    let script = format!(
        "{first}\nread_prompt\nif [ -e \"$RUN_LOOP_JOB_TREE/{name}\" ]; then verdict PASS '[]' | deliver; \
         else verdict 'NOT PASS' {} | deliver; fi",
        quote(&missing)
    );
    bench.spare("bob", &ScriptedAgent::with_script(script), "")
}

/// `ann`: objects to the plan once, and writes a file of this name.
pub(crate) fn creator(bench: Bench, name: &str) -> Bench {
    let script = format!(
        "read_prompt\ncase $RUN_LOOP_JOB_ROLE in\n\
         challenge) objections '[\"it says nothing of tests\"]' | deliver ;;\n\
         implement) echo planned > {name}; echo 'It is written.' | deliver ;;\nesac"
    );
    bench.spare("ann", &ScriptedAgent::with_script(script), "")
}

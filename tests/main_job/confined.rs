//! Reviewers that the kernel confines (`confine: true`; issue 6, 6).

use run_loop::process::confine::landlock_version;

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};
use crate::support::skipped;

/// Tries what it may not and what it must be able to, and approves when all is as it should be.
fn prober(bench: &Bench) -> ScriptedAgent {
    let state = bench.repo.root().join(".git/run-loop/locks");
    ScriptedAgent::with_script(format!(
        r#"read_prompt
WRONG=
may_not() {{ NAME=$1; shift; if "$@" > /dev/null 2>&1; then WRONG="$WRONG may-$NAME"; fi; }}
must() {{ NAME=$1; shift; if ! "$@" > /dev/null 2>&1; then WRONG="$WRONG cannot-$NAME"; fi; }}
write() {{ echo x > "$1"; }}
may_not write-outside write '{outside}'
may_not write-home write "$HOME/intruder"
may_not read-records ls '{state}'
may_not read-other-jobs ls "$RUN_LOOP_JOB_INBOX/../.."
may_not signal-its-guard kill -0 "$PPID"
must read-the-base git -C "$RUN_LOOP_JOB_TREE" show main:README.md
must read-its-tree cat "$RUN_LOOP_JOB_TREE/src/lib.rs"
must read-the-evidence cat "$RUN_LOOP_JOB_EVIDENCE/files.json"
must write-its-tree write "$RUN_LOOP_JOB_TREE/notes"
must write-temporary write "$TMPDIR/notes"
must write-to-nowhere write /dev/null
must run-programs sed --version
must read-the-machine cat /etc/passwd
if [ -z "$WRONG" ]; then verdict PASS '[]' | deliver; exit; fi
verdict 'NOT PASS' '[{{"title": "'"$WRONG"'", "severity": "high", "path": "src/lib.rs", "line": 1, "body": "seen"}}]' | deliver"#,
        outside = bench.repo.beside("agents").join("intruder").display(),
        state = state.display(),
    ))
}

fn review(keys: &str) -> (Bench, Ran) {
    let bench = Bench::new();
    let agent = prober(&bench);
    let bench = bench.reviewer_with("ann", &agent, keys).ready();
    let ran = bench.review();
    (bench, ran)
}

#[test]
fn a_confined_reviewer_reads_its_tree_and_writes_nowhere_else() {
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let (bench, ran) = review("confine: true");
    ran.ends(0);
    assert_eq!(bench.sidecar("ann")["confinement"], "landlock");
    assert!(!bench.repo.beside("agents").join("intruder").exists());
    assert_eq!(bench.gate().code, Some(0));
}

/// The same program finds every door open where nothing confines it: the test above is no luck.
#[test]
fn without_it_the_same_reviewer_finds_the_doors_open() {
    let (bench, ran) = review("");
    ran.ends(1).with("RL0401");
    for door in [
        "write-outside",
        "write-home",
        "read-records",
        "read-other-jobs",
        "signal-its-guard",
    ] {
        ran.says(&format!("may-{door}"));
    }
    assert!(!ran.stderr.contains("cannot-"), "{}", ran.stderr);
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

//! What decides comes from the base, and from the command line; never from the tree under review
//! or the environment.

use crate::support::agents::{ScriptedAgent, quote};
use crate::support::bench::Bench;

/// A reviewer that keeps its prompt, then approves.
fn keeps_its_prompt(path: &std::path::Path) -> ScriptedAgent {
    ScriptedAgent::with_script(format!(
        "read_prompt; printf '%s' \"$PROMPT\" > {}; verdict PASS '[]' | deliver",
        quote(path.to_str().unwrap())
    ))
}

/// Per-slot instructions reach their own slot alone, as they stand at the base.
#[test]
fn instructions_reach_their_slot_alone_and_come_from_the_base() {
    let bench = Bench::new();
    let (first, second) = (bench.repo.beside("first"), bench.repo.beside("second"));
    let filler = "filler\n".repeat(20);
    bench.repo.write(
        "docs/security.md",
        format!("Look for injections.\n{filler}Be strict.\n"),
    );
    let bench = bench
        .spare("ann", &keeps_its_prompt(&first), "")
        .reviewer("bob", &keeps_its_prompt(&second))
        .also("{agent: ann, name: security, instructions: [docs/security.md]}")
        .ready();
    // Far from the first line, so that the diff does not show that one.
    bench.repo.write(
        "docs/security.md",
        format!("Look for injections.\n{filler}Be kind.\n"),
    );
    bench.repo.commit("kinder");
    bench.review().ends(0);
    let read = |path| std::fs::read_to_string(path).unwrap();
    let (security, bob) = (read(&first), read(&second));
    assert!(security.contains("Look for injections."), "{security}");
    assert!(!bob.contains("Look for injections."), "{bob}");
    // The prompt holds the base's words before the diff that would soften them.
    let (strict, kind) = (security.find("Be strict."), security.find("+Be kind."));
    assert!(strict.unwrap() < kind.unwrap(), "{security}");
}

/// Commands of a working copy run only once this user trusts the file; the gate never reads it.
#[test]
fn a_working_copy_is_trusted_first_and_never_read_by_the_gate() {
    let bench = Bench::new();
    bench.repo.git(&["switch", "-q", "-c", "feature"]);
    bench.repo.write("src/lib.rs", "pub fn two() {}\n");
    bench.repo.commit("two");
    std::fs::write(
        bench.repo.root().join(".git/info/exclude"),
        "run-loop.yaml\n",
    )
    .unwrap();
    let bench = bench.reviewer("ann", &ScriptedAgent::passing());
    bench.write_config();
    let ran = bench.review();
    ran.ends(2).with("RL0010");
    let next = ran.next();
    assert_eq!(next[..3], ["run-loop", "config", "trust"]);
    let words: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    bench.run(&words).ends(0);
    bench.review().ends(0);
    bench.gate().ends(0);
    let path = bench.repo.root().join("run-loop.yaml");
    std::fs::write(&path, "version: 1\npolicy: {require: [nobody]}\n").unwrap();
    bench.gate().ends(0);
    std::fs::write(&path, "{ this is no configuration").unwrap();
    bench.gate().ends(0);
}

/// T-033: a base in the environment counts for nothing, and that is said.
#[test]
fn a_base_in_the_environment_is_told_and_ignored() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    let review = |args: &[&str]| {
        let output = bench.command(args).env("RUN_LOOP_BASE", "nowhere").output();
        crate::support::bench::Ran::of(&output.unwrap())
    };
    review(&["--review-only"]).ends(2).with("RL0003");
    review(&["--base", "main", "--review-only"])
        .ends(0)
        .says("RUN_LOOP_BASE");
}

/// T-035: there is no implementation that could use a plan; it is said, and the review goes on.
#[test]
fn a_plan_file_beside_review_only_is_ignored_with_a_notice() {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench
        .run(&["--base", "main", "--review-only", "--plan-file", "none.md"])
        .ends(0)
        .says("--plan-file");
}

/// The quorum forgives missing verdicts, never a NOT PASS (V21).
#[test]
fn a_quorum_forgives_silence_and_nothing_else() {
    let (yes, no, nothing) = (
        ScriptedAgent::passing(),
        ScriptedAgent::not_passing("[]"),
        ScriptedAgent::silent(),
    );
    for (last, quorum, code) in [
        (&nothing, "2", 0),
        (&nothing, "all", 5),
        (&nothing, "3", 5),
        (&no, "2", 1),
    ] {
        let bench = Bench::new()
            .reviewer("ann", &yes)
            .reviewer("bob", &yes)
            .reviewer("cat", last)
            .config(&format!("review: {{quorum: {quorum}}}"))
            .ready();
        bench.review().ends(code);
        assert_eq!(bench.promoted().is_empty(), code != 0, "quorum {quorum}");
        assert_eq!(bench.gate().code == Some(0), code == 0, "quorum {quorum}");
    }
}

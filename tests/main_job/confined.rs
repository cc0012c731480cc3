//! Reviewers that the kernel confines (issue 6, 6): known programs, and others with `confine: true`.

use std::path::Path;
use std::process::{Command, Output};

use run_loop::process::confine::landlock_version;

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, until};
use crate::support::skipped;

/// Tries what it may not and what it must be able to, and approves when all is as it should be.
fn prober(bench: &Bench) -> ScriptedAgent {
    prober_and(bench, "")
}

/// The same, with more lines.
fn prober_and(bench: &Bench, more: &str) -> ScriptedAgent {
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
{more}
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

/// Keys stand in the environment of the engine and of agents that are given some: root may read all of them,
/// unless it is confined.
#[test]
fn a_confined_reviewer_reads_no_environment_of_others() {
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let bench = Bench::new();
    let agent = prober_and(
        &bench,
        r"others() { cat /proc/[0-9]*/environ 2> /dev/null | tr '\0' '\n' | grep -aq '^CANARY='; }
must read-its-own sh -c 'cat /proc/self/environ | grep -aq RUN_LOOP_JOB_ID'
may_not read-others others",
    );
    let bench = bench.reviewer_with("ann", &agent, "confine: true").ready();
    let mut sleeps = Command::new("sleep");
    let mut sleeps = sleeps.arg("600").env("CANARY", "x").spawn().unwrap();
    let mut run = bench.command(&["--base", "main", "--review-only"]);
    let ran = Ran::of(&run.env("CANARY", "x").output().unwrap());
    sleeps.kill().unwrap();
    sleeps.wait().unwrap();
    ran.ends(0);
}

/// Runs in a mount namespace of its own, in which a folder is also to be had at a second path.
fn with_a_second_path(folder: &Path, second: &Path, command: &Command) -> Output {
    let bind = r#"mount --bind "$1" "$2" && shift 2 && exec "$@""#;
    let mut unshared = Command::new("unshare");
    unshared
        .args(["--map-root-user", "--mount", "sh", "-c", bind, "sh"])
        .args([folder, second])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in command.get_envs() {
        unshared.env(name, value.unwrap());
    }
    unshared.output().unwrap()
}

/// Whether what is hidden can be given a second path here.
fn paths_can_be_hidden() -> bool {
    if landlock_version().is_none() {
        skipped("the kernel has no Landlock");
        return false;
    }
    let mut namespace = Command::new("unshare");
    namespace.args(["--map-root-user", "--mount", "true"]);
    let made = namespace.output().is_ok_and(|ran| ran.status.success());
    if !made {
        skipped("unshare makes no mount namespace here");
    }
    made
}

/// Reviews where a folder is also to be had at `second`; the reviewer may not list `hidden`.
fn review_with_a_second_path(
    first: Bench,
    (folder, second): (&Path, &Path),
    hidden: &Path,
    home: &Path,
) {
    let other = format!("may_not other-path ls '{}'", hidden.display());
    let prober = prober_and(&first, &other);
    let bench = first.reviewer_with("ann", &prober, "confine: true").ready();
    let mut review = bench.command(&["--base", "main", "--review-only"]);
    review.env("HOME", home);
    Ran::of(&with_a_second_path(folder, second, &review)).ends(0);
    assert_eq!(bench.sidecar("ann")["confinement"], "landlock");
}

/// A bind mount gives what is hidden a second path, by which the reviewer does not get there either.
#[test]
fn what_is_hidden_is_hidden_under_every_path() {
    if paths_can_be_hidden() {
        let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().unwrap());
        let elsewhere = elsewhere.path().canonicalize().unwrap();
        let (root, home) = (bench.repo.root().to_owned(), bench.repo.beside("home"));
        let hidden = elsewhere.join(".git/run-loop/locks");
        review_with_a_second_path(bench, (&root, &elsewhere), &hidden, &home);
    }
}

/// The engine itself names its cache by such a path: the reviewer does not get there by the first.
#[test]
fn what_is_hidden_at_a_second_path_is_hidden_at_the_first() {
    if paths_can_be_hidden() {
        let (bench, elsewhere) = (Bench::new(), tempfile::tempdir().unwrap());
        let elsewhere = elsewhere.path().canonicalize().unwrap();
        let home = bench.repo.beside("home");
        let hidden = home.join(".cache/run-loop/jobs");
        review_with_a_second_path(bench, (&home, &elsewhere), &hidden, &elsewhere);
    }
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

/// A profile of the user's own, whose program keeps what it knows in `~/.prober`.
const PROFILE: &str = "\
name: generic
title: Prober
family: null
programs: []
version: [--version]
tested: null
stream: text
confined: {writes: [~/.prober/, \"${PROBER_HOME:-~/.other}/\"]}
";

fn by_profile(bench: Bench, agent: &ScriptedAgent, keys: &str) -> Bench {
    let program = agent.install(&bench.repo.beside("agents"), "prober");
    let profiles = bench.repo.beside("home").join(".config/run-loop/profiles");
    std::fs::create_dir_all(&profiles).unwrap();
    std::fs::write(profiles.join("generic.yaml"), PROFILE).unwrap();
    let agent = format!(
        "agents: {{ann: {{profile: generic, command: [{}]{keys}}}}}\nroles: {{reviewers: [ann]}}",
        program.display()
    );
    bench.config(&agent).ready()
}

fn review_by_profile(keys: &str) -> (Bench, Ran) {
    let bench = Bench::new();
    let more = r#"must write-own write "$HOME/.prober/notes"
must write-own-too write "$HOME/.other/notes""#;
    let agent = prober_and(&bench, more);
    let bench = by_profile(bench, &agent, keys);
    let ran = bench.review();
    (bench, ran)
}

/// No key asks for it: where its profile says what it must write, it is confined.
#[test]
fn a_known_program_is_confined_and_writes_its_own_folder() {
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let (bench, ran) = review_by_profile("");
    ran.ends(0);
    assert_eq!(bench.sidecar("ann")["confinement"], "landlock");
    let home = bench.repo.beside("home");
    assert!(home.join(".prober/notes").exists());
    let told = bench.run(&["agents", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    let prober = told["agents"].as_array().unwrap().last().unwrap();
    assert_eq!(prober["name"], "generic");
    assert_eq!(prober["confinement"], "landlock");
    assert_eq!(prober["confined_writes"][0], "~/.prober/");
}

/// What its program keeps of its own leads into what it may not write, or holds it: it is not started,
/// and nothing is made there.
#[test]
fn a_program_that_keeps_its_own_in_the_source_is_refused() {
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let bench = by_profile(Bench::new(), &ScriptedAgent::passing(), "");
    let own = bench.repo.beside("home").join(".prober");
    let root = bench.repo.root();
    let cache = bench.repo.beside("home/.cache");
    for kept in [
        &root.join("src"),
        &root.join(".git/hooks"),
        &cache,
        root.parent().unwrap(),
    ] {
        std::os::unix::fs::symlink(kept, &own).unwrap();
        bench
            .review()
            .ends(2)
            .with("RL0021")
            .says("home/.prober/ (that is ");
        std::fs::remove_file(&own).unwrap();
    }
    let made = root.join("made/here");
    let output = bench
        .command(&["--base", "main", "--review-only"])
        .env("PROBER_HOME", &made)
        .output()
        .unwrap();
    Ran::of(&output).ends(2).with("RL0021").says("made/here");
    assert!(!made.exists());
    assert_eq!(bench.promoted(), Vec::<String>::new());
    bench.review().ends(0);
    assert_eq!(bench.sidecar("ann")["confinement"], "landlock");
}

#[test]
fn confine_false_lets_a_known_program_go() {
    let (bench, ran) = review_by_profile(", confine: false");
    ran.ends(1).with("RL0401").says("may-write-home");
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// The engine is stopped while the agent finishes and then killed: who takes the job over was not
/// there when it was started, and records what it ran with all the same.
#[test]
fn a_job_that_is_taken_over_says_what_confined_it() {
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let bench = Bench::new();
    let own = bench.repo.beside("home").join(".prober");
    std::fs::create_dir_all(&own).unwrap();
    let (started, go) = (Point::new(&own, "started"), Point::new(&own, "go"));
    let agent = ScriptedAgent::passing().after(&format!(
        "echo $$ > {}; read -r _ < {}",
        started.path().display(),
        go.path().display()
    ));
    let bench = by_profile(bench, &agent, "");
    let engine = Engine::start(&bench);
    started.reached();
    engine.signal("STOP");
    go.release();
    until("the guard has written the outcome", || {
        let left = bench.left_in_cache(&["jobs"]);
        left.iter().any(|path| path.ends_with("/outcome.json"))
    });
    engine.kill();
    bench.run(&["resume"]).ends(0);
    assert_eq!(bench.sidecar("ann")["attempt"], 1);
    assert_eq!(bench.sidecar("ann")["confinement"], "landlock");
}

//! `run-loop doctor`: what it finds, how it ends, and that it starts nobody unasked.

use run_loop::process::confine::landlock_version;
use serde_json::Value;

use crate::machine::{Ended, Machine};
use crate::support::agents::executable;

fn findings(ended: &Ended) -> Vec<Value> {
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    document["findings"].as_array().unwrap().clone()
}

#[track_caller]
fn about<'a>(findings: &'a [Value], about: &str) -> &'a Value {
    let found = findings.iter().find(|one| one["about"] == about);
    found.unwrap_or_else(|| panic!("nothing about {about}: {findings:?}"))
}

#[test]
fn a_fresh_repository_can_be_reviewed_and_nothing_is_left_behind() {
    let machine = Machine::new();
    let before = machine.everything();
    let ended = machine.run(&["doctor", "--format", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(machine.everything(), before);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["version"], 1);
    assert_eq!(document["ready"], true);
    let findings = findings(&ended);
    for name in ["git", "cache", "guard", "repository", "state"] {
        assert_ne!(about(&findings, name)["standing"], "problem", "{name}");
    }
    assert_eq!(about(&findings, "guard")["standing"], "ok");
    // Who is root reads what is hidden from others.
    let is_root = rustix::process::geteuid().is_root();
    let says_so = findings.iter().any(|one| one["about"] == "keys");
    assert_eq!(says_so, is_root, "{findings:?}");
    let panel = about(&findings, "reviewers");
    assert_eq!(panel["standing"], "warning", "{panel}");
    assert_eq!(panel["message"], "checks: nobody reads the change");
    for one in &findings {
        let names_a_command = one["next"]
            .as_array()
            .is_some_and(|words| !words.is_empty());
        assert_eq!(one["standing"] != "ok", names_a_command, "{one}");
    }
    // What a run left is tried for real.
    let run = machine.run(&["--base", "main", "--review-only"]);
    assert_eq!(run.code, 0, "{run:?}");
    let before = machine.everything();
    let ended = machine.run(&["doctor"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(machine.everything(), before);
    assert!(
        ended.stdout.contains("files, locks and journals work"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("no run goes on in this working tree"),
        "{}",
        ended.stdout
    );
}

#[test]
fn it_ends_as_a_run_would_that_meets_the_first_problem() {
    let told = |machine: &Machine, exit: i32, code: &str, text: &str| {
        let ended = machine.run(&["doctor"]);
        assert_eq!(ended.code, exit, "{ended:?}");
        assert!(
            ended
                .stderr
                .contains(&format!("error {code}: no review can run here")),
            "{ended:?}"
        );
        assert!(ended.stderr.contains("\nnext: "), "{ended:?}");
        assert!(ended.stdout.contains("problem"), "{ended:?}");
        assert!(ended.stdout.contains(text), "{ended:?}");
        assert!(
            ended.stdout.contains("git"),
            "the rest is told all the same: {ended:?}"
        );
    };
    let wrong = Machine::new();
    wrong
        .repo
        .write("run-loop.yaml", "version: 1\nreviewers: []\n");
    wrong.repo.commit("wrong");
    told(&wrong, 2, "RL0009", "reviewers");

    let missing = Machine::new();
    missing.repo.write(
        "run-loop.yaml",
        "version: 1\nagents:\n  bot: {kind: command, command: [no-such-bot]}\nroles: {reviewers: [bot]}\n",
    );
    missing.repo.commit("missing");
    told(&missing, 2, "RL0006", "no-such-bot");

    let busy = Machine::new();
    std::fs::write(busy.repo.root().join(".git/MERGE_HEAD"), "").unwrap();
    told(&busy, 3, "RL0107", "a merge is not finished");

    let taken = Machine::new();
    std::fs::write(taken.repo.root().join(".git/run-loop"), "").unwrap();
    told(&taken, 3, "RL0121", "run-loop");

    let blind = Machine::new().variable("PATH", "/nowhere");
    told(&blind, 3, "RL0119", "git");

    let nowhere = Machine::new();
    std::fs::create_dir_all(nowhere.home()).unwrap();
    let ended = nowhere.run_in(&nowhere.home(), &["doctor"]);
    assert_eq!(ended.code, 3, "{ended:?}");
    assert!(ended.stderr.contains("error RL0101"), "{ended:?}");
}

#[test]
fn a_working_copy_that_is_not_trusted_is_a_warning() {
    let machine = Machine::new();
    machine.repo.write("run-loop.yaml", "version: 1\n");
    let before = machine.run(&["doctor", "--format", "json"]);
    let before = findings(&before);
    assert_eq!(
        about(&before, "configuration")["next"][2],
        "trust",
        "{before:?}"
    );
    machine.run(&["config", "trust"]);
    let after = findings(&machine.run(&["doctor", "--format", "json"]));
    assert_eq!(
        about(&after, "configuration")["standing"],
        "ok",
        "{after:?}"
    );
}

/// A known program is told with its version, and what becomes of a key that is set (issue 6, 5).
#[test]
fn a_known_program_is_told_with_its_version_and_the_reach_of_its_key() {
    let machine = Machine::new();
    let bin = machine.repo.beside("bin");
    for folder in [&bin, &machine.home()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    executable(
        &bin,
        "codex",
        "#!/bin/sh\necho codex-cli 0.0.1\ntouch \"$0-asked-$1\"\n",
    );
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    executable(&bin, "aider", "#!/bin/sh\necho aider 0.0.1\n");
    let machine = machine
        .variable("PATH", &path)
        .variable("OPENAI_API_KEY", "sk-canary");
    let ended = machine.run(&["doctor", "--format", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(!ended.stdout.contains("sk-canary"));
    let findings = findings(&ended);
    let codex = about(&findings, "agent codex");
    assert_eq!(codex["standing"], "warning", "another version: {codex}");
    assert_eq!(codex["next"][1], "doctor", "{codex}");
    let key = about(&findings, "keys of codex");
    assert_eq!(
        key["message"],
        "OPENAI_API_KEY: the shell commands of its model see it, in a reviewer too"
    );
    let key = about(&findings, "keys of aider");
    assert_eq!(
        key["message"],
        "OPENAI_API_KEY: nobody has looked whether the shell commands of its model see it"
    );
    let asked: Vec<_> = std::fs::read_dir(&bin)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name.to_string_lossy().contains("asked"))
        .collect();
    assert_eq!(
        asked,
        ["codex-asked---version"],
        "it was asked for its version alone"
    );
}

#[test]
fn the_canary_proves_that_an_agent_answers_and_sees_its_tree() {
    let machine = Machine::new();
    let bin = machine.repo.beside("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let agents = [
        (
            "good",
            "touch \"$HOME/started\"; cat > /dev/null; cat \"$RUN_LOOP_JOB_TREE/canary.txt\"",
        ),
        ("vague", "cat > /dev/null; echo I am fine"),
        ("blind", "cat > /dev/null; echo no key >&2; exit 3"),
        ("echo", "cat"),
        // Confined as in a run: a canary that only who may not write at home reads.
        (
            "kept",
            "cat > /dev/null; (echo x > \"$HOME/kept\") 2> /dev/null && exit; cat \"$RUN_LOOP_JOB_TREE/canary.txt\"",
        ),
    ];
    let mut file = "version: 1\nagents:\n".to_owned();
    for (name, body) in agents {
        let path = executable(&bin, name, &format!("#!/bin/sh\n{body}\n"));
        let confine = name == "kept";
        let line = format!(
            "  {name}: {{kind: command, confine: {confine}, command: [{}]}}\n",
            path.display()
        );
        file += &line;
    }
    file += "roles: {reviewers: [good]}\n";
    let machine = machine.user_file(&file);
    let before = machine.everything();
    let ended = machine.run(&["doctor"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(machine.everything(), before, "nobody was started unasked");

    let ended = machine.run(&["doctor", "--agent", "good"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("this costs one call"), "{ended:?}");
    assert!(
        ended.stdout.contains("canary of good   answered in"),
        "{ended:?}"
    );
    if landlock_version().is_some() {
        let ended = machine.run(&["doctor", "--agent", "kept"]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    for (name, text) in [
        ("vague", "does not hold what stands in canary.txt"),
        ("blind", "it exited with 3: no key"),
        ("echo", "does not hold what stands in canary.txt"),
        ("checks", "is built in and has no model"),
        ("nobody", "no agent is named"),
    ] {
        let ended = machine.run(&["doctor", "--agent", name]);
        assert_eq!(ended.code, 2, "{name}: {ended:?}");
        assert!(ended.stderr.contains(text), "{name}: {ended:?}");
    }
}

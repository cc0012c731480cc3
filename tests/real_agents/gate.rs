//! `.ci/real-agents` itself, with programs that stand for what it calls: what is no failure, and what is.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::agents::executable;
use crate::support::crash::until;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// How the script ended with this output of the tests, and what it said.
struct Ended {
    code: Option<i32>,
    printed: String,
    said: String,
}

/// The script's text, with less time for the tests.
fn script() -> String {
    let text = std::fs::read_to_string(PathBuf::from(ROOT).join(".ci/real-agents")).unwrap();
    let short = text.replace("    run=300\n", "    run=1\n");
    assert_ne!(text, short);
    short
}

/// The tests that `--few` takes.
fn few() -> Vec<String> {
    let text = script();
    let words = |from: &str| {
        let (_, rest) = text.split_once(from).unwrap();
        let (words, _) = rest.split_once("; do").unwrap();
        words.split_whitespace().map(str::to_owned)
    };
    let cases = words("for case in ");
    let named = |case: String| words("for program in ").map(move |it| format!("{case}::{it}"));
    cases.flat_map(named).collect()
}

/// Runs the script with `--few` where `cargo test` does this with the folder of the run, `$RUN`.
fn gate(tests: &str) -> Ended {
    run(&["--few"], tests)
}

/// The same with any arguments.
fn run(line: &[&str], tests: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let output = prepared(folder.path(), line, tests).output().unwrap();
    Ended {
        code: output.status.code(),
        printed: String::from_utf8(output.stdout).unwrap(),
        said: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The script in this folder, with what it calls.
fn prepared(root: &Path, line: &[&str], tests: &str) -> Command {
    for name in [".ci", "bin", "tests/real_agents"] {
        std::fs::create_dir_all(root.join(name)).unwrap();
    }
    let program = |name: &str, text: &str| {
        let text = format!("#!/usr/bin/env bash\n{text}\n");
        executable(&root.join("bin"), name, &text);
    };
    program("npm", "mkdir -p \"$3/node_modules/.bin\"");
    program("ip", ":");
    program(
        "unshare",
        "while [[ ${1:-} == --* ]]; do shift; done; exec \"$@\"",
    );
    program(
        "cargo",
        &format!(
            "case \" $* \" in *' --no-run '*) exit 0 ;; esac\n\
             RUN=$RUN_LOOP_REAL_AGENTS_RUN\n{tests}"
        ),
    );
    program("mount", ":");
    let script = executable(&root.join(".ci"), "real-agents", &script());
    for list in ["package", "more"] {
        let list = format!("tests/real_agents/{list}.json");
        std::fs::write(root.join(&list), &list).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    let mut command = Command::new(script);
    command
        .args(line)
        .env_clear()
        .env("PATH", format!("{}:{path}", root.join("bin").display()))
        .env("RUN_LOOP_REAL_AGENTS", root.join("agents"));
    command
}

/// The next run waits for the script, and for nothing that outlives it.
#[test]
fn a_script_that_is_killed_leaves_its_folder_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let tests = "echo $$ > \"$RUN/pid\"; mv \"$RUN/pid\" \"$RUN/begun\"; exec sleep 600";
    let mut script = prepared(root, &["all"], tests);
    let mut script = script
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = root.join("agents/run/begun");
    until("its tests run", || begun.exists());
    let lock = || {
        let mut lock = Command::new("flock");
        lock.arg("--nonblock")
            .arg(root.join("agents/lock"))
            .arg("true");
        lock.status().unwrap().success()
    };
    assert!(!lock(), "nobody waits for a script that runs");
    script.kill().unwrap();
    script.wait().unwrap();
    let is_free = lock();
    let pid = std::fs::read_to_string(begun).unwrap();
    drop(Command::new("kill").arg(pid.trim()).status());
    assert!(is_free, "something that outlives it holds the lock");
}

/// Lines of results.
fn results(failed: &[&str]) -> String {
    let line = |name: String| {
        let is_failed = failed.contains(&name.as_str());
        format!(
            "echo 'test {name} ... {}'\n",
            if is_failed { "FAILED" } else { "ok" }
        )
    };
    few().into_iter().map(line).collect()
}

/// A test that was renamed is missed here, where no program is.
#[test]
fn each_test_that_few_takes_is_there() {
    let list = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    for name in few() {
        let is_there = list.lines().any(|line| line == format!("{name}: test"));
        assert!(is_there, "{name} is no test");
    }
}

/// Each has to run, and programs to be driven.
#[test]
fn what_did_not_run_is_a_failure() {
    let passed = "echo '{}' > \"$RUN/passed\"";
    assert_eq!(gate(&format!("{}{passed}", results(&[]))).code, Some(0));
    let ended = gate(&results(&[]));
    assert!(ended.code == Some(1) && ended.said.contains("drove a program"));
    for name in few() {
        let all = results(&[]);
        let renamed = all.replace(&format!("{name} ..."), &format!("{name}_too ..."));
        let ended = gate(&format!("{renamed}{passed}"));
        assert!(
            ended.code == Some(1) && ended.said.contains(&name),
            "{name}"
        );
    }
}

/// Too slow is a test that says so of itself, with all others at their end, or a run whose time is up.
#[test]
fn slowness_is_no_excuse_for_anything_else() {
    let (one, other) = ("review::passes::codex", "review::passes::claude");
    let slow = format!("echo {one} > \"$RUN/slow\"\n");
    let end = "echo 'test result: FAILED. 17 passed; 1 failed'; exit 101";
    let one_failed = results(&[one]);
    for (tests, code) in [
        (format!("{slow}{one_failed}{end}"), 0),
        (format!("{one_failed}{end}"), 101),
        (format!("{slow}{}{end}", results(&[one, other])), 101),
        (
            format!("{slow}echo {other} > \"$RUN/wrong\"\n{one_failed}{end}"),
            101,
        ),
        // It took the others with it.
        (format!("{slow}{one_failed}exit 101"), 101),
        ("exit 124".to_owned(), 124),
        ("kill -KILL $$".to_owned(), 137),
        ("exec sleep 60".to_owned(), 0),
        (format!("echo {other} > \"$RUN/wrong\"\nexec sleep 60"), 124),
    ] {
        let ended = gate(&tests);
        assert_eq!(ended.code, Some(code), "{tests}: {}", ended.said);
        let is_told = ended.said.contains("WERE NOT RUN");
        assert_eq!(is_told, code == 0, "{tests}: {}", ended.said);
    }
}

/// The second list is installed and driven with `--more` alone, and what is asked for is driven.
#[test]
fn each_list_has_its_own_tests() {
    let tests = "echo \"from $(cat \"$RUN_LOOP_REAL_AGENTS/installed.json\"): $*\"\n\
                 echo 'test a::passes::more::qwen ... ok'\n\
                 echo '{}' > \"$RUN/passed\"";
    for (line, list, asked) in [
        (&[][..], "package", "--skip ::more::"),
        (&["passes"], "package", "passes --skip ::more::"),
        (&["--more"], "more", "::more::"),
        (&["--more", "passes"], "more", "passes"),
    ] {
        let ended = run(line, tests);
        assert_eq!(ended.code, Some(0), "{line:?}: {}", ended.said);
        let from = format!("from tests/real_agents/{list}.json: ");
        let called = ended.printed.lines().find(|line| line.starts_with(&from));
        let arguments = called.and_then(|line| line.split_once("--test-threads="));
        let arguments = arguments.and_then(|(_, rest)| rest.split_once(' '));
        assert_eq!(arguments.unwrap().1, asked, "{line:?}");
    }
    // Others that passed are no excuse.
    let ended = run(&["--more"], &tests.replace("::more::", "::less::"));
    assert!(ended.code == Some(1) && ended.said.contains("::more::"));
}

//! The README shows real output: its two blocks are parts of what `run-loop demo` prints, ids,
//! object ids and times aside. `RUN_LOOP_BLESS=1` writes them anew.

use std::process::Command;

/// What the demo prints, without the heads of its chapters.
fn demo() -> String {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_run-loop"))
        .arg("demo")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", home.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the demo ends 0\n{text}\n{errors}");
    text
}

/// One chapter's command with its output, without the exit line.
fn chapter(demo: &str, number: usize) -> String {
    let start = demo.find(&format!("\n## {number}. ")).unwrap();
    let text = &demo[start..];
    let from = text.find("$ run-loop").unwrap();
    let until = text.find("\n(exit ").unwrap();
    text[from..until].to_owned()
}

/// Hexadecimal runs, digits and times are not the point of an example.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for line in text.lines() {
        for word in line.split_inclusive([' ', '/', '.', ':', ',']) {
            let core = word.trim_end_matches([' ', '/', '.', ':', ',']);
            let varies = core.chars().any(|c| c.is_ascii_digit())
                && core
                    .chars()
                    .all(|c| c.is_ascii_hexdigit() || "-TZs()".contains(c));
            plain.push_str(if varies { "#" } else { core });
            plain.push_str(&word[core.len()..]);
        }
        plain.push('\n');
    }
    plain
}

#[test]
fn the_readme_shows_what_the_demo_prints() {
    let mut readme = std::fs::read_to_string("README.md").unwrap();
    let demo = demo();
    for (nth, number) in [(0, 1), (1, 3)] {
        let real = chapter(&demo, number);
        let (start, _) = readme.match_indices("```text\n").nth(nth).unwrap();
        let start = start + "```text\n".len();
        let end = start + readme[start..].find("\n```").unwrap();
        if std::env::var_os("RUN_LOOP_BLESS").is_some() {
            readme.replace_range(start..end, &real);
            std::fs::write("README.md", &readme).unwrap();
        } else {
            assert_eq!(
                plain(&readme[start..end]),
                plain(&real),
                "run with RUN_LOOP_BLESS=1"
            );
        }
    }
}

/// M-013: that a pipeline hides the exit code is said wherever somebody looks who writes one.
#[test]
fn pipelines_are_warned_of() {
    for page in [
        "README.md",
        "docs/reference/exit-codes.md",
        "skills/run-loop/SKILL.md",
    ] {
        let text = std::fs::read_to_string(page).unwrap();
        assert!(text.contains("pipeline"), "{page}");
    }
}

/// The README names exactly two commands to set everything up, and the second passes the tests.
#[test]
fn two_commands_set_everything_up() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let block = readme
        .split("```console\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let commands: Vec<&str> = block
        .lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .collect();
    assert_eq!(commands, ["cargo run --quiet -- demo", "cargo test"]);
    let gate = std::fs::read_to_string(".ci/run").unwrap();
    assert!(
        gate.contains("cargo test"),
        "the gate uses the README's test command"
    );
}

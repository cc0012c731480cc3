//! `docs/command-agents.md`: its example works as it stands there, and it names every variable.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::agents::executable;
use crate::support::bench::Bench;

const PAGE: &str = include_str!("../../docs/command-agents.md");

#[test]
fn the_example_of_a_command_agent_reviews() {
    let (_, script) = PAGE.split_once("```bash\n").unwrap();
    // The script prints fences of its own, within a line.
    let (script, _) = script.split_once("\n```\n").unwrap();
    let bench = Bench::new();
    let bot = executable(
        &bench.repo.beside("agents"),
        "fixme-bot",
        &format!("{script}\n"),
    );
    let bench = bench
        .config(&format!(
            "agents: {{bot: {{kind: command, command: [{}]}}}}\nroles: {{reviewers: [bot]}}",
            bot.display()
        ))
        .ready();
    bench.review().ends(0).says("round 1 bot: PASS");
    bench.gate().ends(0);
    bench.repo.write("src/\"odd\" name.rs", "// FIXME: later\n");
    bench.repo.commit("odd");
    bench
        .review()
        .ends(1)
        .with("RL0401")
        .says("a FIXME is added");
}

#[test]
fn every_variable_of_a_job_is_documented() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for piece in text.split("\"RUN_LOOP_JOB_").skip(1) {
                let name = piece.split('"').next().unwrap();
                // Not what a message says of one.
                if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
                    names.insert(format!("RUN_LOOP_JOB_{name}"));
                }
            }
        }
    }
    assert!(names.len() >= 9, "{names:?}");
    let unnamed: Vec<_> = names
        .iter()
        .filter(|name| !PAGE.contains(&format!("| `{name}` |")))
        .collect();
    assert_eq!(unnamed, Vec::<&String>::new());
}

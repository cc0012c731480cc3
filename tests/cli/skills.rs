//! Skills: what they are, and that installing them overwrites nobody's.

use std::path::Path;

use crate::machine::Machine;

const NAMES: [&str; 5] = ["arbiter", "creator", "planner", "reviewer", "run-loop"];
const PLACES: [&str; 2] = [".claude/skills", ".agents/skills"];

fn shipped(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("skills/{name}/SKILL.md"));
    std::fs::read_to_string(path).unwrap()
}

/// Every file below a folder, relative to it, sorted.
fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for place in PLACES {
        for name in NAMES {
            let path = format!("{place}/{name}/SKILL.md");
            if root.join(&path).exists() {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn every_skill_says_when_it_is_for_and_how_to_answer() {
    for name in NAMES {
        let text = shipped(name);
        let head = format!("---\nname: {name}\ndescription: ");
        assert!(text.starts_with(&head), "{name}");
        let description = text[head.len()..].lines().next().unwrap();
        assert!(description.contains("Use when") || description.contains("Use before"));
        assert!(description.len() <= 1024, "{name}");
        assert!(text.lines().count() < 150, "{name} is read at every start");
    }
    for (name, tags) in [
        ("creator", &["run-loop-challenge", "run-loop-answers"][..]),
        ("reviewer", &["run-loop-verdict", "run-loop-rulings"]),
        ("arbiter", &["run-loop-rulings"]),
        ("planner", &["## Acceptance"]),
    ] {
        let text = shipped(name);
        for tag in tags {
            assert!(text.contains(tag), "{name}: {tag}");
        }
    }
}

#[test]
fn skills_are_installed_where_agents_look_and_again_without_a_change() {
    let machine = Machine::new();
    let first = machine.run(&["skills", "install"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout.matches("written").count(), 10);
    let root = machine.repo.root();
    assert_eq!(files(root).len(), 10);
    for path in files(root) {
        let name = path.split('/').nth(2).unwrap();
        assert_eq!(
            std::fs::read_to_string(root.join(&path)).unwrap(),
            shipped(name)
        );
    }
    let again = machine.run(&["skills", "install", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    let told = told["files"].as_array().unwrap();
    assert_eq!(told.len(), 10);
    assert!(told.iter().all(|file| file["fate"] == "unchanged"));
}

#[test]
fn somebody_elses_skill_is_kept_and_nothing_is_written_beside_it() {
    let machine = Machine::new();
    let theirs = ".agents/skills/reviewer/SKILL.md";
    machine.repo.write(theirs, "My own reviewer.\n");
    let next = machine.refuses(&["skills", "install"], 3, "RL0131", theirs);
    assert_eq!(next, "run-loop skills install --force");
    assert_eq!(files(machine.repo.root()), [theirs]);
    let forced = machine.run(&["skills", "install", "--force"]);
    assert_eq!(forced.code, 0, "{}", forced.stderr);
    assert_eq!(forced.stdout.matches("replaced").count(), 1);
    assert_eq!(files(machine.repo.root()).len(), 10);
}

#[test]
fn nothing_is_written_through_a_link() {
    let machine = Machine::new();
    let outside = machine.repo.beside("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, machine.repo.root().join(".agents")).unwrap();
    for force in [&[][..], &["--force"]] {
        let args = [&["skills", "install"], force].concat();
        machine.refuses(&args, 3, "RL0131", ".agents");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert!(files(machine.repo.root()).is_empty());
}

#[test]
fn for_the_user_they_go_below_the_home_folder() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.home()).unwrap();
    let ended = machine.run(&["skills", "install", "--user"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(files(&machine.home()).len(), 10);
    assert!(files(machine.repo.root()).is_empty());
    machine.refuses(
        &["skills", "install", "--user", "--worktree", "."],
        2,
        "RL0004",
        "--worktree",
    );
}

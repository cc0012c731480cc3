//! What a `package.json` defines.

use serde_json::Value;

use super::project::{Check, Project};

/// Scripts that people write for what must pass.
const WANTED: [&str; 6] = ["check", "test", "lint", "typecheck", "type-check", "build"];
/// What `npm init` writes for a project without tests.
const NO_TESTS: &str = "no test specified";

/// A program that installs what a package needs.
struct Manager {
    /// What shows that the package is its.
    lock: &'static str,
    name: &'static str,
    install: &'static str,
    /// Whether what it installed can be used again.
    keeps: bool,
}

const MANAGERS: [Manager; 6] = [
    Manager {
        lock: "pnpm-lock.yaml",
        name: "pnpm",
        install: "pnpm install --frozen-lockfile",
        keeps: true,
    },
    Manager {
        lock: "bun.lock",
        name: "bun",
        install: "bun install --frozen-lockfile",
        keeps: true,
    },
    Manager {
        lock: "bun.lockb",
        name: "bun",
        install: "bun install --frozen-lockfile",
        keeps: true,
    },
    Manager {
        lock: "yarn.lock",
        name: "yarn",
        install: "yarn install --frozen-lockfile",
        keeps: true,
    },
    Manager {
        lock: "package-lock.json",
        name: "npm",
        install: "npm ci",
        keeps: false,
    },
    Manager {
        lock: "npm-shrinkwrap.json",
        name: "npm",
        install: "npm ci",
        keeps: false,
    },
];

/// Takes the scripts of a package, and what must be installed before.
pub(super) fn read(text: &str, has: impl Fn(&str) -> bool, project: &mut Project) {
    let Ok(Value::Object(package)) = serde_json::from_str(text) else {
        project
            .notes
            .push("package.json is no JSON object: nothing is taken from it".to_owned());
        return;
    };
    project.kinds.push("package.json");
    let manager = MANAGERS.iter().find(|manager| has(manager.lock));
    let name = manager.map_or("npm", |manager| manager.name);
    let script = |name: &str| {
        let script = package.get("scripts")?.get(name)?.as_str()?;
        (!script.trim().is_empty() && !script.contains(NO_TESTS)).then_some(name.to_owned())
    };
    let found: Vec<String> = WANTED.into_iter().filter_map(script).collect();
    if found.is_empty() {
        return;
    }
    for script in found {
        let run = format!("{name} run {script}");
        project
            .checks
            .push(Check::new(format!("{name}-{script}"), run));
    }
    if let Some(manager) = manager {
        // A newer yarn has another word for it.
        let install = if manager.name == "yarn" && has(".yarnrc.yml") {
            "yarn install --immutable"
        } else {
            manager.install
        };
        project.setup.push(install);
        if manager.keeps {
            project.cache.push("node_modules");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(text: &str, files: &[&str]) -> Project {
        let mut project = Project::default();
        read(text, |name| files.contains(&name), &mut project);
        project
    }

    #[test]
    fn scripts_are_taken_by_name_and_never_made_up() {
        let text = r#"{"scripts": {"test": "vitest", "lint": "eslint .", "deploy": "rm -rf /"}}"#;
        let found = project(text, &["pnpm-lock.yaml"]);
        let runs: Vec<&str> = found
            .checks
            .iter()
            .map(|check| check.run.as_str())
            .collect();
        assert_eq!(runs, ["pnpm run test", "pnpm run lint"]);
        assert_eq!(found.setup, ["pnpm install --frozen-lockfile"]);
        assert_eq!(found.cache, ["node_modules"]);
        let npm = project(text, &["package-lock.json"]);
        assert_eq!(npm.setup, ["npm ci"]);
        assert_eq!(npm.cache, [""; 0], "`npm ci` throws away what is there");
    }

    #[test]
    fn a_package_without_tests_has_none() {
        let none = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        for text in [
            none,
            "{}",
            r#"{"scripts": {"test": 1}}"#,
            r#"{"scripts": []}"#,
        ] {
            let found = project(text, &["package-lock.json"]);
            assert_eq!(found.checks, [], "{text}");
            assert_eq!(found.setup, [""; 0], "nothing needs it: {text}");
        }
        assert_eq!(project("[]", &[]).notes.len(), 1);
        assert_eq!(project("{", &[]).notes.len(), 1);
    }
}

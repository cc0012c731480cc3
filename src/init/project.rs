//! What a repository is, as far as its files at the root say.

use std::io;
use std::path::Path;

use crate::init::{javascript, python, targets};
use crate::store::Folder;

/// No such file is larger.
const CAP: u64 = 1024 * 1024;

/// A command of the project's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name among the checks.
    pub name: String,
    /// The command line.
    pub run: String,
}

impl Check {
    /// A command with its name.
    pub(super) fn new(name: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            run: run.into(),
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Project {
    /// The files that say what it is.
    pub kinds: Vec<&'static str>,
    /// Commands that must pass.
    pub checks: Vec<Check>,
    /// Commands before them.
    pub setup: Vec<&'static str>,
    /// Folders that they may use again.
    pub cache: Vec<&'static str>,
    /// What was passed over, and why.
    pub notes: Vec<String>,
}

impl Project {
    /// Reads the files at a root. What is no plain file is passed over, and told.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let mut project = Self::default();
        let folder = match Folder::open(root) {
            Ok(folder) => folder,
            Err(error) => {
                project.notes.push(error.to_string());
                return project;
            }
        };
        let mut notes = Vec::new();
        let mut text = |name: &str| match folder.read(name, CAP) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                notes.push(format!("{name} is passed over: {error}"));
                None
            }
        };
        let has = |name: &str| folder.open_file(name).is_ok();
        if let Some(rules) = ["Makefile", "makefile", "GNUmakefile"]
            .into_iter()
            .find_map(&mut text)
        {
            project.of_targets("Makefile", "make", &rules);
        }
        if let Some(recipes) = ["justfile", "Justfile", ".justfile"]
            .into_iter()
            .find_map(&mut text)
        {
            project.of_targets("justfile", "just", &recipes);
        }
        if let Some(cargo) = text("Cargo.toml") {
            project.of_cargo(&cargo, has("Cargo.lock"));
        }
        if let Some(package) = text("package.json") {
            javascript::read(&package, has, &mut project);
        }
        python::read(text("pyproject.toml").as_deref(), has, &mut project);
        if text("go.mod").is_some() {
            project.kinds.push("go.mod");
            project.checks.push(Check::new("go-test", "go test ./..."));
            project.checks.push(Check::new("go-vet", "go vet ./..."));
        }
        project.notes.extend(notes);
        project
    }

    fn of_targets(&mut self, kind: &'static str, program: &str, text: &str) {
        let found = targets::defined(text);
        if !found.is_empty() {
            self.kinds.push(kind);
        }
        for name in found {
            let run = format!("{program} {name}");
            self.checks
                .push(Check::new(format!("{program}-{name}"), run));
        }
    }

    fn of_cargo(&mut self, text: &str, locked: bool) {
        self.kinds.push("Cargo.toml");
        let workspace = text
            .lines()
            .any(|line| line.trim_start().starts_with("[workspace"));
        let mut run = "cargo test".to_owned();
        if workspace {
            run.push_str(" --workspace");
        }
        if locked {
            run.push_str(" --locked");
        }
        self.checks.push(Check::new("cargo-test", run));
        self.cache.push("target");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(files: &[(&str, &str)]) -> Project {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs_err::write(root.path().join(name), text).unwrap();
        }
        Project::read(root.path())
    }

    fn runs(project: &Project) -> Vec<&str> {
        project
            .checks
            .iter()
            .map(|check| check.run.as_str())
            .collect()
    }

    #[test]
    fn an_empty_repository_defines_nothing() {
        assert_eq!(at(&[]), Project::default());
        assert_eq!(at(&[("README.md", "# make test\n")]), Project::default());
    }

    #[test]
    fn every_kind_gives_what_it_defines() {
        let project = at(&[
            ("Cargo.toml", "[workspace]\nmembers = []\n"),
            ("Cargo.lock", ""),
            ("Makefile", "test:\n\ttrue\n"),
            ("go.mod", "module x\n"),
            ("package.json", r#"{"scripts": {"lint": "eslint ."}}"#),
            ("pyproject.toml", "[tool.ruff]\n"),
        ]);
        assert_eq!(
            runs(&project),
            [
                "make test",
                "cargo test --workspace --locked",
                "npm run lint",
                "ruff check .",
                "go test ./...",
                "go vet ./..."
            ]
        );
        assert_eq!(project.cache, ["target"]);
        let names: std::collections::BTreeSet<_> =
            project.checks.iter().map(|check| &check.name).collect();
        assert_eq!(
            names.len(),
            project.checks.len(),
            "each has a name of its own"
        );
    }

    #[test]
    fn what_is_no_plain_file_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/hostname", root.path().join("Cargo.toml")).unwrap();
        fs_err::create_dir(root.path().join("Makefile")).unwrap();
        let project = Project::read(root.path());
        assert_eq!(project.checks, []);
        assert_eq!(project.notes.len(), 2, "{:?}", project.notes);
    }
}

//! What a Python project defines.

use super::project::{Check, Project};

/// Tools whose table in `pyproject.toml` says that the project uses them.
const TOOLS: [(&str, &str, &str); 2] = [
    ("tool.pytest.ini_options", "pytest", "python3 -m pytest"),
    ("tool.ruff", "ruff", "ruff check ."),
];

/// Takes the tools that `pyproject.toml` and their own files name.
pub(super) fn read(pyproject: Option<&str>, has: impl Fn(&str) -> bool, project: &mut Project) {
    let text = pyproject.unwrap_or_default();
    if pyproject.is_some() {
        project.kinds.push("pyproject.toml");
    }
    let runner = if has("uv.lock") {
        "uv run "
    } else if has("poetry.lock") {
        "poetry run "
    } else {
        ""
    };
    for (table, name, run) in TOOLS {
        let own_file = match name {
            "pytest" => has("pytest.ini"),
            _ => has("ruff.toml"),
        };
        if has_table(text, table) || own_file {
            // Another runner brings an interpreter of its own.
            let run = match runner {
                "" => run.to_owned(),
                _ => format!("{runner}{}", run.trim_start_matches("python3 -m ")),
            };
            project.checks.push(Check::new(name, run));
        }
    }
    if has("tox.ini") || has_table(text, "tool.tox") {
        project.checks.push(Check::new("tox", "tox"));
    }
}

/// Whether the text has this table, or one below it.
fn has_table(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let inner = line.trim_start_matches('[').split(']').next();
        line.starts_with('[')
            && inner.is_some_and(|inner| {
                inner.trim() == name || inner.trim().starts_with(&format!("{name}."))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str, files: &[&str]) -> Vec<String> {
        let mut project = Project::default();
        read(Some(text), |name| files.contains(&name), &mut project);
        project.checks.into_iter().map(|check| check.run).collect()
    }

    #[test]
    fn tools_count_that_the_project_configures() {
        let text = "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n[tool.ruff.lint]\n";
        assert_eq!(runs(text, &[]), ["python3 -m pytest", "ruff check ."]);
        assert_eq!(
            runs(text, &["uv.lock"]),
            ["uv run pytest", "uv run ruff check ."]
        );
        assert_eq!(
            runs("[project]\n# [tool.ruff]\n[tool.ruffian]\n", &[]),
            [""; 0]
        );
        assert_eq!(
            runs("", &["tox.ini", "pytest.ini"]),
            ["python3 -m pytest", "tox"]
        );
    }
}

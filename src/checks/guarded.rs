//! Changed files that decide what agents do, or what is checked.

use crate::checks::finding::{Findings, Found};
use crate::checks::rule;
use crate::domain::control_files;
use crate::domain::evidence::{ChangedFile, Evidence};
use crate::domain::path::RepoPath;
use crate::domain::run_spec::CheckSpec;

/// Files that define checks by themselves, in lower case: whole paths.
const FILES: &[&str] = &[
    "run-loop.yaml",
    ".gitlab-ci.yml",
    ".travis.yml",
    ".circleci/config.yml",
    ".buildkite/pipeline.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".woodpecker.yml",
    "jenkinsfile",
];
/// Folders that define checks, in lower case.
const FOLDERS: &[&str] = &[
    ".ci/",
    ".github/workflows/",
    ".github/actions/",
    ".forgejo/workflows/",
    ".gitea/workflows/",
    ".woodpecker/",
    ".gitlab/ci/",
];
/// Programs whose steps stand in a file of these names, in lower case.
const STEPS: &[(&str, &[&str])] = &[
    ("make", &["makefile", "gnumakefile"]),
    ("gmake", &["makefile", "gnumakefile"]),
    ("just", &["justfile", ".justfile"]),
    ("task", &["taskfile.yml", "taskfile.yaml"]),
    ("npm", &["package.json"]),
    ("pnpm", &["package.json"]),
    ("yarn", &["package.json"]),
    ("bun", &["package.json"]),
    ("tox", &["tox.ini"]),
    ("nox", &["noxfile.py"]),
    ("rake", &["rakefile"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("cargo", &[".cargo/config.toml", ".cargo/config"]),
];

/// Words that run what the next word names.
const LEADING: &[&str] = &[
    "bash", "sh", "dash", "zsh", "python", "node", "ruby", "perl", "php", "deno", "env", "exec",
    "time", "nice", "command", "source", "then", "do", "else", "if", "while", "!", "sudo",
];

/// Reports every changed file that instructs agents or defines checks.
pub(crate) fn examine(
    evidence: &Evidence,
    checks: &[CheckSpec],
    setup: &[String],
    findings: &mut Findings,
) {
    let programs = programs(checks, setup);
    for file in &evidence.files {
        for path in std::iter::once(&file.path).chain(&file.old_path) {
            let rule = if control_files::is_control_file(path.as_bytes()) {
                rule::CONTROL_FILE
            } else if defines_checks(path, &programs) {
                rule::CHECK_FILE
            } else if holds_steps(path, &programs) {
                rule::CHECK_SCRIPTS
            } else {
                continue;
            };
            findings.push(Found {
                lines: first_line(file),
                ..Found::file(rule, path, what_happened(file, path))
            });
        }
    }
}

/// What the configured commands run: the first word of each simple command, and the script that an
/// interpreter is given; without quotes and a leading `./`, in lower case.
fn programs(checks: &[CheckSpec], setup: &[String]) -> Vec<String> {
    let commands = checks
        .iter()
        .map(|check| check.run.as_str())
        .chain(setup.iter().map(String::as_str));
    let mut programs = Vec::new();
    for simple in commands.flat_map(|command| command.split(|c| ";|&()\n".contains(c))) {
        let words = simple
            .split_whitespace()
            .map(|word| word.trim_matches(['"', '\'', '`']));
        for word in words {
            if word.starts_with('-') || word.contains('=') {
                continue;
            }
            let word = word.trim_start_matches("./").to_ascii_lowercase();
            let name = word.rsplit('/').next().unwrap_or(&word);
            let goes_on =
                LEADING.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'));
            programs.push(word);
            if !goes_on {
                break;
            }
        }
    }
    programs
}

fn defines_checks(path: &RepoPath, programs: &[String]) -> bool {
    let path = String::from_utf8_lossy(path.as_bytes()).to_ascii_lowercase();
    FILES.contains(&path.as_str())
        || FOLDERS.iter().any(|folder| path.starts_with(folder))
        || programs.contains(&path)
}

fn holds_steps(path: &RepoPath, programs: &[String]) -> bool {
    let path = String::from_utf8_lossy(path.as_bytes()).to_ascii_lowercase();
    let named = |file: &&str| path == **file || path.ends_with(&format!("/{file}"));
    STEPS
        .iter()
        .filter(|(program, _)| programs.iter().any(|word| word == program))
        .any(|(_, files)| files.iter().any(named))
}

/// Where a reader begins; a whole new file begins at its first line.
fn first_line(file: &ChangedFile) -> Option<(u32, u32)> {
    file.changed_lines.first().copied()
}

fn what_happened(file: &ChangedFile, path: &RepoPath) -> &'static str {
    use crate::domain::evidence::FileStatus;
    if file.old_path.as_ref() == Some(path) {
        return "moved away";
    }
    match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "edited",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "moved here",
        FileStatus::ModeChanged => "its mode changed",
        FileStatus::TypeChanged => "became another kind of thing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_what_the_commands_run() {
        let run = |command: &str| programs(&[], &[command.to_owned()]);
        assert_eq!(run("grep -q x src/lib.rs"), ["grep"]);
        assert_eq!(
            run("./scripts/Test.sh --all && make test"),
            ["scripts/test.sh", "make"]
        );
        assert_eq!(
            run("CI=1 bash -eu scripts/a.sh src/b"),
            ["bash", "scripts/a.sh"]
        );
        assert_eq!(
            run("env A=b python3 tools/x.py"),
            ["env", "python3", "tools/x.py"]
        );
        assert_eq!(run("(cd web; npm test) | tee log"), ["cd", "npm", "tee"]);
    }
}

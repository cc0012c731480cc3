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

/// Reports every changed file that instructs agents or defines checks.
pub(crate) fn examine(
    evidence: &Evidence,
    checks: &[CheckSpec],
    setup: &[String],
    findings: &mut Findings,
) {
    let words = words(checks, setup);
    for file in &evidence.files {
        for path in std::iter::once(&file.path).chain(&file.old_path) {
            let rule = if control_files::is_control_file(path.as_bytes()) {
                rule::CONTROL_FILE
            } else if defines_checks(path, &words) {
                rule::CHECK_FILE
            } else if holds_steps(path, &words) {
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

/// The words of the configured commands, without quotes and a leading `./`, in lower case.
fn words(checks: &[CheckSpec], setup: &[String]) -> Vec<String> {
    let separators = |c: char| c.is_whitespace() || ";|&()<>\"'`=".contains(c);
    checks
        .iter()
        .map(|check| check.run.as_str())
        .chain(setup.iter().map(String::as_str))
        .flat_map(|command| command.split(separators))
        .map(|word| word.trim_start_matches("./").to_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

fn defines_checks(path: &RepoPath, words: &[String]) -> bool {
    let path = String::from_utf8_lossy(path.as_bytes()).to_ascii_lowercase();
    FILES.contains(&path.as_str())
        || FOLDERS.iter().any(|folder| path.starts_with(folder))
        || words.contains(&path)
}

fn holds_steps(path: &RepoPath, words: &[String]) -> bool {
    let path = String::from_utf8_lossy(path.as_bytes()).to_ascii_lowercase();
    let named = |file: &&str| path == **file || path.ends_with(&format!("/{file}"));
    STEPS
        .iter()
        .filter(|(program, _)| words.iter().any(|word| word == program))
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

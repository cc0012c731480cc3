//! A whole bench for the built program: a repository, a home, agents, and the program itself.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use super::agents::ScriptedAgent;
use super::repo::{Repo, git_program};

/// A repository with `main` and a checked-out `feature` that changes one file, and a home.
pub struct Bench {
    pub repo: Repo,
    /// Reviewers named in the configuration at the base, in order.
    agents: Vec<(String, String)>,
    /// Agents that are defined and not named: fallbacks.
    spare: Vec<(String, String)>,
    extra: String,
}

/// How the program ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self::around(Repo::new())
    }
    pub fn around(repo: Repo) -> Self {
        for folder in ["home", "agents", "tmp"] {
            std::fs::create_dir_all(repo.beside(folder)).unwrap();
        }
        Self {
            repo,
            agents: Vec::new(),
            spare: Vec::new(),
            extra: String::new(),
        }
    }
    /// Adds a reviewer of kind `command`.
    #[must_use]
    pub fn reviewer(self, name: &str, agent: &ScriptedAgent) -> Self {
        self.reviewer_with(name, agent, "")
    }
    /// Adds a reviewer with more keys of its definition (`report: file`).
    #[must_use]
    pub fn reviewer_with(mut self, name: &str, agent: &ScriptedAgent, keys: &str) -> Self {
        let definition = self.definition(name, agent, keys);
        self.agents.push((name.to_owned(), definition));
        self
    }
    /// Defines an agent that the panel does not name by itself: a fallback, or one of an entry
    /// of [`Self::also`].
    #[must_use]
    pub fn spare(mut self, name: &str, agent: &ScriptedAgent, keys: &str) -> Self {
        let definition = self.definition(name, agent, keys);
        self.spare.push((name.to_owned(), definition));
        self
    }
    /// Defines an agent as one that is defined.
    #[must_use]
    pub fn named_also(mut self, name: &str, other: &str) -> Self {
        let mut defined = self.spare.iter().filter(|(known, _)| known == name);
        let (_, definition) = defined.next().unwrap().clone();
        self.spare.push((other.to_owned(), definition));
        self
    }
    /// Defines an agent of a profile whose program this script plays.
    #[must_use]
    pub fn known(mut self, name: &str, profile: &str, agent: &ScriptedAgent) -> Self {
        let program = agent.install(&self.repo.beside("agents"), name);
        let definition = format!("{{profile: {profile}, command: [{}]}}", program.display());
        self.spare.push((name.to_owned(), definition));
        self
    }
    fn definition(&self, name: &str, agent: &ScriptedAgent, keys: &str) -> String {
        let program = agent.install(&self.repo.beside("agents"), name);
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(", {keys}")
        };
        format!("{{kind: command, command: [{}]{keys}}}", program.display())
    }
    /// Adds a panel entry that is no agent of ours (`checks`, `{agent: a, fallback: [b]}`).
    #[must_use]
    pub fn also(mut self, entry: &str) -> Self {
        self.agents.push((entry.to_owned(), String::new()));
        self
    }
    /// Adds top-level lines to the configuration at the base.
    #[must_use]
    pub fn config(mut self, lines: &str) -> Self {
        self.extra.push_str(lines);
        self.extra.push('\n');
        self
    }
    /// Commits the configuration on `main` and makes `feature` with one changed file.
    #[must_use]
    pub fn ready(self) -> Self {
        self.write_config();
        self.repo.commit("configuration");
        self.repo.git(&["switch", "-q", "-c", "feature"]);
        self.repo.write(
            "src/lib.rs",
            "pub fn one() -> u32 {\n    1\n}\n\npub fn two() -> u32 {\n    2\n}\n",
        );
        self.repo.commit("two");
        self
    }
    /// Writes `run-loop.yaml` into the working tree.
    pub fn write_config(&self) {
        let mut text = String::from("version: 1\n");
        let all = self.agents.iter().chain(&self.spare);
        let defined: Vec<_> = all.filter(|(_, d)| !d.is_empty()).collect();
        if !defined.is_empty() {
            text.push_str("agents:\n");
            for (name, definition) in defined {
                writeln!(text, "  {name}: {definition}").unwrap();
            }
        }
        if !self.agents.is_empty() {
            let names: Vec<&str> = self.agents.iter().map(|(name, _)| name.as_str()).collect();
            writeln!(text, "roles:\n  reviewers: [{}]", names.join(", ")).unwrap();
        }
        text.push_str(&self.extra);
        self.repo.write("run-loop.yaml", text);
    }
    /// The program in the working tree, with a home of its own and nothing else.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_run-loop"));
        command
            .args(args)
            .current_dir(self.repo.root())
            .env_clear()
            .stdin(Stdio::null());
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command
    }
    pub fn environment(&self) -> BTreeMap<&'static str, String> {
        // The git under test comes first on the path.
        let mut path = std::env::var("PATH").unwrap();
        if let Some(folder) = git_program().parent().filter(|folder| folder.is_absolute()) {
            path = format!("{}:{path}", folder.display());
        }
        BTreeMap::from([
            ("PATH", path),
            ("HOME", self.repo.beside("home").display().to_string()),
            ("TMPDIR", self.repo.beside("tmp").display().to_string()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ])
    }
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap())
    }
    /// The main job against `main`.
    pub fn review(&self) -> Ran {
        self.run(&["--base", "main", "--review-only"])
    }
    pub fn gate(&self) -> Ran {
        self.run(&["gate", "--base", "main", "--head", "feature"])
    }
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
    /// Every promoted file, relative to the reports folder, sorted.
    pub fn promoted(&self) -> Vec<String> {
        let root = self.repo.root().join(".agents/reports");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        found.sort();
        found
    }
    /// Everything below the cache folder whose first component is one of these kinds.
    pub fn left_in_cache(&self, kinds: &[&str]) -> Vec<String> {
        let root = self.repo.beside("home").join(".cache/run-loop");
        let mut found = Vec::new();
        walk(&root, &root, &mut found);
        found.retain(|path| {
            kinds
                .iter()
                .any(|kind| path.starts_with(&format!("{kind}/")))
        });
        found
    }
    /// One sidecar of the newest promotion, by slot.
    pub fn sidecar(&self, slot: &str) -> serde_json::Value {
        let prefix = format!("{slot}/");
        let name = self
            .promoted()
            .into_iter()
            .find(|path| path.starts_with(&prefix) && path.ends_with(".identity.json"))
            .unwrap_or_else(|| unreachable!("{slot} has no sidecar"));
        let path = self.repo.root().join(".agents/reports").join(name);
        serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
    }
}

impl Ran {
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
    /// The exit code, with everything printed where it is another one.
    #[track_caller]
    pub fn ends(&self, code: i32) -> &Self {
        assert_eq!(
            self.code,
            Some(code),
            "\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout,
            self.stderr
        );
        self
    }
    /// The reason code stands on standard error, with a next command that can be run.
    #[track_caller]
    pub fn with(&self, code: &str) -> &Self {
        assert!(self.stderr.contains(code), "no {code} in:\n{}", self.stderr);
        let next = self.next();
        if next[0] == "run-loop" {
            use clap::Parser as _;
            let parsed = run_loop::cli::args::Cli::try_parse_from(&next);
            assert!(
                parsed
                    .as_ref()
                    .err()
                    .is_none_or(|error| !error.use_stderr()),
                "the next command {next:?} is none: {parsed:?}"
            );
        }
        self
    }
    /// The words of the one next command.
    #[track_caller]
    pub fn next(&self) -> Vec<String> {
        let lines: Vec<&str> = self
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("next: "))
            .collect();
        let [line] = lines.as_slice() else {
            unreachable!("not one next command in:\n{}", self.stderr)
        };
        let words = shell_words(line);
        assert!(!words.is_empty(), "an empty next command");
        words
    }
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "no {text:?} in:\n{all}");
        self
    }
}

/// A line that quotes with `'` alone, in words.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                any = true;
            }
            '\\' if !quoted => {
                word.extend(chars.next());
                any = true;
            }
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path: PathBuf = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            walk(root, &path, found);
        } else {
            found.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

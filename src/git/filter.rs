//! Content filters: programs that git would run on files (design, section 5).
//!
//! A driver that is configured and selected by attributes changes the tree, so it is never
//! neutralised: it runs when it is allowed, and is refused otherwise. LFS as git-lfs installs it
//! is allowed. While git runs, a driver that is not allowed has no command and is `required`: should
//! a file come to select it in between, git fails instead of running it.

use std::collections::BTreeSet;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::path::RepoPath;
use crate::git::config::GitConfig;
use crate::git::error::Error;
use crate::git::program::finish;
use crate::process::command::Command;

/// The commands that `git lfs install` writes.
const LFS: [&str; 6] = [
    "git-lfs clean -- %f",
    "git-lfs smudge -- %f",
    "git-lfs smudge --skip -- %f",
    "git-lfs filter-process",
    "git-lfs filter-process --skip",
    "",
];

/// The drivers that would run something and are not allowed to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forbidden {
    names: BTreeSet<String>,
}

impl Forbidden {
    /// What the configuration defines beyond `allowed` and LFS.
    pub(crate) fn of(config: &GitConfig, allowed: &[String]) -> Self {
        let keys = ["clean", "smudge", "process"];
        let mut names = config.subsections("filter", &keys);
        names.retain(|name| {
            let commands = || {
                keys.iter()
                    .filter_map(|key| config.last(&format!("filter.{name}.{key}")))
            };
            let runs = commands().any(|command| !command.is_empty());
            let known = |command: &[u8]| LFS.iter().any(|lfs| lfs.as_bytes() == command);
            let lfs = name == "lfs" && commands().all(known);
            runs && !lfs && !allowed.contains(name)
        });
        Self { names }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
    /// Makes a command unable to run any of them.
    pub(crate) fn bar(&self, mut command: Command) -> Command {
        // By variables and not by `-c`, which cannot say a name that holds a `=`.
        let settings: Vec<(String, &str)> = self
            .names
            .iter()
            .flat_map(|name| {
                let key = |key: &str| format!("filter.{name}.{key}");
                [
                    (key("clean"), ""),
                    (key("smudge"), ""),
                    (key("process"), ""),
                    (key("required"), "true"),
                ]
            })
            .collect();
        if settings.is_empty() {
            return command;
        }
        command = command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (number, (key, value)) in settings.iter().enumerate() {
            command = command
                .env(format!("GIT_CONFIG_KEY_{number}"), key)
                .env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        command
    }

    /// Refuses when a file, tracked or not, selects one of them. `command` names tree and index.
    pub(crate) fn refuse_selected(&self, command: &Command) -> Result<(), Failure> {
        if self.names.is_empty() {
            return Ok(());
        }
        let files = finish(&command.clone().args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let ask = command
            .clone()
            .args(["check-attr", "-z", "--stdin", "filter"]);
        let answer = finish(&ask.stdin(files))?;
        let mut fields = answer.split(|byte| *byte == 0);
        while let (Some(path), Some(_), Some(driver)) =
            (fields.next(), fields.next(), fields.next())
        {
            let driver = String::from_utf8_lossy(driver);
            if self.names.contains(driver.as_ref()) {
                return Err(refused(&driver, &RepoPath::new(path).to_string()));
            }
        }
        Ok(())
    }

    /// Whether git failed because a file came to select one of them.
    pub(crate) fn blamed(&self, error: &Error) -> Option<Failure> {
        let text = String::from_utf8_lossy(error.stderr()).into_owned();
        let line = text.lines().find(|line| line.contains("filter '"))?;
        let name = self
            .names
            .iter()
            .find(|name| line.contains(&format!("filter '{name}' failed")))?;
        let path = line.strip_prefix("fatal: ").unwrap_or(line);
        let path = path.rsplit_once(": ").map_or(path, |(path, _)| path);
        Some(refused(name, &RepoPath::from(path).to_string()))
    }
}

fn refused(name: &str, path: &str) -> Failure {
    let shown = RepoPath::from(name).to_string();
    let message = format!(
        "{path} selects the content filter `{shown}`, whose commands are not allowed to run; look \
         at them, then add --allow-filter {shown}"
    );
    Failure::new(Code::FilterNotAllowed, message).next([
        "git".to_owned(),
        "config".to_owned(),
        "--show-origin".to_owned(),
        "--get-regexp".to_owned(),
        format!("^filter\\.{shown}\\."),
    ])
}

#[cfg(test)]
mod tests;

//! Content filters: programs that git would run on files (design, section 5).
//!
//! A driver that is configured and selected by attributes changes the tree, so it is never
//! neutralised: it runs when it is allowed, and is refused otherwise. LFS as git-lfs installs it
//! is allowed. While git runs, a driver that is not allowed has no command and is `required`: should
//! a file come to select it in between, git fails instead of running it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

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
    /// As they are written, in whatever encoding.
    names: BTreeSet<Vec<u8>>,
}

impl Forbidden {
    /// What the configuration defines beyond `allowed` and LFS.
    pub(crate) fn of(config: &GitConfig, allowed: &[String]) -> Self {
        let keys = ["clean", "smudge", "process"];
        let mut names = config.subsections("filter", &keys);
        names.retain(|name| {
            let commands = || {
                keys.iter()
                    .filter_map(|key| config.last(setting(name, key)))
            };
            let runs = commands().any(|command| !command.is_empty());
            let known = |command: &[u8]| LFS.iter().any(|lfs| lfs.as_bytes() == command);
            let lfs = name == b"lfs" && commands().all(known);
            let is_allowed = allowed
                .iter()
                .any(|allowed| allowed.as_bytes() == name.as_slice());
            runs && !lfs && !is_allowed
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
        let settings: Vec<(OsString, &str)> = self
            .names
            .iter()
            .flat_map(|name| {
                let key = |key: &str| OsString::from_vec(setting(name, key));
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
            if self.names.contains(driver) {
                return Err(refused(driver, &RepoPath::new(path)));
            }
        }
        Ok(())
    }

    /// Whether git failed because a file came to select one of them.
    pub(crate) fn blamed(&self, error: &Error) -> Option<Failure> {
        let mut lines = error.stderr().split(|byte| *byte == b'\n');
        let line = lines.find(|line| place(line, b"filter '").is_some())?;
        let name = self.names.iter().find(|name| {
            let failed = [&b"filter '"[..], name.as_slice(), b"' failed"].concat();
            place(line, &failed).is_some()
        })?;
        let path = line.strip_prefix(b"fatal: ").unwrap_or(line);
        let end = path.windows(2).rposition(|two| two == b": ");
        let path = &path[..end.unwrap_or(path.len())];
        Some(refused(name, &RepoPath::new(path)))
    }
}

/// `filter.<name>.<key>`.
fn setting(name: &[u8], key: &str) -> Vec<u8> {
    [&b"filter."[..], name, b".", key.as_bytes()].concat()
}

/// Where some bytes stand in a line.
fn place(line: &[u8], bytes: &[u8]) -> Option<usize> {
    line.windows(bytes.len()).position(|found| found == bytes)
}

fn refused(name: &[u8], path: &RepoPath) -> Failure {
    let shown = RepoPath::new(name).to_string();
    let (message, asked) = if std::str::from_utf8(name).is_ok() {
        let message = format!(
            "{path} selects the content filter `{shown}`, whose commands are not allowed to run; \
             look at them, then add --allow-filter {shown}"
        );
        (message, format!("^filter\\.{shown}\\."))
    } else {
        let message = format!(
            "{path} selects the content filter `{shown}`, whose commands are not allowed to run, \
             and cannot be: its name is not UTF-8; give it another one in the configuration and in \
             the attributes"
        );
        (message, "^filter\\.".to_owned())
    };
    Failure::new(Code::FilterNotAllowed, message).next([
        "git".to_owned(),
        "config".to_owned(),
        "--show-origin".to_owned(),
        "--get-regexp".to_owned(),
        asked,
    ])
}

#[cfg(test)]
mod tests;

//! The process environment: read once, here, and handed on as data.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// An environment variable that run-loop reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
}

impl Variable {
    /// A command that goes without it: `unset` is no program.
    #[must_use]
    pub fn unset(self) -> [&'static str; 5] {
        ["env", "-u", self.name, "run-loop", "doctor"]
    }
}

/// A folder for `--worktree`.
pub const WORKTREE: Variable = Variable {
    name: "RUN_LOOP_WORKTREE",
    meaning: "The working tree to review, and that other commands are about, where `--worktree` is not given; `run-loop gate` does not read it.",
};
/// A number for `--max-rounds`.
pub const MAX_ROUNDS: Variable = Variable {
    name: "RUN_LOOP_MAX_ROUNDS",
    meaning: "How many rounds at most, where `--max-rounds` is not given.",
};
/// Seconds for `--job-timeout`; `RUN_LOOP_JOB_*` belongs to jobs and is never an option.
pub const TIMEOUT: Variable = Variable {
    name: "RUN_LOOP_TIMEOUT",
    meaning: "A job's budget in seconds, where `--job-timeout` is not given.",
};
/// A format for `--format`.
pub const FORMAT: Variable = Variable {
    name: "RUN_LOOP_FORMAT",
    meaning: "`human`, `json` or `ndjson`, where `--format` is not given.",
};
/// Set in jobs; a loop that sees it was started inside one and is refused.
pub const JOB_ID: Variable = Variable {
    name: "RUN_LOOP_JOB_ID",
    meaning: "Set by run-loop in its jobs. A loop that finds it refuses to start.",
};
/// Set in jobs; `run-loop job` finds the job's mailbox by it.
pub const JOB_INBOX: Variable = Variable {
    name: "RUN_LOOP_JOB_INBOX",
    meaning: "Set by run-loop in its jobs: where `run-loop job` puts messages.",
};
/// Diagnostics.
pub const LOG: Variable = Variable {
    name: "RUN_LOOP_LOG",
    meaning: "What to write to stderr for diagnosis, for example `run_loop=debug`.",
};

/// Every variable of ours that is read.
pub const VARIABLES: [Variable; 7] = [
    WORKTREE, MAX_ROUNDS, TIMEOUT, FORMAT, JOB_ID, JOB_INBOX, LOG,
];

/// Options that decide what an approval means and so have no variable: one that was left in an
/// environment would silently widen or weaken a later review (row M-022, T-033).
pub const NEVER_READ: [&str; 7] = [
    "RUN_LOOP_BASE",
    "RUN_LOOP_PLAN",
    "RUN_LOOP_PLAN_FILE",
    "RUN_LOOP_REVIEW_ONLY",
    "RUN_LOOP_REVIEW_ISOLATION",
    "RUN_LOOP_REMOTE_REVIEW",
    "RUN_LOOP_FAIL_ON",
];

/// A snapshot of what the process was started with.
#[derive(Debug, Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_dir: PathBuf,
}

impl Environment {
    /// Takes the snapshot.
    ///
    /// # Errors
    /// When the current folder is gone.
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the home of the environment"
    )]
    pub fn capture() -> Result<Self, Failure> {
        let current_dir = std::env::current_dir().map_err(|error| {
            Failure::new(
                Code::NotARepository,
                format!("the current folder cannot be used: {error}"),
            )
            .next(["cd", "/"])
        })?;
        Ok(Self::new(std::env::vars_os(), current_dir))
    }
    /// A snapshot with the given content.
    #[must_use]
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        current_dir: PathBuf,
    ) -> Self {
        Self {
            variables: variables.into_iter().collect(),
            current_dir,
        }
    }
    /// The same without one of our variables.
    #[must_use]
    pub fn without(&self, variable: Variable) -> Self {
        let mut less = self.clone();
        less.variables.remove(OsStr::new(variable.name));
        less
    }
    /// Every variable, for the allow-lists of children.
    #[must_use]
    pub fn variables(&self) -> &BTreeMap<OsString, OsString> {
        &self.variables
    }
    /// The folder that the command was started in.
    #[must_use]
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }
    /// A variable; an empty one counts as not set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }
    /// `PATH`; empty where it is not set.
    #[must_use]
    pub fn path(&self) -> &OsStr {
        self.get("PATH").unwrap_or_else(|| OsStr::new(""))
    }
    /// The value of one of our variables as text.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn text(&self, variable: Variable) -> Result<Option<&str>, Failure> {
        self.get(variable.name)
            .map(|value| {
                value.to_str().ok_or_else(|| {
                    Failure::new(
                        Code::BadValue,
                        format!("the variable {} is not UTF-8", variable.name),
                    )
                })
            })
            .transpose()
    }
    /// The user's configuration folder: `$XDG_CONFIG_HOME/run-loop`, else `$HOME/.config/run-loop`.
    #[must_use]
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.xdg("XDG_CONFIG_HOME", ".config")
    }
    /// The cache folder for job folders, review trees and review stores:
    /// `$XDG_CACHE_HOME/run-loop`, else `$HOME/.cache/run-loop`.
    ///
    /// # Errors
    /// When neither variable holds an absolute path.
    pub fn cache_root(&self) -> Result<PathBuf, Failure> {
        self.xdg("XDG_CACHE_HOME", ".cache").ok_or_else(|| {
            Failure::new(
                Code::StateUnwritable,
                "there is no cache folder: neither XDG_CACHE_HOME nor HOME holds an absolute path",
            )
        })
    }
    /// Variables that look like options of ours and are not read.
    #[must_use]
    pub fn ignored(&self) -> Vec<&'static str> {
        NEVER_READ
            .into_iter()
            .filter(|name| self.get(name).is_some())
            .collect()
    }
    /// Relative values are invalid by the XDG rules and are ignored.
    fn xdg(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let absolute = |value: &OsStr| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        self.get(variable)
            .and_then(absolute)
            .or_else(|| Some(self.get("HOME").and_then(absolute)?.join(below_home)))
            .map(|folder| folder.join("run-loop"))
    }
}

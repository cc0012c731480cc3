//! The project's commands: `setup:` first, then `checks:`, in the slot's own tree.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::checks::output::{self, Places, Quote};
use crate::checks::secret::SecretRules;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::process::command::Command;
use crate::process::guard::GuardProgram;
use crate::process::supervise::{Supervision, supervise};

/// A command as configured.
#[derive(Debug, Clone)]
pub(crate) struct Configured {
    /// Its name in the report.
    pub(crate) name: String,
    /// The command line.
    pub(crate) run: String,
    /// Its time limit in seconds.
    pub(crate) timeout: u64,
    /// Whether it only prepares the tree: then no failure of it is a finding.
    pub(crate) setup: bool,
}

/// A command that was run.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The command.
    pub(crate) configured: Configured,
    /// How it ended.
    pub(crate) ended: Ended,
    /// What it printed.
    pub(crate) stdout: Quote,
    /// What it printed as errors.
    pub(crate) stderr: Quote,
}

/// Bytes of a command line that are quoted.
const LINE: usize = 1024;

/// What a command's end means.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// It succeeded.
    Passed,
    /// It failed: a finding, in these words.
    Failed(String),
    /// There is no verdict: this is how the job ended, and why.
    NoVerdict { ended: Ended, problem: String },
}

impl Ran {
    /// What its end means (scenario V16: a missing command is no success and no finding).
    pub(crate) fn meaning(&self) -> Meaning {
        let name = &self.configured.name;
        let run = &self.configured.run;
        match &self.ended {
            Ended::Exited { code: 0 } => Meaning::Passed,
            Ended::Exited { code: 127 } => no_verdict(
                format!("check `{name}`: a program of `{run}` does not exist (exit 127)"),
                run,
            ),
            Ended::Exited { code: 126 } => no_verdict(
                format!("check `{name}`: a program of `{run}` is not executable (exit 126)"),
                run,
            ),
            Ended::Exited { code } if self.configured.setup => {
                no_verdict(format!("`{name}` failed with exit {code}: `{run}`"), run)
            }
            Ended::Signalled { signal } if self.configured.setup => {
                no_verdict(format!("`{name}` ended by signal {signal}: `{run}`"), run)
            }
            // A command tells nothing but its exit code.
            Ended::Exited { code } | Ended::Failed { code, .. } => {
                Meaning::Failed(format!("check `{name}` failed with exit {code}"))
            }
            Ended::Signalled { signal } => {
                Meaning::Failed(format!("check `{name}` ended by signal {signal}"))
            }
            Ended::TimedOut => Meaning::NoVerdict {
                ended: Ended::TimedOut,
                problem: format!(
                    "check `{name}` did not end within {} s and was stopped",
                    self.configured.timeout
                ),
            },
            Ended::Stopped => Meaning::NoVerdict {
                ended: Ended::Stopped,
                problem: format!("check `{name}` was stopped"),
            },
            Ended::Interrupted => Meaning::NoVerdict {
                ended: Ended::Interrupted,
                problem: format!("check `{name}` was interrupted"),
            },
            Ended::Lost => Meaning::NoVerdict {
                ended: Ended::Lost,
                problem: format!("nobody saw how check `{name}` ended"),
            },
            Ended::NotStarted { failure } => Meaning::NoVerdict {
                ended: self.ended.clone(),
                problem: format!("check `{name}` could not be started: {}", failure.message),
            },
        }
    }
}

impl Ran {
    /// What whoever is to mend it needs: the command line, and the end of what it printed. It goes where
    /// the report goes, and shows no secret either.
    pub(crate) fn told(&self, rules: &SecretRules) -> String {
        let run = output::line(&self.configured.run, rules, LINE);
        let printed = |(name, quote): (&str, &Quote)| {
            let text = quote.text.trim_end();
            let begins = match quote.before {
                0 => format!("Its {name}"),
                bytes => format!("The end of its {name}, with {bytes} bytes before it"),
            };
            (!text.is_empty()).then(|| format!("{begins}:\n\n{text}"))
        };
        let streams = [
            ("standard output", &self.stdout),
            ("standard error", &self.stderr),
        ];
        let mut told = vec![format!("Its command line: {run}")];
        told.extend(streams.into_iter().filter_map(printed));
        if told.len() == 1 {
            told.push("It printed nothing.".to_owned());
        }
        told.join("\n\n")
    }
}

fn no_verdict(problem: String, run: &str) -> Meaning {
    let failure =
        Failure::new(Code::NoVerdict, problem.clone()).next(["bash", "-o", "pipefail", "-c", run]);
    Meaning::NoVerdict {
        ended: Ended::NotStarted { failure },
        problem,
    }
}

/// Where and with what commands run.
#[derive(Debug)]
pub(crate) struct Runner<'a> {
    /// The shell.
    pub(crate) bash: PathBuf,
    /// The tree under review.
    pub(crate) tree: &'a Path,
    /// Where captured output goes.
    pub(crate) scratch: &'a Path,
    /// The program that guards commands.
    pub(crate) guard: &'a GuardProgram,
    /// The environment, without keys.
    pub(crate) env: &'a BTreeMap<OsString, OsString>,
    /// What is hidden in quotes.
    pub(crate) places: Places,
    /// What is a secret in quotes.
    pub(crate) rules: &'a SecretRules,
}

impl Runner<'_> {
    /// Runs one command to its end; `number` names its capture folder.
    pub(crate) async fn run(
        &self,
        configured: Configured,
        number: usize,
        stop: &CancellationToken,
    ) -> Ran {
        let mut command = Command::new(&self.bash, self.tree)
            .args(["--noprofile", "--norc", "-o", "pipefail", "-c"])
            .arg(&configured.run);
        command.env.clone_from(self.env);
        let limits = Supervision::new(
            self.guard,
            Duration::from_secs(configured.timeout),
            &self.scratch.join(format!("command-{number:02}")),
        );
        let done = supervise(&command, limits, stop.clone()).await;
        let ended = if done.gone {
            done.ended
        } else {
            // What still runs there could change what the next command sees.
            let message = format!(
                "processes of check `{}` could not be ended",
                configured.name
            );
            Ended::NotStarted {
                failure: Failure::new(Code::NoVerdict, message),
            }
        };
        Ran {
            stdout: output::quote(&done.stdout, self.rules, &self.places),
            stderr: output::quote(&done.stderr, self.rules, &self.places),
            configured,
            ended,
        }
    }
}

/// The `bash` of a `PATH`; entries that are not absolute, and the tree itself, are passed over, so
/// that the reviewed tree cannot bring its own.
///
/// # Errors
/// When there is none.
pub(crate) fn find_bash(
    env: &BTreeMap<OsString, OsString>,
    tree: &Path,
) -> Result<PathBuf, Failure> {
    let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute() && !folder.starts_with(tree))
        .map(|folder| folder.join("bash"))
        .find(|program| {
            fs_err::metadata(program)
                .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
        })
        .ok_or_else(|| {
            let message = format!(
                "the commands of `checks:` need bash, which is not on PATH ({})",
                path.display()
            );
            Failure::new(Code::NoVerdict, message).next(["command", "-v", "bash"])
        })
}

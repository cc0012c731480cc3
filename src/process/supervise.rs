//! Running a program under supervision: a guard, a budget, capped output, a clean end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::domain::time::Timestamp;
use crate::process::captured::CapturedFile;
use crate::process::command::Command;
use crate::process::guard::{GuardProgram, Guarded, Outcome, Told, files, probe};

/// The limits of one supervised run, and where it leaves its traces.
#[derive(Debug, Clone)]
pub struct Supervision {
    /// The program that guards it.
    pub guard: GuardProgram,
    /// The time it may take; a caller with a deadline hands over what is left.
    pub budget: Duration,
    /// The time between TERM and KILL.
    pub grace: Duration,
    /// The capture folder, of this attempt alone: made if it is not there. It gets `stdout`,
    /// `stderr`, `guard.lock` and `outcome.json`, none of which may exist.
    pub folder: PathBuf,
    /// Bytes that each of the two outputs may hold.
    pub cap: usize,
    /// Bytes that standard output may have to be kept in memory, whole.
    pub keep: usize,
}

impl Supervision {
    /// The usual limits: 5 s of grace, 8 MiB for each output, standard output up to 1 MiB in memory.
    #[must_use]
    pub fn new(guard: &GuardProgram, budget: Duration, folder: &Path) -> Self {
        Self {
            guard: guard.clone(),
            budget,
            grace: Duration::from_secs(5),
            folder: folder.to_owned(),
            cap: 8 << 20,
            keep: 1 << 20,
        }
    }
}

/// From when to when a job was there, by the machine's clock, and who of it stayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasted {
    /// When it was started.
    pub started_at: Timestamp,
    /// When everything of it had ended.
    pub ended_at: Timestamp,
    /// The names of processes that still ran when its program had ended by itself, and were ended then.
    pub outlived: Vec<String>,
}

impl Lasted {
    /// As an attempt's guard saw it.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Self {
        Self {
            started_at: outcome.started_at,
            ended_at: outcome.ended_at,
            outlived: outcome.outlived.clone(),
        }
    }
}

/// How a supervised program ended, and what it printed.
#[derive(Debug)]
pub struct Supervised {
    /// How it ended. A program that we stopped is `TimedOut` or `Stopped`, whatever its code.
    pub ended: Ended,
    /// Whether every process of the job is proven gone.
    pub gone: bool,
    /// When it was there, as its guard saw it.
    pub lasted: Option<Lasted>,
    /// Its standard output.
    pub stdout: CapturedFile,
    /// Its standard error.
    pub stderr: CapturedFile,
}

/// Runs a program to its end under a guard, or ends it.
///
/// What lives of its tree after it exited is ended too (TERM, grace, KILL): that is not stopping
/// the job. Dropping the future makes the guard kill everything at once.
pub async fn supervise(
    command: &Command,
    limits: Supervision,
    stop: CancellationToken,
) -> Supervised {
    if stop.is_cancelled() {
        return without_output(&limits, Ended::Stopped);
    }
    let not_started = |code, message| {
        let failure = Failure::new(code, message);
        without_output(&limits, Ended::NotStarted { failure })
    };
    let cannot_keep = |reason: &str| {
        let message = format!("the output of a job cannot be kept: {reason}");
        not_started(Code::StateUnwritable, message)
    };
    if let Err(error) = files::make(&limits.folder) {
        return cannot_keep(&error.to_string());
    }
    let told = match Guarded::start(&limits.guard) {
        Ok(guard) => guard.run(command, &limits, stop).await,
        Err(error) => Err(error),
    };
    match told {
        Ok(Told::Ended(outcome)) => read(outcome, limits).await,
        Ok(Told::Refused(reason)) => cannot_keep(&reason),
        Ok(Told::Nothing) => Supervised {
            ended: Ended::Lost,
            gone: false,
            lasted: None,
            stdout: CapturedFile::lost(&limits.folder.join(files::STDOUT)),
            stderr: CapturedFile::lost(&limits.folder.join(files::STDERR)),
        },
        Err(error) => {
            let program = command.program.display();
            let message = format!("the guard of {program} could not be started: {error}");
            not_started(Code::Internal, message)
        }
    }
}

/// What the outcome means, with the output read back.
async fn read(outcome: Box<Outcome>, limits: Supervision) -> Supervised {
    let (ended, gone) = (outcome.ended(), outcome.gone);
    let lasted = Some(Lasted::of(&outcome));
    let paths = [files::STDOUT, files::STDERR].map(|name| limits.folder.join(name));
    let reading =
        tokio::task::spawn_blocking(move || probe::output(&limits.folder, &outcome, limits.keep));
    let (stdout, stderr) = reading.await.unwrap_or_else(|_| {
        let [stdout, stderr] = paths;
        (CapturedFile::lost(&stdout), CapturedFile::lost(&stderr))
    });
    Supervised {
        ended,
        gone,
        lasted,
        stdout,
        stderr,
    }
}

/// The result for a program that never ran.
fn without_output(limits: &Supervision, ended: Ended) -> Supervised {
    Supervised {
        ended,
        gone: true,
        lasted: None,
        stdout: CapturedFile::nothing(&limits.folder.join(files::STDOUT)),
        stderr: CapturedFile::nothing(&limits.folder.join(files::STDERR)),
    }
}

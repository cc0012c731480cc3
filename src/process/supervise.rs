//! Running a program under supervision: its own group, a budget, capped output, a clean end.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::job::Ended;
use crate::process::captured::{Capture, CapturedFile};
use crate::process::command::Command;
use crate::process::contained::{Contained, Remains, code_or_signal};
use crate::process::refusal;

/// How long the pipes are still read when the group is gone. Only a process that left the group
/// can hold them then, and it does not hold the job (scenarios H02, H04).
const AFTER_END: Duration = Duration::from_secs(1);

/// The limits of one supervised run.
#[derive(Debug, Clone)]
pub struct Supervision {
    /// The time it may take; a caller with a deadline hands over what is left.
    pub budget: Duration,
    /// The time between TERM and KILL.
    pub grace: Duration,
    /// Where standard output goes; must not exist.
    pub stdout: PathBuf,
    /// Where standard error goes; must not exist.
    pub stderr: PathBuf,
    /// Bytes that each of the two files may hold.
    pub cap: usize,
    /// Bytes of each that are also kept in memory, from the first on.
    pub keep: usize,
}

impl Supervision {
    /// The usual limits: 5 s of grace, 8 MiB for each output, 1 MiB in memory.
    #[must_use]
    pub fn new(budget: Duration, stdout: &Path, stderr: &Path) -> Self {
        Self {
            budget,
            grace: Duration::from_secs(5),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            cap: 8 << 20,
            keep: 1 << 20,
        }
    }
}

/// How a supervised program ended, and what it printed.
#[derive(Debug)]
pub struct Supervised {
    /// How it ended. A program that we stopped is `TimedOut` or `Stopped`, whatever its code.
    pub ended: Ended,
    /// Whether every process of its group is proven gone.
    pub gone: bool,
    /// Its standard output.
    pub stdout: CapturedFile,
    /// Its standard error.
    pub stderr: CapturedFile,
}

/// Why the program is no longer waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Exit,
    Stop,
    Budget,
}

/// Runs a program to its end, or ends it.
///
/// What lives in its group after it exited is ended too (TERM, grace, KILL): that is not stopping
/// the job. Dropping the future kills the group at once.
pub async fn supervise(
    command: &Command,
    limits: Supervision,
    stop: CancellationToken,
) -> Supervised {
    let deadline = sleep(limits.budget);
    if stop.is_cancelled() {
        return without_output(&limits, Ended::Stopped);
    }
    let captures = Capture::create(&limits.stdout, limits.cap, limits.keep).and_then(|out| {
        Capture::create(&limits.stderr, limits.cap, limits.keep).map(|err| (out, err))
    });
    let (mut out, mut err) = match captures {
        Ok(captures) => captures,
        Err(error) => {
            let message = format!("the output of a job cannot be kept: {error}");
            let failure = Failure::new(Code::StateUnwritable, message);
            return without_output(&limits, Ended::NotStarted { failure });
        }
    };
    let (mut contained, pipes) = match Contained::spawn(command) {
        Ok(started) => started,
        Err(error) => {
            let failure = refusal::not_started(command, &error);
            return without_output(&limits, Ended::NotStarted { failure });
        }
    };

    let mut life = pin!(async move {
        let turn = {
            let mut deadline = pin!(deadline);
            // In this order: a program that has already ended was not stopped by us.
            tokio::select! {
                biased;
                () = contained.exited() => Turn::Exit,
                () = stop.cancelled() => Turn::Stop,
                () = &mut deadline => Turn::Budget,
            }
        };
        (turn, contained.end(limits.grace).await)
    });
    let (turn, remains) = {
        let feeding = feed(pipes.stdin, command.stdin.as_deref());
        let mut drains = pin!(async {
            tokio::join!(drain(&mut out, pipes.stdout), drain(&mut err, pipes.stderr))
        });
        let mut feeding = pin!(feeding);
        let (mut drained, mut fed) = (false, false);
        let end = loop {
            tokio::select! {
                end = &mut life => break end,
                _ = &mut drains, if !drained => drained = true,
                () = &mut feeding, if !fed => fed = true,
            }
        };
        if !drained {
            // What is in the pipes is read; who still holds them is not waited for.
            drop(timeout(AFTER_END, &mut drains).await);
        }
        end
    };
    Supervised {
        ended: ended(turn, &remains),
        gone: remains.gone,
        stdout: out.finish(),
        stderr: err.finish(),
    }
}

/// What the end means, as far as the process tells.
fn ended(turn: Turn, remains: &Remains) -> Ended {
    match turn {
        Turn::Stop => Ended::Stopped,
        Turn::Budget => Ended::TimedOut,
        Turn::Exit => match remains.status.and_then(code_or_signal) {
            Some(Ok(code)) => Ended::Exited { code },
            Some(Err(signal)) => Ended::Signalled { signal },
            None => Ended::Lost,
        },
    }
}

/// Hands over standard input and closes it. A program that ends without reading it, or never
/// reads it, is not our failure.
async fn feed(pipe: Option<ChildStdin>, bytes: Option<&[u8]>) {
    if let (Some(mut pipe), Some(bytes)) = (pipe, bytes) {
        drop(pipe.write_all(bytes).await);
    }
}

async fn drain(capture: &mut Capture, pipe: Option<impl AsyncRead + Unpin>) {
    if let Some(pipe) = pipe {
        capture.drain(pipe).await;
    }
}

/// The result for a program that never ran.
fn without_output(limits: &Supervision, ended: Ended) -> Supervised {
    Supervised {
        ended,
        gone: true,
        stdout: CapturedFile::nothing(&limits.stdout),
        stderr: CapturedFile::nothing(&limits.stderr),
    }
}

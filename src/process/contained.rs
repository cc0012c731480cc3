//! A child and everything that stays in its process group: the seam for stronger containment.
//!
//! Everything about how a child is held lives here. The leader is not reaped before the whole
//! group was signalled for the last time: an unreaped process keeps its number, so a signal can
//! never reach a stranger that was given the same one (scenario H15).

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group,
    test_kill_process_group, waitid,
};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::process::command::Command;
use crate::process::members::Members;

/// How long a group may take to vanish after KILL; more than that and it hangs in the kernel.
const AFTER_KILL: Duration = Duration::from_secs(5);

/// A running child in a group of its own. Dropping it kills the group at once.
#[derive(Debug)]
pub(crate) struct Contained {
    child: Child,
    group: Pid,
    exit: oneshot::Receiver<Seen>,
    leader: Leader,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leader {
    Running,
    /// Exited and not reaped: its number and its group's are still ours.
    Exited,
    /// Reaped, by us or by the system: nothing may be signalled any more.
    Reaped,
}

/// What the watching thread saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Exit,
    /// No such child: the system reaps by itself (SIGCHLD ignored by whoever started us).
    Nothing,
}

/// Our ends of a child's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

/// What is left when a child was ended.
#[derive(Debug)]
pub(crate) struct Remains {
    /// How the leader ended; `None` when nobody could tell.
    pub(crate) status: Option<ExitStatus>,
    /// Whether every process of the group is proven gone.
    pub(crate) gone: bool,
}

impl Contained {
    /// Starts a program in a group of its own.
    pub(crate) fn spawn(command: &Command) -> io::Result<(Self, Pipes)> {
        let stdin = if command.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut child = command
            .prepared()
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Pid::from_child(&child);
        let (sender, exit) = oneshot::channel();
        let mut contained = Self {
            child,
            group,
            exit,
            leader: Leader::Running,
        };
        // From here on an error drops `contained`, which kills the group.
        contained.watch(sender)?;
        let pipes = Pipes {
            stdin: pipes.0.map(ChildStdin::from_std).transpose()?,
            stdout: pipes.1.map(ChildStdout::from_std).transpose()?,
            stderr: pipes.2.map(ChildStderr::from_std).transpose()?,
        };
        Ok((contained, pipes))
    }

    /// Watches for the leader's exit without reaping it; a thread, since tokio's children are
    /// reaped as soon as they are seen.
    fn watch(&mut self, sender: oneshot::Sender<Seen>) -> io::Result<()> {
        let leader = self.group;
        std::thread::Builder::new()
            .name("run-loop-wait".to_owned())
            .spawn(move || {
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                let seen = loop {
                    match waitid(WaitId::Pid(leader), options) {
                        Ok(_) => break Seen::Exit,
                        Err(Errno::INTR) => {}
                        Err(_) => break Seen::Nothing,
                    }
                };
                // Nobody listens any more when the job was dropped.
                sender.send(seen).ok();
            })
            .map(drop)
    }

    /// Waits for the leader's exit; may be dropped and called again.
    pub(crate) async fn exited(&mut self) {
        if self.leader == Leader::Running {
            self.leader = match (&mut self.exit).await {
                Ok(Seen::Exit) => Leader::Exited,
                Ok(Seen::Nothing) | Err(_) => Leader::Reaped,
            };
        }
    }

    /// Ends whatever lives in the group: TERM, grace, KILL; then reaps the leader.
    pub(crate) async fn end(mut self, grace: Duration) -> Remains {
        if self.leader == Leader::Running || Members::beside(self.group) != Members::None {
            self.signal(Signal::TERM);
            // A stopped process handles TERM only once it goes on.
            self.signal(Signal::CONT);
            self.settle(grace).await;
        }
        // Also when nobody is seen: a scan can miss a process that forks, a signal to the group
        // cannot.
        self.signal(Signal::KILL);
        let members = self.settle(AFTER_KILL).await;
        let status = match self.leader {
            Leader::Exited => self.child.wait().ok(),
            Leader::Running | Leader::Reaped => None,
        };
        if status.is_some() {
            self.leader = Leader::Reaped;
        }
        let gone = match members {
            Members::None => true,
            Members::Some => false,
            // Only a question; a wrong answer errs to "not gone".
            Members::Unknown => test_kill_process_group(self.group) == Err(Errno::SRCH),
        };
        Remains { status, gone }
    }

    /// Waits until the leader has exited and nobody else lives in the group, or for so long.
    async fn settle(&mut self, limit: Duration) -> Members {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_millis(2);
        if tokio::time::timeout_at(deadline, self.exited())
            .await
            .is_err()
        {
            return Members::Some;
        }
        loop {
            let members = Members::beside(self.group);
            if members == Members::None || Instant::now() >= deadline {
                return members;
            }
            sleep(pause.min(deadline - Instant::now())).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// Signals the group and the leader, which may have left its group. Both are ours for as
    /// long as the leader is not reaped. An error means that nobody is there or that it is not
    /// ours to signal; the members tell which.
    fn signal(&self, signal: Signal) {
        if self.leader == Leader::Reaped {
            return;
        }
        kill_process_group(self.group, signal).ok();
        // Never twice to a leader that stayed: many programs take a second TERM for "at once".
        if getpgid(Some(self.group)) != Ok(self.group) {
            kill_process(self.group, signal).ok();
        }
    }
}

impl Drop for Contained {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        if self.leader != Leader::Reaped {
            drop(self.child.try_wait());
        }
    }
}

/// An exit status as code or signal; `None` where it is neither.
pub(crate) fn code_or_signal(status: ExitStatus) -> Option<Result<i32, i32>> {
    status.code().map(Ok).or_else(|| status.signal().map(Err))
}

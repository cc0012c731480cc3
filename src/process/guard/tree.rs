//! The program and everything it started, as the guard holds them.
//!
//! The program is not reaped before its group was signalled for the last time: an unreaped process
//! keeps its number, and with it its group's, so a signal can never reach a stranger that was
//! given the same one (scenario H15).

use std::collections::BTreeSet;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgid, getpid, kill_process,
    kill_process_group, wait, waitid, waitpid,
};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::{Signal as Arrivals, SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::process::command::Command;
use crate::process::guard::lineage::{Lineage, ProcessId, Root, Seen};
use crate::process::guard::wishes::Wish;
use crate::process::unix;

/// How long a tree may take to vanish under KILL; more than that and something hangs in the
/// kernel or is not ours to signal.
pub(crate) const UNDER_KILL: Duration = Duration::from_secs(30);
/// The pauses between two turns of KILL that meet nobody new.
const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_millis(20);
/// How many of those that stay are named.
const NAMED: usize = 100;
/// How often orphans that died are looked for at most.
const REAPING: Duration = Duration::from_millis(50);

/// A running program of this guard.
#[derive(Debug)]
pub(crate) struct Tree {
    child: Child,
    /// The program's process, leader of its group.
    agent: Pid,
    /// The guard itself.
    root: Root,
    exits: Arrivals,
    exited: bool,
}

/// Our ends of a program's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
}

impl Pipes {
    fn of(child: &mut Child) -> io::Result<Self> {
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Ok(Self {
            stdin: pipes.0.map(ChildStdin::from_std).transpose()?,
            stdout: pipes.1.map(ChildStdout::from_std).transpose()?,
            stderr: pipes.2.map(ChildStderr::from_std).transpose()?,
        })
    }
}

/// What is left when a tree was ended.
#[derive(Debug)]
pub(crate) struct Remains {
    /// How the program ended; `None` when nobody could tell.
    pub(crate) status: Option<ExitStatus>,
    /// Whether the kernel says that the guard has no descendant.
    pub(crate) gone: bool,
    /// Who was still seen, if not.
    pub(crate) left: Vec<ProcessId>,
}

impl Tree {
    /// Starts a program in a group of its own. Must be called on the thread that lives as long as
    /// the guard.
    pub(crate) fn spawn(command: &Command) -> io::Result<(Self, Pipes)> {
        // Before the program can exit, so that no exit is missed.
        let exits = signal(SignalKind::child())?;
        let stdin = if command.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        let mut prepared = command.prepared();
        prepared
            .process_group(0)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if unix::is_run_by_the_kernel(&command.program) {
            unix::die_with_this_thread(&mut prepared);
        } else if command.confine.is_some() {
            // What the kernel does not run would be handed to a shell.
            return Err(Errno::NOEXEC.into());
        }
        if let Some(confine) = &command.confine {
            unix::confine(&mut prepared, confine.rules()?);
        }
        let mut child = prepared.spawn()?;
        let agent = Pid::from_child(&child);
        let pipes = match Pipes::of(&mut child) {
            Ok(pipes) => pipes,
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                return Err(error);
            }
        };
        let tree = Self {
            child,
            agent,
            root: Root::Child(raw(getpid())),
            exits,
            exited: false,
        };
        Ok((tree, pipes))
    }

    /// Where the lineage of the job begins.
    pub(crate) fn root(&self) -> Root {
        self.root.clone()
    }

    /// The program's process; without a start time where the kernel does not tell.
    pub(crate) fn agent(&self) -> ProcessId {
        let pid = raw(self.agent);
        match Seen::look(pid) {
            Ok(Some(seen)) => seen.id,
            Ok(None) | Err(_) => ProcessId { pid, start: 0 },
        }
    }

    /// Waits for the program's exit and reaps orphans meanwhile; may be dropped and called again.
    pub(crate) async fn exited(&mut self) {
        while !self.has_exited() {
            self.exits.recv().await;
            if !self.has_exited() {
                self.reap_orphans();
                // A job that loses orphans all the time must not keep the guard busy.
                sleep(REAPING).await;
            }
        }
    }

    /// Whether the program has exited, asked of the kernel now.
    pub(crate) fn has_exited(&mut self) -> bool {
        if !self.exited {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            self.exited = match waitid(WaitId::Pid(self.agent), options) {
                Ok(status) => status.is_some(),
                // No such child: it cannot come back.
                Err(Errno::CHILD) => true,
                Err(_) => false,
            };
        }
        self.exited
    }

    fn reap_orphans(&self) {
        if let Ok(lineage) = Lineage::of(self.root.clone()) {
            self.reap(&lineage);
        }
    }

    /// Reaps children that are zombies, the program itself left out.
    fn reap(&self, lineage: &Lineage) {
        for seen in lineage.all().iter().filter(|seen| !seen.lives()) {
            // An error: the child of somebody else among ours, who reaps it.
            if seen.id.pid != raw(self.agent)
                && let Some(pid) = Pid::from_raw(seen.id.pid)
            {
                waitpid(Some(pid), WaitOptions::NOHANG).ok();
            }
        }
    }

    /// Ends whatever lives: TERM, grace, KILL; and reaps all.
    pub(crate) async fn end(mut self, grace: Duration, mut wish: watch::Receiver<Wish>) -> Remains {
        if (!self.has_exited() || self.others() != Others::None) && !wish.borrow().now {
            self.terminate();
            let at_once = async { wish.wait_for(|wish| wish.now).await.is_ok() };
            tokio::select! {
                () = self.settled(Instant::now() + grace) => {}
                true = at_once => {}
            }
        }
        self.kill().await
    }

    /// TERM for everybody, once: many programs take a second one for "at once".
    fn terminate(&self) {
        // A stopped process handles TERM only once it goes on.
        let signals = [Signal::TERM, Signal::CONT];
        for signal in signals {
            kill_process_group(self.agent, signal).ok();
        }
        let group = raw(self.agent);
        if let Ok(lineage) = Lineage::of(self.root.clone()) {
            lineage.signal(&signals, |seen| seen.group != group);
        } else if getpgid(Some(self.agent)) != Ok(self.agent) {
            for signal in signals {
                kill_process(self.agent, signal).ok();
            }
        }
    }

    /// Waits until nobody is seen any more, or until then.
    async fn settled(&mut self, deadline: Instant) {
        if timeout_at(deadline, self.exited()).await.is_err() {
            return;
        }
        let mut pause = Duration::from_millis(2);
        while self.others() == Others::Some && Instant::now() < deadline {
            sleep(pause.min(deadline - Instant::now())).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// The names of those that live beside the program itself.
    pub(crate) fn names_of_others(&self) -> Vec<String> {
        let agent = raw(self.agent);
        let Ok(lineage) = Lineage::of(self.root.clone()) else {
            return Vec::new();
        };
        let others = lineage.living().filter(|seen| seen.id.pid != agent);
        let name = |seen: &Seen| fs_err::read_to_string(format!("/proc/{}/comm", seen.id.pid)).ok();
        let names = others.filter_map(name).take(NAMED);
        names.map(|name| name.trim_end().to_owned()).collect()
    }

    /// Who lives beside the program itself.
    fn others(&self) -> Others {
        let agent = raw(self.agent);
        Lineage::of(self.root.clone()).map_or(Others::Unknown, |lineage| {
            self.reap(&lineage);
            if lineage.living().any(|seen| seen.id.pid != agent) {
                Others::Some
            } else {
                Others::None
            }
        })
    }

    /// KILL for everybody, again and again until the kernel says that no child is left.
    ///
    /// Who forks meanwhile is met in the next turn. A tree that respawns is caught because its
    /// members are killed the moment they are seen, and because no turn waits while new ones are.
    async fn kill(&mut self) -> Remains {
        let deadline = Instant::now() + UNDER_KILL;
        let mut pause = SHORT;
        let mut status = None;
        let mut reaped = false;
        let mut before = BTreeSet::new();
        loop {
            if !reaped {
                // In one stroke: a fork cannot escape a signal to its group. Last when its leader
                // has exited, whose number is given up then.
                let exited = self.has_exited();
                kill_process_group(self.agent, Signal::KILL).ok();
                if exited {
                    status = self.child.wait().ok();
                    reaped = true;
                } else {
                    kill_process(self.agent, Signal::KILL).ok();
                }
            }
            let living = self.kill_descendants();
            let gone = reaped && !reap_any();
            if gone || Instant::now() >= deadline {
                return Remains {
                    status,
                    gone,
                    left: living.into_iter().take(NAMED).collect(),
                };
            }
            if living.is_subset(&before) {
                sleep(pause).await;
                pause = (pause * 2).min(LONG);
            } else {
                tokio::task::yield_now().await;
                pause = SHORT;
            }
            before = living;
        }
    }

    /// Kills and reaps every descendant that is seen, the program itself left out; those that
    /// lived.
    fn kill_descendants(&self) -> BTreeSet<ProcessId> {
        let agent = raw(self.agent);
        let mut living = BTreeSet::new();
        let lineage = Lineage::while_seen(self.root.clone(), |child| {
            let Some(pid) = Pid::from_raw(child.id.pid).filter(|pid| *pid != self.agent) else {
                return;
            };
            // Ours, and so of this number until we reap it.
            if child.lives() {
                kill_process(pid, Signal::KILL).ok();
                living.insert(child.id);
            }
            waitpid(Some(pid), WaitOptions::NOHANG).ok();
        });
        // Unreadable: the group was signalled, and the kernel's word is waited for in any case.
        if let Ok(lineage) = lineage {
            lineage.signal(&[Signal::KILL], |seen| {
                seen.id.pid != agent && !self.root.holds(seen)
            });
            let others = lineage.living().filter(|seen| seen.id.pid != agent);
            living.extend(others.map(|seen| seen.id));
        }
        living
    }
}

/// What is known of descendants beside the program itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    None,
    Some,
    /// The kernel does not tell.
    Unknown,
}

/// Reaps every child that is dead; whether a living one is left, and when in doubt, it is.
fn reap_any() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(error) => return error != Errno::CHILD,
        }
    }
}

fn raw(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

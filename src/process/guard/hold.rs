//! The guard's own life: from its order to `outcome.json`.

use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::pin::pin;
use std::process::{ChildStdout as StdPipe, ExitCode, ExitStatus};
use std::time::Duration;

use rustix::process::{getpid, set_child_subreaper, setsid};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::domain::sealed::seal;
use crate::domain::time::Timestamp;
use crate::lock::Locked;
use crate::process::capture::Capture;
use crate::process::command::Command;
use crate::process::guard::budget;
use crate::process::guard::files::{CaptureFolder, STDERR, STDOUT};
use crate::process::guard::lineage::ProcessId;
use crate::process::guard::mark::Held;
use crate::process::guard::order::{ORDER_CAP, Order, Report};
use crate::process::guard::outcome::{Exit, Outcome, StopReason, VERSION};
use crate::process::guard::probe::Holder;
use crate::process::guard::record::Record;
use crate::process::guard::tree::{Pipes, Remains, Tree};
use crate::process::guard::wishes::{Wish, Wishes};
use crate::process::guard::witness;
use crate::process::refusal;

/// How long the pipes are still read when everything is gone, or cannot be ended. Only what is no
/// descendant can hold them then, and it does not hold the job (scenarios H02, H04).
const AFTER_END: Duration = Duration::from_secs(1);

/// Runs a guard: the whole life of a process that was started as `run-loop __guard`.
#[must_use]
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody reads the words of a guard: its reports go to the engine, which sees the end of
        // the pipe. Two is what a wrong start ends with.
        Err(_) => ExitCode::from(2),
    }
}

fn run() -> io::Result<()> {
    // An error: a person started it, as the leader of a group. The job can be held all the same.
    setsid().ok();
    set_child_subreaper(Some(getpid()))?;
    // For people who look at processes; it has no say.
    drop(fs_err::write("/proc/self/comm", "run-loop-guard"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(serve());
    runtime.shutdown_background();
    done
}

async fn serve() -> io::Result<()> {
    // The standard library has no type for "some pipe"; this one is a descriptor and no more.
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let mut engine = ChildStdout::from_std(StdPipe::from(stdin))?;
    let (order, stdin) = read_order(&mut engine).await?;
    let reports = Reports {
        pipe: io::stdout().as_fd().try_clone_to_owned()?.into(),
    };
    match Hold::prepare(&order) {
        Ok(hold) => hold.job(order, stdin, engine, reports).await,
        Err(error) => {
            let message = error.to_string();
            reports.send(&Report::Refused { message });
            Ok(())
        }
    }
}

/// Reads the whole order; an engine that dies meanwhile has started nothing.
async fn read_order(engine: &mut ChildStdout) -> io::Result<(Order, Option<Vec<u8>>)> {
    let length = engine.read_u32().await?;
    if length > ORDER_CAP {
        return Err(io::Error::other("no order"));
    }
    let mut json = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    engine.read_exact(&mut json).await?;
    let order: Order = serde_json::from_slice(&json)?;
    let Some(length) = order.stdin else {
        return Ok((order, None));
    };
    let mut stdin = Vec::new();
    engine.take(length).read_to_end(&mut stdin).await?;
    if stdin.len() as u64 == length {
        Ok((order, Some(stdin)))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The way to the engine. It may be gone or not listen; that is never the guard's problem.
#[derive(Debug)]
struct Reports {
    pipe: std::fs::File,
}

impl Reports {
    fn send(&self, report: &Report) {
        let line = serde_json::to_vec(report).map(|mut line| {
            line.push(b'\n');
            line
        });
        if let Ok(line) = line {
            (&self.pipe).write_all(&line).ok();
        }
    }
}

/// Everything of ours that a job needs.
#[derive(Debug)]
struct Hold {
    folder: CaptureFolder,
    /// Held until this process is gone, and so after `outcome.json` is there.
    lock: Locked<fs_err::File>,
    /// Inherited by the program, which is all that a guard starts.
    _mark: Held,
    record: Option<Record>,
    out: Capture,
    err: Capture,
}

impl Hold {
    fn prepare(order: &Order) -> io::Result<Self> {
        let folder = CaptureFolder::open(Path::new(&order.folder))?;
        let lock = folder.lock()?;
        Ok(Self {
            _mark: Held::make(&folder)?,
            record: Some(Record::begin(&folder)?),
            out: Capture::new(folder.create(STDOUT)?, order.cap),
            err: Capture::new(folder.create(STDERR)?, order.cap),
            folder,
            lock,
        })
    }

    async fn job(
        mut self,
        order: Order,
        stdin: Option<Vec<u8>>,
        engine: ChildStdout,
        reports: Reports,
    ) -> io::Result<()> {
        let (budget, grace) = (order.budget, order.grace);
        let command = order.command(stdin);
        let (wishes, wish) = Wishes::listen()?;
        let mut hearing = pin!(wishes.hear(engine));
        // An engine that died before the lock was taken may have a successor that saw no guard:
        // nothing may be started then.
        let heard = wish.clone();
        tokio::select! {
            biased;
            never = &mut hearing => match never {},
            // What has arrived is seen once the runtime has asked the kernel.
            () = tokio::task::yield_now() => {}
        }
        let started_at = now();
        let clock = Instant::now();
        if let Some(reason) = heard.borrow().stop {
            let remains = Over::not_begun(reason);
            return self.finish(remains, started_at, clock, &reports);
        }
        let (tree, pipes) = match Tree::spawn(&command) {
            Ok(started) => started,
            Err(error) => {
                let failure = refusal::not_started(&command, &error);
                let over = Over::not_started(Exit::NotStarted { failure });
                return self.finish(over, started_at, clock, &reports);
            }
        };
        let agent = tree.agent();
        self.name(agent);
        reports.send(&Report::Started { agent });
        let witness = self.record.take().map(|mut record| {
            record.add([agent]);
            witness::look(tree.root(), record)
        });
        let mut witnessing = pin!(async {
            match witness {
                Some(witness) => witness.await,
                None => std::future::pending().await,
            }
        });
        let life = life(tree, budget, grace, wish);
        let (stopped, outlived, remains) = tokio::select! {
            over = self.drained(life, pipes, &command) => over,
            never = &mut hearing => match never {},
            never = &mut witnessing => match never {},
        };
        let over = Over {
            agent: Some(agent),
            exit: remains.status.map_or(Exit::Unknown, exit),
            stopped,
            gone: remains.gone,
            left: remains.left,
            outlived,
        };
        self.finish(over, started_at, clock, &reports)
    }

    /// Serves the program's pipes until its life is over.
    async fn drained<T>(
        &mut self,
        life: impl Future<Output = T>,
        pipes: Pipes,
        command: &Command,
    ) -> T {
        let mut life = pin!(life);
        let mut feeding = pin!(feed(pipes.stdin, command.stdin.as_deref()));
        let mut drains = pin!(async {
            tokio::join!(
                drain(&mut self.out, pipes.stdout),
                drain(&mut self.err, pipes.stderr)
            )
        });
        let (mut drained, mut fed) = (false, false);
        let over = loop {
            tokio::select! {
                over = &mut life => break over,
                _ = &mut drains, if !drained => drained = true,
                () = &mut feeding, if !fed => fed = true,
            }
        };
        if !drained {
            // What is in the pipes is read; who still holds them is not waited for.
            drop(timeout(AFTER_END, &mut drains).await);
        }
        over
    }

    /// Says in the lock file who holds it; information, never the lock.
    fn name(&mut self, agent: ProcessId) {
        let holder = Holder::new(agent);
        if let Ok(text) = serde_json::to_vec(&holder) {
            self.lock.file().write_all(&text).ok();
        }
    }

    /// Writes the outcome and tells the engine.
    fn finish(
        self,
        over: Over,
        started_at: Timestamp,
        clock: Instant,
        reports: &Reports,
    ) -> io::Result<()> {
        let outcome = Outcome {
            version: VERSION,
            agent: over.agent,
            exit: over.exit,
            stopped: over.stopped,
            gone: over.gone,
            left: over.left,
            outlived: over.outlived,
            started_at,
            ended_at: now(),
            took_ms: u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX),
            stdout: self.out.finish(),
            stderr: self.err.finish(),
        };
        // The engine is told in any case; without the file a successor of it sees a lost job.
        let written = seal(&outcome)
            .map_err(io::Error::from)
            .and_then(|bytes| self.folder.write_outcome(&bytes));
        let outcome = Box::new(outcome);
        reports.send(&Report::Ended { outcome });
        // It goes with this process, and not before: who waits for it finds nothing of the job then.
        std::mem::forget(self.lock);
        written
    }
}

/// How a job is over, before its captures are.
#[derive(Debug)]
struct Over {
    agent: Option<ProcessId>,
    exit: Exit,
    stopped: Option<StopReason>,
    gone: bool,
    left: Vec<ProcessId>,
    outlived: Vec<String>,
}

impl Over {
    fn not_started(exit: Exit) -> Self {
        Self {
            agent: None,
            exit,
            stopped: None,
            gone: true,
            left: Vec::new(),
            outlived: Vec::new(),
        }
    }
    /// Stopped before anything was started.
    fn not_begun(reason: StopReason) -> Self {
        Self {
            stopped: Some(reason),
            ..Self::not_started(Exit::Unknown)
        }
    }
}

/// Why the program is no longer waited for, who outlived one that ended by itself, and what is left of it.
async fn life(
    mut tree: Tree,
    budget: Duration,
    grace: Duration,
    wish: watch::Receiver<Wish>,
) -> (Option<StopReason>, Vec<String>, Remains) {
    let stopped = {
        let mut heard = wish.clone();
        let told = async {
            match heard.wait_for(|wish| wish.stop.is_some()).await {
                Ok(wish) => wish.stop,
                // Nobody listens to the engine any more: as good as gone.
                Err(_) => Some(StopReason::EngineGone),
            }
        };
        // In this order: a program that has already ended was not stopped by us.
        tokio::select! {
            biased;
            () = tree.exited() => None,
            reason = told => reason,
            () = budget::used_up(budget) => Some(StopReason::Budget),
        }
    };
    // The word of its end may come later than the engine's: a report that was finished is no one that was
    // cut short. Nobody was signalled by now.
    let stopped = stopped.filter(|_| !tree.has_exited());
    let outlived = match stopped {
        None => tree.names_of_others(),
        // Everybody is ended together.
        Some(_) => Vec::new(),
    };
    (stopped, outlived, tree.end(grace, wish).await)
}

fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code { code },
        (None, Some(signal)) => Exit::Signal { signal },
        (None, None) => Exit::Unknown,
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

/// The machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "a guard is a process of its own; its times are told and decide nothing"
)]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    Timestamp::from_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

//! The engine's side of a guard.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::pin::Pin;
use std::process::{Child, Stdio};
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWrite as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::process::command::Command;
use crate::process::guard::budget::used_up;
use crate::process::guard::order::{Order, Report, Request};
use crate::process::guard::orphans;
use crate::process::guard::outcome::Outcome;
use crate::process::guard::program::{ARGUMENT, GuardProgram};
use crate::process::guard::remains;
use crate::process::guard::tree::UNDER_KILL;
use crate::process::supervise::Supervision;

/// How much later than it should a guard may tell of the end, on a busy machine.
const SLACK: Duration = Duration::from_mins(1);
/// How long a guard that has told everything may take to exit.
const EXIT: Duration = Duration::from_secs(5);

/// What a guard told of its job.
#[derive(Debug)]
pub(crate) enum Told {
    /// It is over.
    Ended(Box<Outcome>),
    /// Nothing was started: the guard could not do its part.
    Refused(String),
    /// Nothing: the guard was killed, or stopped for so long that it was killed.
    Nothing,
}

/// A guard that runs. Dropping it makes the guard kill its job at once.
#[derive(Debug)]
pub(crate) struct Guarded {
    child: Option<Child>,
    stdin: Option<ChildStdin>,
    reports: BufReader<ChildStdout>,
    /// Whether the guard has its whole order, and reads requests.
    ordered: bool,
}

impl Guarded {
    /// Starts a guard, which waits for its order.
    pub(crate) fn start(program: &GuardProgram) -> io::Result<Self> {
        let mut child = Command::new(program.path(), "/")
            .arg(ARGUMENT)
            .prepared()
            .arg0("run-loop")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let no_pipe = || io::Error::other("a guard without pipes");
        let stdin = child.stdin.take().ok_or_else(no_pipe)?;
        let stdout = child.stdout.take().ok_or_else(no_pipe)?;
        Ok(Self {
            child: Some(child),
            stdin: Some(ChildStdin::from_std(stdin)?),
            reports: BufReader::new(ChildStdout::from_std(stdout)?),
            ordered: false,
        })
    }

    /// Hands the job over and waits for its end.
    pub(crate) async fn run(
        mut self,
        command: &Command,
        limits: &Supervision,
        stop: CancellationToken,
    ) -> io::Result<Told> {
        let order = Order::new(command, limits).encode()?;
        let input = command.stdin.as_deref();
        let told = {
            let Self {
                stdin,
                reports,
                ordered,
                ..
            } = &mut self;
            let speaking = async {
                if let Some(pipe) = stdin {
                    // A guard that does not listen any more is dying; its reports say so.
                    speak(pipe, &order, input, ordered, &stop).await.ok();
                }
                std::future::pending().await
            };
            // A guard that is stopped (by its own job, say) would hold the run for ever.
            let ending = limits.grace.saturating_add(UNDER_KILL + SLACK);
            let overdue = async {
                stop.cancelled().await;
                used_up(ending).await;
            };
            tokio::select! {
                biased;
                told = listen(reports) => told,
                told = speaking => told,
                () = used_up(limits.budget.saturating_add(ending)) => Told::Nothing,
                () = overdue => Told::Nothing,
            }
        };
        if matches!(told, Told::Nothing)
            && let Some(guard) = &mut self.child
        {
            // It is dead, or as good as that.
            guard.kill().ok();
            orphans::end(guard).await;
            // Who left its session. What stays is met again before anything of its is used.
            drop(remains::end(&limits.folder).await);
        }
        self.stdin = None;
        if let Some(exited) = self.reap() {
            drop(timeout(EXIT, exited).await);
        }
        Ok(told)
    }

    /// Waits for the guard in a thread of its own, which an engine that ends does not wait for.
    fn reap(&mut self) -> Option<oneshot::Receiver<()>> {
        let mut child = self.child.take()?;
        let (sender, exited) = oneshot::channel();
        std::thread::Builder::new()
            .name("run-loop-reap".to_owned())
            .spawn(move || {
                child.wait().ok();
                // Nobody listens any more when the job was dropped.
                sender.send(()).ok();
            })
            .ok()
            .map(|_| exited)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if self.ordered
            && let Some(pipe) = &mut self.stdin
        {
            // One byte into a pipe that holds at most one: this does not wait.
            let mut context = Context::from_waker(Waker::noop());
            let kill = [Request::Kill.byte()];
            drop(Pin::new(pipe).poll_write(&mut context, &kill));
        }
        // The end of the pipe says the same to a guard that is late.
        self.stdin = None;
        drop(self.reap());
    }
}

/// Hands the order over, and requests after it.
async fn speak(
    pipe: &mut ChildStdin,
    order: &[u8],
    input: Option<&[u8]>,
    ordered: &mut bool,
    stop: &CancellationToken,
) -> io::Result<()> {
    pipe.write_all(order).await?;
    pipe.write_all(input.unwrap_or_default()).await?;
    *ordered = true;
    stop.cancelled().await;
    pipe.write_all(&[Request::Stop.byte()]).await
}

/// Hears what the guard tells, to the end of the job.
async fn listen(reports: &mut BufReader<ChildStdout>) -> Told {
    let mut line = Vec::new();
    loop {
        line.clear();
        match reports.read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Told::Nothing,
        }
        match serde_json::from_slice(&line) {
            Ok(Report::Started { .. }) => {}
            Ok(Report::Refused { message }) => return Told::Refused(message),
            Ok(Report::Ended { outcome }) => return Told::Ended(outcome),
            Err(_) => return Told::Nothing,
        }
    }
}

//! The client's own life: from its command line to its exit code.
//!
//! It exits with 0 where the agent ended its turn by itself and went well, with 143 where it was told to
//! stop, else with 1; why is in what it took down.

use std::ffi::OsString;
use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::timeout;

use crate::agent::acp::order::Order;
use crate::agent::acp::record::Record;
use crate::agent::acp::session::{End, Over, Talk};
use crate::domain::trouble::Trouble;
use crate::process::command::Command;
use crate::process::partner::Partner;

/// How long an agent may take to exit when nobody says anything more to it; some write their session
/// down, and some never do.
const EXIT: Duration = Duration::from_secs(5);

/// What a shell exits with for a program that SIGTERM ended.
const TERMINATED: u8 = 143;

/// Runs a client: the whole life of a process that was started as `run-loop __acp`.
#[must_use]
pub fn main(argv: &[OsString]) -> ExitCode {
    let Some(order) = Order::parse(argv.get(2..).unwrap_or_default()) else {
        return ExitCode::from(2);
    };
    // For people who look at processes; it has no say.
    drop(fs_err::write("/proc/self/comm", "run-loop-acp"));
    let mut record = Record::default();
    let code = match run(&order, &mut record) {
        Ok(code) => code,
        Err(error) => {
            record.failed(Some(Trouble::Usage), &error.to_string());
            1
        }
    };
    ExitCode::from(if code == 0 && record.is_broken {
        1
    } else {
        code
    })
}

fn run(order: &Order, record: &mut Record) -> std::io::Result<u8> {
    let mut prompt = String::new();
    std::io::stdin().read_to_string(&mut prompt)?;
    let directory = std::env::current_dir()?;
    let mut command = Command::new(&order.program, directory).args(&order.args);
    command.env = environment();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let code = runtime.block_on(life(order, &command, &prompt, record));
    runtime.shutdown_background();
    code
}

/// What this process was given, which is what the agent gets.
#[expect(
    clippy::disallowed_methods,
    reason = "a client is a process of its own; what it was given was picked by who started it"
)]
fn environment() -> crate::agent::environment::Variables {
    std::env::vars_os().collect()
}

async fn life(
    order: &Order,
    command: &Command,
    prompt: &str,
    record: &mut Record,
) -> std::io::Result<u8> {
    let started = Partner::start(command).map_err(|error| {
        let program = order.program.display();
        std::io::Error::other(format!("{program} could not be started: {error}"))
    })?;
    let mut child = started.child;
    let mut talk = Talk::new(started.to, started.from, order, record)?;
    let over = talk.whole(&command.directory, prompt).await;
    Ok(match over {
        Ok(()) => {
            // One that stays is ended by the guard: its turn is over.
            let End { status, torn } = talk.listen_to_the_end(&mut child, EXIT).await;
            record.ended(status);
            let failed = status.filter(|status| !status.success());
            if let Some(status) = failed {
                record.failed(None, &format!("it ended its turn, and then with {status}"));
            }
            if let Some(torn) = &torn {
                record.failed(Some(Trouble::Unfinished), torn);
            }
            u8::from(failed.is_some() || torn.is_some())
        }
        Err(Over::Told) => 1,
        Err(Over::Failed { trouble, message }) => {
            record.failed(trouble, &message);
            1
        }
        Err(Over::Gone) => {
            record.failed(Some(Trouble::Unfinished), &gone(&mut child).await);
            1
        }
        Err(Over::Terminated) => {
            record.failed(Some(Trouble::Aborted), "it was told to stop");
            TERMINATED
        }
    })
}

/// How an agent went that says nothing more.
async fn gone(child: &mut Child) -> String {
    match timeout(EXIT, child.wait()).await {
        Ok(Ok(status)) => format!("it ended before its turn did, with {status}"),
        Ok(Err(_)) | Err(_) => "it closed its output before its turn ended".to_owned(),
    }
}

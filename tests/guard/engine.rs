//! An engine that can be killed: this test program again, as a process of its own.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use run_loop::process::supervise::supervise;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, NEVER};
use crate::support::guard;

const FOLDER: &str = "TEST_ENGINE_FOLDER";
const BUDGET: &str = "TEST_ENGINE_BUDGET";

/// A process that supervises the program of a bench.
pub(crate) struct Engine {
    child: Child,
}

impl Engine {
    /// Starts the engine; the script is that of [`Bench::script`].
    pub(crate) fn start(bench: &Bench, body: &str) -> Self {
        Self::with_budget(bench, body, NEVER)
    }
    pub(crate) fn with_budget(bench: &Bench, body: &str, budget: Duration) -> Self {
        bench.script(body);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "engine::as_an_engine", "--nocapture"])
            .env(FOLDER, bench.path())
            .env(BUDGET, budget.as_millis().to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child }
    }
    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }
    /// SIGKILL.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
    /// Waits for its own end; what it saw.
    pub(crate) fn saw(mut self, bench: &Bench) -> String {
        self.child.wait().unwrap();
        std::fs::read_to_string(bench.path().join("saw")).unwrap()
    }
}

/// No test of its own: the engine of [`Engine::start`].
#[tokio::test]
async fn as_an_engine() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = Path::new(&folder);
    let budget = std::env::var(BUDGET).unwrap().parse().unwrap();
    let mut limits = run_loop::process::supervise::Supervision::new(
        &guard(),
        Duration::from_millis(budget),
        &folder.join("capture"),
    );
    limits.grace = Duration::from_millis(500);
    let command = run_loop::process::command::Command::new(folder.join("program"), folder)
        .env("PATH", "/usr/bin:/bin");
    let done = supervise(&command, limits, CancellationToken::new()).await;
    let stdout = String::from_utf8_lossy(done.stdout.whole().unwrap_or(b"-")).into_owned();
    let saw = format!("{:?} gone: {} stdout: {stdout}", done.ended, done.gone);
    std::fs::write(folder.join("saw"), saw).unwrap();
}

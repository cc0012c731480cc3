//! A temporary folder with one program in it, to be supervised.

use std::path::{Path, PathBuf};
use std::time::Duration;

use run_loop::process::command::Command;
use run_loop::process::supervise::{Supervised, Supervision, supervise};
use tokio_util::sync::CancellationToken;

use crate::support::agents::{Point, executable};
use crate::support::guard;

/// Longer than any test may take: a test that needs it to pass has failed.
pub(crate) const NEVER: Duration = Duration::from_mins(10);

pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
    pub(crate) fn point(&self, name: &str) -> Point {
        Point::new(self.path(), name)
    }
    pub(crate) fn script(&self, body: &str) -> Command {
        let program = executable(self.path(), "program", &format!("#!/bin/bash\n{body}\n"));
        Command::new(program, self.path()).env("PATH", "/usr/bin:/bin")
    }
    pub(crate) fn limits(&self, budget: Duration) -> Supervision {
        Supervision::new(&guard(), budget, &self.capture())
    }
    pub(crate) fn capture(&self) -> PathBuf {
        self.path().join("capture")
    }
    pub(crate) async fn run(&self, body: &str) -> Supervised {
        supervise(
            &self.script(body),
            self.limits(NEVER),
            CancellationToken::new(),
        )
        .await
    }
}

//! A program that is talked with while it runs, over its standard input and output.

use std::io;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::process::command::Command;

/// A program that runs, and both ends of the talk. Its standard error is ours.
#[derive(Debug)]
pub(crate) struct Partner {
    /// The program.
    pub(crate) child: Child,
    /// What is said to it.
    pub(crate) to: ChildStdin,
    /// What it says.
    pub(crate) from: ChildStdout,
}

impl Partner {
    /// Starts a program. For a process that a guard holds: whatever it leaves, the guard ends.
    pub(crate) fn start(command: &Command) -> io::Result<Self> {
        let mut child = tokio::process::Command::from(command.prepared())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let no_pipe = || io::Error::other("a program without pipes");
        let to = child.stdin.take().ok_or_else(no_pipe)?;
        let from = child.stdout.take().ok_or_else(no_pipe)?;
        Ok(Self { child, to, from })
    }
}

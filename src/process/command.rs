//! A program to run, and running it to its end with its output captured in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use crate::process::confine::Confine;

/// A program with everything it gets; the environment holds only what was put there.
#[derive(Debug, Clone)]
pub struct Command {
    /// The program; absolute, or found on the `PATH` of `env`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Its working directory.
    pub directory: PathBuf,
    /// What it reads on standard input; `None` is the null device.
    pub stdin: Option<Vec<u8>>,
    /// What it may not reach. Only a guard's program can be confined.
    pub confine: Option<Confine>,
}

impl Command {
    /// A program in a directory, with no arguments and an empty environment.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            directory: directory.into(),
            stdin: None,
            confine: None,
        }
    }
    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }
    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }
    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }
    /// Sets what it reads on standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }
    /// The directory it runs in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Runs it to its end. For short tools of ours (git): no time limit, output in memory.
    ///
    /// # Errors
    /// When the program cannot be started or its pipes cannot be served.
    pub fn output(&self) -> io::Result<Output> {
        self.run(Stdio::piped())
    }

    /// Runs it to its end with its standard output going into a file: for output of any size.
    /// The returned `stdout` is empty.
    ///
    /// # Errors
    /// When the program cannot be started or its pipes cannot be served.
    pub fn output_into(&self, file: std::fs::File) -> io::Result<Output> {
        self.run(Stdio::from(file))
    }

    fn run(&self, stdout: Stdio) -> io::Result<Output> {
        let mut child = self
            .prepared()
            .stdin(if self.stdin.is_some() {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()?;
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                if let (Some(mut pipe), Some(bytes)) = (stdin, &self.stdin) {
                    // A program that ends without reading everything is not our failure.
                    drop(pipe.write_all(bytes));
                }
            });
            let errors = scope.spawn(move || {
                let mut text = Vec::new();
                stderr
                    .map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut text))
                    .map(|_| text)
            });
            let mut stdout = Vec::new();
            if let Some(mut pipe) = child.stdout.take() {
                pipe.read_to_end(&mut stdout)?;
            }
            let joined = errors.join();
            drop(writer.join());
            let stderr =
                joined.map_err(|_| io::Error::other("the reader of stderr panicked"))??;
            let status = child.wait()?;
            Ok(Output {
                status,
                stdout,
                stderr,
            })
        })
    }

    /// The program for the standard library, its pipes not yet set.
    #[expect(
        clippy::disallowed_methods,
        reason = "this module is the home of processes"
    )]
    pub(crate) fn prepared(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.directory);
        command
    }
}

/// What a finished program printed, and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: Vec<u8>,
}

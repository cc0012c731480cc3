//! `run-loop demo`: the whole story on a throw-away repository, with scripted agents.
//!
//! Every step is this very program started as a user would start it; the agents are this program
//! too, started by the engine like any other (`__demo-agent`). Nothing of the user's is read or
//! written: the repository, the configuration and the cache lie in one temporary folder.

pub(crate) mod agent;
mod repository;
mod story;

use std::path::{Path, PathBuf};

use crate::cli::args::DemoArgs;
use crate::cli::environment::Environment;
use crate::cli::{locate, output};
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::process::command::Command;

/// Runs the story; ends 0 when every step ended as told.
///
/// # Errors
/// When the throw-away repository cannot be made, or a step ends otherwise than told.
pub(crate) fn run(args: &DemoArgs, environment: &Environment) -> Result<Exit, Failure> {
    // Missing or too old, it is told as every command tells it.
    locate::git(environment)?;
    let mut folder = tempfile::Builder::new()
        .prefix("run-loop-demo-")
        .tempdir()
        .map_err(|error| {
            let message = format!("the demo's folder could not be made: {error}");
            Failure::new(Code::StateUnwritable, message).next(["df", "-h"])
        })?;
    let root = folder
        .path()
        .canonicalize()
        .map_err(|error| broken(&error.to_string()))?;
    let stage = Stage {
        program: own_program()?,
        root,
        environment,
    };
    stage.repository()?;
    for chapter in story::CHAPTERS {
        stage.play(chapter)?;
    }
    if args.keep {
        folder.disable_cleanup(true);
        output::data(&format!(
            "\nThe demo's repository stays in {}.\n",
            stage.root.display()
        ));
    } else {
        output::data("\nThe demo's repository is gone; nothing of yours was touched.\n");
    }
    Ok(Exit::Approved)
}

/// Where the demo plays.
struct Stage<'a> {
    program: PathBuf,
    root: PathBuf,
    environment: &'a Environment,
}

impl Stage<'_> {
    fn play(&self, chapter: &story::Chapter) -> Result<(), Failure> {
        output::data(&format!("\n## {}\n\n", chapter.title));
        if let Some((message, path, content)) = chapter.edit {
            self.write(path, content)?;
            if let Some(message) = message {
                self.git(&["commit", "--quiet", "--all", "--message", message])?;
            }
        }
        output::data(&format!("$ run-loop {}\n", chapter.args.join(" ")));
        // One stream, as a terminal shows it.
        let command = self
            .program_command(Path::new("/bin/sh"))
            .args(["-c", "exec \"$0\" \"$@\" 2>&1"])
            .arg(&self.program)
            .args(chapter.args);
        let ran = command.output().map_err(|error| {
            broken(&format!(
                "{} could not be started: {error}",
                self.program.display()
            ))
        })?;
        // The temporary folder's name is noise; the reader sees a plain one.
        let place = self.root.display().to_string();
        output::data(&String::from_utf8_lossy(&ran.stdout).replace(&place, "/demo"));
        let code = ran.status.code();
        output::data(&format!(
            "(exit {})\n",
            code.map_or_else(|| "signal".to_owned(), |code| code.to_string())
        ));
        if code == Some(i32::from(chapter.exit.code())) {
            return Ok(());
        }
        Err(broken(&format!(
            "the step was to end {}, but ended {code:?}",
            chapter.exit.code()
        )))
    }

    /// A program of the demo's: only `PATH`, and a home of its own.
    fn program_command(&self, program: &Path) -> Command {
        let mut command = Command::new(program, self.root.join("project"))
            .env("PATH", self.environment.path())
            .env("HOME", self.root.join("home"));
        for name in ["TMPDIR", "NO_COLOR", "LANG"] {
            if let Some(value) = self.environment.get(name) {
                command = command.env(name, value);
            }
        }
        command
    }
}

fn own_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| broken(&format!("this program is not found: {error}")))
}

fn broken(message: &str) -> Failure {
    Failure::new(Code::Internal, format!("the demo cannot go on: {message}"))
}

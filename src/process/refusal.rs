//! Why a program could not be started, in words that help.

use std::io;
use std::path::Path;

use rustix::io::Errno;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::process::command::Command;
use crate::process::unix::NOT_CONFINED;

/// What a failed start means.
pub(crate) fn not_started(command: &Command, error: &io::Error) -> Failure {
    let program = command.program.display().to_string();
    let Some(errno) = Errno::from_io_error(error) else {
        let message = format!("{program} could not be started: {error}");
        return Failure::new(Code::Internal, message);
    };
    if !command.directory.is_dir() {
        let folder = command.directory.display().to_string();
        let message = format!("{program} could not be started: {folder} is no folder");
        return Failure::new(Code::Internal, message).next(["ls", "-ld", "--", &folder]);
    }
    match errno {
        NOT_CONFINED => Failure::new(
            Code::Internal,
            format!("{program} was not started: what should confine it does not hold here"),
        )
        .next(["run-loop", "doctor"]),
        Errno::NOENT if is_file(&command.program) => runnable(format!(
            "{program} could not be started: the interpreter that its first line names does not exist"
        ))
        .next(["head", "-n", "1", "--", &program]),
        Errno::NOENT | Errno::NOTDIR => runnable(format!("{program} does not exist"))
            .next(["run-loop", "config", "show", "--origin"]),
        Errno::ACCESS | Errno::PERM if is_file(&command.program) => runnable(format!(
            "{program} is not executable, or its interpreter is not"
        ))
        .next(["chmod", "+x", "--", &program]),
        Errno::ACCESS | Errno::PERM => runnable(format!("{program} may not be executed"))
            .next(["ls", "-ld", "--", &program]),
        Errno::NOEXEC => runnable(format!(
            "{program} is no program that this system runs; a script needs a first line such as #!/bin/sh"
        ))
        .next(["head", "-n", "1", "--", &program]),
        Errno::TOOBIG => runnable(format!(
            "{program} could not be started: its arguments and environment are larger than the system allows"
        ))
        .next(["run-loop", "config", "show", "--origin"]),
        Errno::TXTBSY => runnable(format!(
            "{program} could not be started: something still writes to it"
        ))
        .next(["ls", "-l", "--", &program]),
        errno => Failure::new(
            Code::Internal,
            format!("{program} could not be started: {errno}"),
        ),
    }
}

fn runnable(message: String) -> Failure {
    Failure::new(Code::AgentNotRunnable, message)
}

fn is_file(path: &Path) -> bool {
    path.is_file()
}

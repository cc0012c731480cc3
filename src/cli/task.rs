//! The positional task: white space, or after `--`; any other single word is a mistyped command.

use std::ffi::OsString;

use clap::CommandFactory as _;

use crate::cli::args::Cli;
use crate::cli::args::review::LoopArgs;
use crate::config::nearest::{closest, nearest};
use crate::domain::code::Code;
use crate::domain::failure::Failure;

/// The one task of the command line.
///
/// # Errors
/// For a single word, which may be a typo of a command and must not start a loop; for more than
/// one argument; for a blank one.
pub(crate) fn single(args: &LoopArgs, argv: &[OsString]) -> Result<Option<String>, Failure> {
    let task = match (args.task.as_slice(), args.task_after.as_slice()) {
        ([], []) => return Ok(None),
        ([], [task]) => task,
        ([task], []) if task.trim().is_empty() => task,
        ([task], []) if task.trim().contains(char::is_whitespace) => task,
        ([word], []) => return Err(not_a_task(word, argv)),
        ([word, ..], []) if !word.contains(char::is_whitespace) && resembles(word) => {
            return Err(not_a_task(word, argv));
        }
        (before, after) => {
            let words = [before, after].concat().join(" ");
            return Err(Failure::new(
                Code::NotATask,
                format!(
                    "the task is {} arguments; it must be one, in quotes",
                    before.len() + after.len()
                ),
            )
            .next(["run-loop", &words]));
        }
    };
    if task.trim().is_empty() {
        return Err(Failure::new(Code::NotATask, "the task is blank"));
    }
    Ok(Some(task.clone()))
}

fn not_a_task(word: &str, argv: &[OsString]) -> Failure {
    let names = names();
    let name = closest(word, names.iter().map(String::as_str)).unwrap_or("--help");
    let message = if name == word {
        format!("`{word}` is a command; it stands before its options")
    } else {
        format!(
            "{word:?} is neither a command nor a task (a task has white space, or follows `--`); \
             the nearest command is `{name}`"
        )
    };
    let rest = argv.iter().skip(1).filter(|arg| *arg != word);
    Failure::new(Code::NotATask, message).next(
        ["run-loop".to_owned(), name.to_owned()]
            .into_iter()
            .chain(rest.map(|arg| arg.to_string_lossy().into_owned())),
    )
}

/// Whether a word looks like one of the commands.
fn resembles(word: &str) -> bool {
    nearest(word, names().iter().map(String::as_str)).is_some()
}

fn names() -> Vec<String> {
    Cli::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect()
}

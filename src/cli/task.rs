//! The positional task: white space, or after `--`; any other single word is a mistyped command.

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser as _};

use crate::cli::args::Cli;
use crate::cli::args::review::LoopArgs;
use crate::cli::options;
use crate::config::nearest::nearest;
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
        ([word, rest @ ..], []) if word == HELP => return Err(help(rest.first())),
        ([word], []) => return Err(not_a_task(word, argv)),
        ([word, ..], []) if is_bare(word) && resembles(word) => {
            return Err(not_a_task(word, argv));
        }
        ([one, two], []) if is_bare(one) && is_bare(two) => return Err(no_sentence(one, two)),
        (before, after) => {
            let words = [before, after].concat();
            let message = format!(
                "the task is {} arguments; it must be one, in quotes",
                words.len()
            );
            return Err(Failure::new(Code::NotATask, message).next(in_quotes(&words, argv)));
        }
    };
    if task.trim().is_empty() {
        return Err(Failure::new(Code::NotATask, "the task is blank"));
    }
    Ok(Some(task.clone()))
}

/// What other programs call their help; ours is an option.
const HELP: &str = "help";

fn help(about: Option<&String>) -> Failure {
    let name = about.filter(|word| names().contains(word));
    Failure::new(
        Code::NotATask,
        "`help` is no command; `--help` is an option of each",
    )
    .next(
        ["run-loop"]
            .into_iter()
            .chain(name.map(String::as_str))
            .chain(["--help"]),
    )
}

/// Two words may as well be a command of another program: nothing that writes is proposed for them.
fn no_sentence(one: &str, two: &str) -> Failure {
    let message = format!(
        "`{one}` is no command, and `{one} {two}` is no task, which is one argument, in quotes"
    );
    Failure::new(Code::NotATask, message).next(["run-loop", "--help"])
}

fn not_a_task(word: &str, argv: &[OsString]) -> Failure {
    let names = names();
    let names = names.iter().map(String::as_str);
    let Some(name) = nearest(word, names) else {
        let message = format!(
            "{word:?} is neither a command nor a task (a task has white space, or follows `--`)"
        );
        return Failure::new(Code::NotATask, message).next(["run-loop", "--help"]);
    };
    let message = if name == word {
        format!("`{word}` is a command; it stands before its options")
    } else {
        format!(
            "{word:?} is neither a command nor a task (a task has white space, or follows `--`); \
             the nearest command is `{name}`"
        )
    };
    let mut line = options::line(argv);
    if let Some(place) = places(argv).first() {
        line.remove(*place);
    }
    line.insert(1, name.to_owned());
    if Cli::try_parse_from(&line).is_err() {
        // Options of the loop that the command does not have.
        line = vec!["run-loop".to_owned(), name.to_owned(), "--help".to_owned()];
    }
    Failure::new(Code::NotATask, message).next(line)
}

/// The line as it is, with the words of the task as one argument where the first of them stands.
fn in_quotes(words: &[String], argv: &[OsString]) -> Vec<String> {
    let places = places(argv);
    let mut line = Vec::new();
    for (place, word) in options::line(argv).into_iter().enumerate() {
        if places.first() == Some(&place) {
            line.push(words.join(" "));
        } else if !places.contains(&place) {
            line.push(word);
        }
    }
    line
}

/// Where the words stand that are no option and no option's value.
fn places(argv: &[OsString]) -> Vec<usize> {
    let command = Cli::command();
    let takes_value = |name: &str| {
        let mut arguments = command.get_arguments();
        arguments.any(|it| it.get_long() == Some(name) && it.get_action().takes_values())
    };
    let mut found = Vec::new();
    let (mut place, mut only_words) = (1, false);
    while let Some(word) = argv.get(place) {
        let word = word.to_string_lossy();
        if only_words || !word.starts_with('-') {
            found.push(place);
        } else if word == "--" {
            only_words = true;
        } else if word.strip_prefix("--").is_some_and(takes_value) {
            // Its value is the next word; `--name=value` is one.
            place += 1;
        }
        place += 1;
    }
    found
}

fn is_bare(word: &str) -> bool {
    !word.contains(char::is_whitespace)
}

/// Whether a word looks like one of the commands.
fn resembles(word: &str) -> bool {
    nearest(word, names().iter().map(String::as_str)).is_some()
}

fn names() -> Vec<String> {
    Cli::command()
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(|command| command.get_name().to_owned())
        .collect()
}

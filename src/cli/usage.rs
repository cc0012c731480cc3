//! What clap refuses, in our form: a code, what was found, one command to run next.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::args::Format;
use crate::cli::environment::Environment;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// Prints help, version or the failure, and says how the command ends.
pub(crate) fn end(error: &clap::Error, argv: &[OsString]) -> Exit {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        output::data(&error.render().ansi().to_string());
        // An answer that nobody got is none.
        let Err(lost) = output::complete() else {
            return Exit::Approved;
        };
        output::failure(&lost, asked_format(argv));
        return lost.code.exit();
    }
    let failure = failure(error, argv);
    output::failure(&failure, asked_format(argv));
    failure.code.exit()
}

/// A command line that does not parse still says how it wants its failure, and so does its variable.
fn asked_format(argv: &[OsString]) -> Format {
    let is_option = |arg: &OsString| arg.to_string_lossy().starts_with("--format");
    if !argv.iter().any(is_option) {
        let environment = Environment::capture().ok();
        let format = environment.and_then(|environment| output::format(None, &environment).ok());
        return format.unwrap_or(Format::Human);
    }
    let json = |value: &OsString| value == "json" || value == "ndjson";
    let separate = argv
        .windows(2)
        .any(|pair| pair[0] == "--format" && json(&pair[1]));
    let joined = argv
        .iter()
        .any(|arg| arg == "--format=json" || arg == "--format=ndjson");
    if separate || joined {
        Format::Json
    } else {
        Format::Human
    }
}

fn failure(error: &clap::Error, argv: &[OsString]) -> Failure {
    let kind = error.kind();
    let wrong_value = matches!(kind, ErrorKind::InvalidValue | ErrorKind::ValueValidation);
    let code = if wrong_value && has_value(error) {
        Code::BadValue
    } else if kind == ErrorKind::ArgumentConflict {
        Code::OptionsConflict
    } else {
        Code::BadArguments
    };
    Failure::new(code, message(error)).next(next(error, argv))
}

/// Whether there is a value at all: clap has one kind for a wrong one and for a missing one.
fn has_value(error: &clap::Error) -> bool {
    error
        .get(ContextKind::InvalidValue)
        .and_then(text)
        .is_some_and(|value| !value.is_empty())
}

/// Clap's first paragraph, in one line, without its prefix and its usage.
fn message(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "this command needs a sub-command".to_owned();
    }
    let text = error.render().to_string();
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .filter(|line| !line.starts_with("tip: to pass") && !line.starts_with("For more"))
        .collect();
    let first = lines.join("; ");
    let first = first.strip_prefix("error: ").unwrap_or(&first);
    first.replace(":; ", ": ")
}

/// The corrected command line where clap has a suggestion, else the help of the command.
fn next(error: &clap::Error, argv: &[OsString]) -> Vec<String> {
    let pairs = [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
    ];
    let replacement = pairs
        .into_iter()
        .find_map(|(wrong, right)| Some((text(error.get(wrong)?)?, text(error.get(right)?)?)));
    let words = argv
        .iter()
        .skip(1)
        .map(|arg| arg.to_string_lossy().into_owned());
    let mut command = vec!["run-loop".to_owned()];
    if let Some((wrong, right)) = replacement {
        let mut found = false;
        let corrected: Vec<String> = words
            .map(|word| {
                let hit = if word == wrong {
                    Some(right.clone())
                } else {
                    word.split_once('=').and_then(|(name, value)| {
                        (name == wrong)
                            .then(|| format!("{right}={value}"))
                            .or_else(|| (value == wrong).then(|| format!("{name}={right}")))
                    })
                };
                found |= hit.is_some();
                hit.unwrap_or(word)
            })
            .collect();
        if found {
            command.extend(corrected);
            return command;
        }
    }
    let first = argv.get(1).and_then(|arg| arg.to_str());
    if let Some(name) = first.filter(|name| is_command(name)) {
        command.push(name.to_owned());
    }
    command.push("--help".to_owned());
    command
}

fn is_command(name: &str) -> bool {
    use clap::CommandFactory as _;
    crate::cli::args::Cli::command()
        .get_subcommands()
        .any(|command| command.get_name() == name && !command.is_hide_set())
}

/// The first text of a context; other kinds name nothing to replace.
fn text(value: &ContextValue) -> Option<String> {
    if let ContextValue::String(text) = value {
        return Some(text.clone());
    }
    if let ContextValue::Strings(texts) = value {
        return texts.first().cloned();
    }
    None
}

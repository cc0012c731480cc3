//! Where text leaves the program: data to stdout, the rest to stderr, and failures in one form.

use std::io::Write as _;

use clap::ValueEnum as _;

use crate::cli::args::Format;
use crate::cli::environment::{Environment, FORMAT};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::path::is_invisible;

/// The format to use: the option, else the variable, else text for people.
///
/// # Errors
/// When the variable holds no format.
pub(crate) fn format(given: Option<Format>, environment: &Environment) -> Result<Format, Failure> {
    if let Some(format) = given {
        return Ok(format);
    }
    match environment.text(FORMAT)? {
        None => Ok(Format::Human),
        Some(text) => Format::from_str(text, false).map_err(|_| {
            Failure::new(
                Code::BadValue,
                format!("the variable RUN_LOOP_FORMAT is {text:?}, not human, json or ndjson"),
            )
            .next(["unset", "RUN_LOOP_FORMAT"])
        }),
    }
}

/// Writes data to stdout. A reader that went away is not a failure of ours.
pub fn data(text: &str) {
    let mut stdout = anstream::stdout().lock();
    drop(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    );
}

/// Writes a remark to stderr, a line of its own.
pub fn note(text: &str) {
    drop(writeln!(
        anstream::stderr().lock(),
        "run-loop: {}",
        printable(text)
    ));
}

/// Writes lines about what goes on to stderr; they are safe for a terminal already.
pub fn progress(lines: &str) {
    drop(writeln!(anstream::stderr().lock(), "{lines}"));
}

/// Writes a failure to stderr: code, what happened, and one command to run next.
pub fn failure(failure: &Failure, format: Format) {
    let text = match format {
        Format::Human => human(failure),
        Format::Json | Format::Ndjson => json(failure),
    };
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

fn human(failure: &Failure) -> String {
    let (red, bold, plain) = (
        anstyle::AnsiColor::Red.on_default().bold(),
        anstyle::Style::new().bold(),
        anstyle::Reset,
    );
    format!(
        "{red}error {}{plain}: {}\n{bold}next{plain}: {}\n",
        failure.code,
        printable(&failure.message),
        printable(&failure.next.to_string()),
    )
}

fn json(failure: &Failure) -> String {
    let document = serde_json::json!({
        "code": failure.code,
        "exit": failure.code.exit().code(),
        "message": failure.message,
        "next": failure.next,
    });
    format!("{document}\n")
}

/// Text without what could write to a terminal in its own way: names and messages of the
/// reviewed tree end up here. Line breaks of ours stay.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if (c.is_control() && c != '\n') || is_invisible(c) {
            safe.extend(c.escape_unicode());
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_cannot_write_to_the_terminal() {
        let hostile = Failure::new(Code::BadValue, "\u{1b}[2Jgone\u{202e}");
        let text = anstream::adapter::strip_str(&human(&hostile)).to_string();
        assert_eq!(
            text,
            "error RL0013: \\u{1b}[2Jgone\\u{202e}\nnext: run-loop explain RL0013\n"
        );
    }

    #[test]
    fn a_failure_in_json_has_its_next_command_as_an_array() {
        let failure = Failure::new(Code::EmptyPanel, "no reviewer").next(["run-loop", "a b"]);
        let value: serde_json::Value = serde_json::from_str(&json(&failure)).unwrap();
        assert_eq!(
            value,
            serde_json::json!({"code": "RL0007", "exit": 2, "message": "no reviewer",
                               "next": ["run-loop", "a b"]})
        );
    }
}

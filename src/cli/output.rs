//! Where text leaves the program: data to stdout, the rest to stderr, and failures in one form.

use std::io::{self, Write};
use std::sync::OnceLock;

use clap::ValueEnum as _;

use crate::cli::args::Format;
use crate::cli::environment::{Environment, FORMAT};
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::report::text;

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
            .next(FORMAT.unset())
        }),
    }
}

/// Writes data to stdout.
pub fn data(text: &str) {
    let mut stdout = stdout();
    drop(
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush()),
    );
}

/// A document for programs as one line.
pub(crate) fn document(value: &serde_json::Value) -> String {
    text::json(&value.to_string()) + "\n"
}

/// Why something could not be written to stdout, the first time. There is one stdout in a process, and
/// what it lost is asked for once, at the end.
static LOST: OnceLock<String> = OnceLock::new();

/// Standard output, which keeps in mind what could not be written. A reader that went away is not a
/// failure of ours; a full disk is, or whoever reads the file later takes nothing for an answer.
pub(crate) fn stdout() -> impl Write {
    Stdout(anstream::stdout().lock())
}

struct Stdout<W>(W);

impl<W: Write> Write for Stdout<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).inspect_err(lose)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().inspect_err(lose)
    }
}

fn lose(error: &io::Error) {
    if !matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::Interrupted
    ) {
        LOST.get_or_init(|| error.to_string());
    }
}

/// Whether everything was written that a command wanted to.
///
/// # Errors
/// `OutputLost`.
pub(crate) fn complete() -> Result<(), Failure> {
    match LOST.get() {
        None => Ok(()),
        Some(error) => {
            let message = format!("standard output is not complete: {error}");
            Err(Failure::new(Code::OutputLost, message).next(["df", "-h", "."]))
        }
    }
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
    text::json(&document.to_string()) + "\n"
}

/// Text without what could write to a terminal in its own way, or command a CI system: names and messages
/// of the reviewed tree end up here. Line breaks of ours stay.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = text::block(text);
    if text.ends_with('\n') {
        safe.push('\n');
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

    /// A finding's title, a path or a branch's name in a failure commands no CI system.
    #[test]
    fn a_failure_cannot_command_a_ci_system() {
        let hostile = Failure::new(Code::FindingsStand, "F-1 ##[error]x\n::set-env name=A::b")
            .next(["git", "switch", "##vso[task.x]"]);
        let text = anstream::adapter::strip_str(&human(&hostile)).to_string();
        assert_eq!(
            text,
            "error RL0401: F-1 ## [error]x\n\\::set-env name=A::b\nnext: git switch $'\\043\\043vso[task.x]'\n"
        );
        let text = json(&hostile);
        assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
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

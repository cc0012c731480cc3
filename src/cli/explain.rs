//! `run-loop explain CODE`.

use crate::cli::args::ExplainArgs;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// Prints a code's page, or every code with its first line.
pub(crate) fn run(args: &ExplainArgs) -> Result<Exit, Failure> {
    let Some(text) = &args.code else {
        output::data(&list());
        return Ok(Exit::Approved);
    };
    let code = Code::parse(text).ok_or_else(|| unknown(text))?;
    output::data(code.page());
    Ok(Exit::Approved)
}

fn list() -> String {
    let mut text = String::new();
    for code in Code::ALL {
        let title = code.page().lines().next().unwrap_or_default();
        text.push_str(title.trim_start_matches("# "));
        text.push('\n');
    }
    text
}

fn unknown(text: &str) -> Failure {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let wanted = format!("RL{digits:0>4}");
    // A number that is near is about something else.
    let guess = Code::parse(&wanted).map(Code::as_str);
    let failure = Failure::new(
        Code::UnknownCode,
        format!("no reason code is named {text:?}"),
    );
    match guess {
        Some(code) => failure.next(["run-loop", "explain", code]),
        None => failure.next(["run-loop", "explain"]),
    }
}

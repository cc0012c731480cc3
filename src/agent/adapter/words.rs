//! A program's own words, as they may stand in a message.

use crate::agent::redact::Secrets;

/// Characters of them that are kept.
const WORDS: usize = 300;

/// The text without secrets, as it may stand in a message.
pub(super) fn shown(text: &str, secrets: &Secrets) -> String {
    // Before it is cut: half a value is found by nobody. And as one line, too: neither line ends nor
    // control characters hide one.
    let line = one_line(&secrets.taken_out_of_text(text));
    cut(secrets.taken_out_of_text(&line))
}

/// Text of a program as it may stand in a message: one line, no escapes, not long.
pub(crate) fn shortened(text: &str) -> String {
    cut(one_line(text))
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    line.chars().filter(|c| !c.is_control()).collect()
}

fn cut(line: String) -> String {
    if line.chars().count() <= WORDS {
        return line;
    }
    let head: String = line.chars().take(WORDS).collect();
    format!("{head}…")
}

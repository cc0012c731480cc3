//! Failures as people meet them: a code, what was found, and one command to run next.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::code::Code;
use crate::domain::path::is_invisible;

/// Why something did not go on, with what to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The reason code.
    pub code: Code,
    /// What happened and what was found, asserted after the fact; names paths and values.
    pub message: String,
    /// The one command that can be run next.
    pub next: NextCommand,
}

impl Failure {
    /// A failure whose next command is `run-loop explain CODE`.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            next: NextCommand::explain(code),
        }
    }
    /// The same failure with a better next command.
    #[must_use]
    pub fn next<S: Into<String>>(mut self, argv: impl IntoIterator<Item = S>) -> Self {
        self.next = NextCommand(argv.into_iter().map(Into::into).collect());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for Failure {}

/// A command as an array of arguments; shell-quoted where it is printed for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NextCommand(pub Vec<String>);

impl NextCommand {
    /// `run-loop explain CODE`: right wherever nothing more exact can be named.
    #[must_use]
    pub fn explain(code: Code) -> Self {
        Self(vec![
            "run-loop".to_owned(),
            "explain".to_owned(),
            code.to_string(),
        ])
    }
}

impl fmt::Display for NextCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, word) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:=@%+,~^".contains(&b);
            if !word.is_empty() && word.bytes().all(plain) && !word.starts_with('~') {
                f.write_str(word)?;
            } else if is_altered(word) {
                f.write_str(&escaped(word))?;
            } else {
                write!(f, "'{}'", word.replace('\'', r"'\''"))?;
            }
        }
        Ok(())
    }
}

/// Whether a word has something that is made harmless wherever text is printed: as it is, what is
/// printed would be another command.
fn is_altered(word: &str) -> bool {
    word.contains("##") || word.chars().any(|c| c.is_control() || is_invisible(c))
}

/// The word as bash, zsh and ksh read it back, in characters that nobody has to change.
fn escaped(word: &str) -> String {
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\'' | '\\' => text.extend(['\\', c]),
            '#' => text.push_str("\\043"),
            c if c.is_control() || is_invisible(c) => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Three digits at most are read: what follows is not taken for one.
                    let octal = format!("\\{byte:03o}");
                    text.push_str(&octal);
                }
            }
            c => text.push(c),
        }
    }
    text.push('\'');
    text
}

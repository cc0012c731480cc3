//! The end of what a command printed, made fit for a report that is published.
//!
//! The text comes from code under review: no escape sequence, no secret, no path of this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use crate::checks::secret::{SecretRules, assigned};
use crate::domain::path::is_invisible;
use crate::process::captured::CapturedFile;

/// How many bytes of a failed command's output are quoted.
const QUOTED: usize = 6 * 1024;
/// Where a quote begins to be read, so that a key that spans its start is still known.
const READ: usize = 256 * 1024;

/// What a command printed on one channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote {
    /// The text, perhaps empty.
    pub(crate) text: String,
    /// Bytes before it that are left out.
    pub(crate) before: u64,
}

/// Names of this machine that are written as a word, the longest first.
#[derive(Debug, Clone)]
pub(crate) struct Places(Vec<(String, &'static str)>);

impl Places {
    pub(crate) fn new(tree: &Path, scratch: &Path, env: &BTreeMap<OsString, OsString>) -> Self {
        let mut places = vec![
            (tree.display().to_string(), "<tree>"),
            (scratch.display().to_string(), "<job>"),
        ];
        if let Some(home) = env.get(std::ffi::OsStr::new("HOME")) {
            places.push((home.to_string_lossy().into_owned(), "~"));
        }
        places.retain(|(place, _)| place.len() > 1);
        places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        Self(places)
    }
    fn hide(&self, text: String) -> String {
        self.0
            .iter()
            .fold(text, |text, (place, word)| text.replace(place, word))
    }
}

/// The end of a captured output.
pub(crate) fn quote(captured: &CapturedFile, rules: &SecretRules, places: &Places) -> Quote {
    let whole = captured.whole();
    let end = whole.unwrap_or(&captured.last);
    let end = &end[end.len().saturating_sub(READ)..];
    let partial = (end.len() as u64) < captured.bytes_total;
    let clean = plain(&String::from_utf8_lossy(end));
    let clean = rules.redact(&clean);
    let lines = clean.lines().map(|line| {
        // The header of a key may have been cut off with what came before.
        if partial && is_key_line(line) {
            "[redacted: perhaps a part of a key]".to_owned()
        } else {
            assigned::redact(line)
        }
    });
    let clean = places.hide(lines.collect::<Vec<_>>().join("\n"));
    let text = tail(&clean);
    Quote {
        before: if text.len() == clean.len() && !partial {
            0
        } else {
            captured
                .bytes_total
                .saturating_sub(text.len() as u64)
                .max(1)
        },
        text: text.to_owned(),
    }
}

/// A text on one line without its secrets, cut after so many bytes.
pub(crate) fn line(text: &str, rules: &SecretRules, cap: usize) -> String {
    let text = plain(text);
    let lines: Vec<String> = text.lines().map(assigned::redact).collect();
    let text = rules.redact(&lines.join(" ")).replace('\t', " ");
    let cut = text.floor_char_boundary(cap);
    if cut < text.len() {
        format!("{}…", &text[..cut])
    } else {
        text
    }
}

fn is_key_line(line: &str) -> bool {
    line.len() >= 40
        && line
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
}

/// The last whole lines that fit.
fn tail(text: &str) -> &str {
    if text.len() <= QUOTED {
        return text;
    }
    let mut from = text.len() - QUOTED;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = &text[from..];
    tail.find('\n').map_or(tail, |end| &tail[end + 1..])
}

/// Text without escape sequences and control characters; of a line that was written over by
/// carriage returns, what was left standing.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' => {
                out.push(c);
                line_start = out.len();
            }
            '\r' => {
                if chars.peek() != Some(&'\n') {
                    out.truncate(line_start);
                }
            }
            '\t' => out.push(c),
            c if c.is_control() => {}
            c if is_invisible(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => {
            while let Some(&c) = chars.peek() {
                if c.is_control() {
                    return;
                }
                chars.next();
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    return;
                }
            }
        }
        // A string: to BEL or to the terminator; a line's end ends it too, so that text remains.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(&c) = chars.peek() {
                if c == '\n' {
                    return;
                }
                chars.next();
                if c == '\u{7}' {
                    return;
                }
                if c == '\u{1b}' {
                    if chars.peek() == Some(&'\\') {
                        chars.next();
                    }
                    return;
                }
            }
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_and_text_stays() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\n"), "red\n");
        assert_eq!(plain("\u{1b}]0;title\u{7}text"), "text");
        assert_eq!(plain("\u{1b}]8;;http://x\u{1b}\\link"), "link");
        assert_eq!(plain("10%\r50%\r100%\r\nok"), "100%\nok");
        assert_eq!(plain("a\u{202e}b\u{8}"), "a\\u{202e}b");
        assert_eq!(plain("\u{1b}"), "");
    }
}

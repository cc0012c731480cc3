//! Text from outside made harmless: the one place that all of it passes on its way to people.

use crate::domain::path::is_invisible;

/// One line: no escapes, no control characters, no line breaks, no command to a CI system.
#[must_use]
pub fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if c == '\n' || c == '\t' {
            safe.push(' ');
        } else {
            push(&mut safe, c);
        }
    }
    broken(&safe)
}

/// Several lines, each of them harmless.
#[must_use]
pub fn block(text: &str) -> String {
    let lines = text.trim_end().lines().map(|line| {
        let mut safe = String::with_capacity(line.len());
        line.chars().for_each(|c| push(&mut safe, c));
        broken(&safe)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// JSON with the same meaning in which no CI system finds a command: `##` stands in strings alone.
#[must_use]
pub fn json(json: &str) -> String {
    apart(json, "#\\u0023")
}

/// An escape is shown, not obeyed: what an agent wrote stays visible.
fn push(safe: &mut String, c: char) {
    if (c.is_control() && c != '\t') || is_invisible(c) {
        safe.extend(c.escape_unicode());
    } else {
        safe.push(c);
    }
}

/// Breaks what CI systems read as a command: a line that begins with `::`, and `##name[`.
fn broken(line: &str) -> String {
    let begin = line.trim_start();
    let indent = &line[..line.len() - begin.len()];
    let line = if begin.starts_with("::") {
        format!("{indent}\\{begin}")
    } else {
        line.to_owned()
    };
    apart(&line, "## ")
}

/// The text with something else for `##` where a name and `[` follow it.
fn apart(text: &str, instead: &str) -> String {
    let (mut safe, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("##") {
        let after = &rest[at + 2..];
        let name = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        if name.starts_with('[') {
            safe.push_str(&rest[..at]);
            safe.push_str(instead);
            rest = after;
        } else {
            // One of them alone: the next may begin a command.
            safe.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    safe + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_not_obeyed() {
        assert_eq!(line("a\u{1b}[31mb\u{7}"), "a\\u{1b}[31mb\\u{7}");
        assert_eq!(line("right\u{202e}left"), "right\\u{202e}left");
        assert_eq!(line(" two\nlines\tand\r\n"), "two lines and");
        assert_eq!(block("one\n\u{9b}2J\n\n"), "one\n\\u{9b}2J");
    }

    #[test]
    fn commands_of_ci_systems_are_broken() {
        assert_eq!(line("::error::boo"), "\\::error::boo");
        assert_eq!(
            block("x\n  ::set-env name=A::b"),
            "x\n  \\::set-env name=A::b"
        );
        assert_eq!(line("a ##[error]b"), "a ## [error]b");
        assert_eq!(line("##vso[task.x]"), "## vso[task.x]");
        assert_eq!(line("##teamcity[x]"), "## teamcity[x]");
        assert_eq!(line("####[error]b"), "#### [error]b");
        assert_eq!(line("std::fs ## Heading"), "std::fs ## Heading");
    }

    #[test]
    fn json_means_the_same_without_a_command_in_it() {
        let value = serde_json::json!({"title": "###[error]x ##vso[a] ## Heading", "#": "##"});
        let text = json(&value.to_string());
        assert!(!text.contains("##[") && !text.contains("##vso["), "{text}");
        assert!(text.contains("## Heading"), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}

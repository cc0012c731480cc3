//! Text of others: shown, never obeyed, and never able to pass for ours.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::domain::digest::{Digest, hex};
use crate::domain::path::is_invisible;

/// The mark on the lines around quoted text.
///
/// It follows from the job's nonce, so nobody who wrote the reviewed change could know it, and a
/// report that echoes its prompt can be told from one that speaks.
pub(crate) struct Mark(String);

impl Mark {
    /// The mark of a job.
    pub(crate) fn of(nonce: &str) -> Self {
        let digest = Digest::of(format!("run-loop quotes under {nonce}").as_bytes());
        Self(digest.as_str()[..16].to_owned())
    }
    /// The mark's digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
    /// Text between two marked lines, each of its lines behind a bar.
    pub(crate) fn quote(&self, name: &str, text: &str) -> String {
        let mut quoted = self.begin(name);
        for line in text.trim_end_matches(['\n', '\r']).split('\n') {
            let line = visible(line);
            quoted.push_str(if line.is_empty() { "|" } else { "| " });
            quoted.push_str(&line);
            quoted.push('\n');
        }
        quoted + &self.end(name)
    }
    /// Text between two marked lines as it is, for a diff, whose lines have bars of their own.
    ///
    /// A line that could pass for one of ours (no diff has such a line) gets a bar.
    pub(crate) fn quote_diff(&self, name: &str, text: &str) -> String {
        let mut quoted = self.begin(name);
        for line in text.trim_end_matches('\n').split('\n') {
            let line = visible(line);
            if passes_for_ours(&line) {
                quoted.push_str("| ");
            }
            quoted.push_str(&line);
            quoted.push('\n');
        }
        quoted + &self.end(name)
    }
    /// The text without complete quoted sections: what an echo of the prompt adds to a report.
    pub(crate) fn strip(&self, text: &str) -> String {
        let ending = format!(" {}]", self.0);
        let named = |line: &'_ str, start: &str| -> Option<String> {
            let name = line.strip_prefix(start)?.strip_suffix(&ending)?;
            Some(name.to_owned())
        };
        let lines: Vec<&str> = text.split('\n').collect();
        let mut ends: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            if let Some(name) = named(line, "[end ") {
                ends.entry(name).or_default().push(at);
            }
        }
        let mut kept = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let closing = named(line, "[begin ").and_then(|name| {
                let ends = ends.get(&name)?;
                ends.get(ends.partition_point(|end| *end <= at))
            });
            if let Some(end) = closing {
                at = end + 1;
            } else {
                kept.push_str(line);
                kept.push('\n');
                at += 1;
            }
        }
        kept
    }
    fn begin(&self, name: &str) -> String {
        format!("[begin {name} {}]\n", self.0)
    }
    fn end(&self, name: &str) -> String {
        format!("[end {name} {}]", self.0)
    }
}

fn passes_for_ours(line: &str) -> bool {
    let ours = [
        "nonce:", "tree:", "verdict:", "```", "~~~", "[begin ", "[end ",
    ];
    let lower = line.to_lowercase();
    ours.iter().any(|start| lower.starts_with(start))
}

/// A line with everything made visible that a terminal or a reader could trip over.
///
/// Control characters become their pictures (`ESC` is `␛`), invisible and direction-changing
/// characters and other line ends their code points. A tab stays.
pub(crate) fn visible(line: &str) -> Cow<'_, str> {
    if !line.chars().any(is_tricky) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len() + 8);
    for c in line.chars() {
        match u32::from(c) {
            _ if !is_tricky(c) => shown.push(c),
            code @ 0..=0x1f => shown.extend(char::from_u32(0x2400 + code)),
            0x7f => shown.push('\u{2421}'),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

fn is_tricky(c: char) -> bool {
    (c.is_control() && c != '\t') || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Text on one line: [`visible`], with line ends as pictures too.
pub(crate) fn inline(text: &str) -> String {
    visible(text).into_owned()
}

/// Bytes as text in which every line is [`visible`], and whether something had to be shown
/// otherwise than it is.
pub(crate) fn of_bytes(bytes: &[u8]) -> (String, bool) {
    let mut text = String::with_capacity(bytes.len());
    let mut changed = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            changed = true;
            text.extend(["\\x", &hex(&[*byte])]);
        }
    }
    changed |= text.chars().any(|c| c != '\n' && is_tricky(c));
    (text, changed)
}

/// How much is told of what was reported in a session that is gone.
const EARLIER_CAP: usize = 4096;

/// The first characters of a report.
pub(crate) fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(EARLIER_CAP)]
}

/// At most so many characters, with a mark right behind what was cut: half a key is known by that.
pub(crate) fn cut(text: &str, cap: usize) -> String {
    if text.chars().count() <= cap {
        return text.to_owned();
    }
    text.chars().take(cap).chain(['…']).collect()
}

/// A short quotation of an agent's own words, for a problem that is told to it.
pub(crate) fn excerpt(text: &str) -> String {
    const CAP: usize = 80;
    if text.chars().count() <= CAP {
        format!("{text:?}")
    } else {
        let cut: String = text.chars().take(CAP).collect();
        // Right behind what was cut: what begins like a key there is known by it.
        format!("{:?}", format!("{cut}…"))
    }
}

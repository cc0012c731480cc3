//! Characters that make a reader see something else than a compiler or a model reads.
//!
//! Scripts need some of them: joiners stand inside emoji and Persian words, direction marks in
//! Hebrew. Those count only beside ASCII, where nothing needs them.

use crate::checks::rule::{self, Rule};

/// The most tags that a flag has (`gbeng`, `gbsct`, `gbwls`).
const FLAG_TAGS: usize = 6;

/// Reports each rule that a line breaks, once, with the first character that breaks it.
pub(crate) fn scan(line: &[u8], file_start: bool, mut report: impl FnMut(Rule, String)) {
    if line.iter().all(|byte| matches!(byte, b'\t' | 0x20..=0x7e)) {
        return;
    }
    let mut broken: Vec<&'static str> = Vec::new();
    let mut before = Before::default();
    for chunk in line.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            let first = before.last.is_none();
            if let Some(rule) = before.judge(c, chars.peek().copied(), file_start && first)
                && !broken.contains(&rule.id)
            {
                broken.push(rule.id);
                report(rule, format!("U+{:04X}", u32::from(c)));
            }
        }
    }
}

/// What stood before a character.
#[derive(Debug, Default)]
struct Before {
    last: Option<char>,
    /// Tags since a black flag, while they may still become a flag of a region.
    flag: Option<usize>,
}

impl Before {
    /// The rule that a character breaks where it stands.
    fn judge(&mut self, c: char, next: Option<char>, file_start: bool) -> Option<Rule> {
        let last = self.last.replace(c);
        let flag = self.flag.take();
        let ascii = |c: Option<char>| c.is_none_or(|c| c.is_ascii());
        match c {
            '\u{feff}' if file_start => Some(rule::BYTE_ORDER_MARK),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(rule::BIDI),
            '\u{1f3f4}' => {
                self.flag = Some(0);
                None
            }
            '\u{e0000}'..='\u{e007f}' => match flag {
                Some(tags) if c == '\u{e007f}' && tags > 0 => None,
                Some(tags) if tags < FLAG_TAGS => {
                    self.flag = Some(tags + 1);
                    None
                }
                Some(_) | None => Some(rule::HIDDEN_TEXT),
            },
            '\u{fe00}'..='\u{fe0f}' => last.is_some_and(is_selector).then_some(rule::HIDDEN_TEXT),
            '\u{e0100}'..='\u{e01ef}' => {
                (last.is_some_and(is_selector) || ascii(last)).then_some(rule::HIDDEN_TEXT)
            }
            '\u{2028}' | '\u{2029}' | '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => {
                Some(rule::INVISIBLE)
            }
            '\u{00ad}'
            | '\u{061c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'..='\u{2064}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}' => (ascii(last) || ascii(next)).then_some(rule::INVISIBLE),
            // A form feed divides old sources into pages; NUL has its own rule.
            '\t' | '\u{0c}' | '\0' => None,
            _ => c.is_control().then_some(rule::CONTROL_CHARACTER),
        }
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

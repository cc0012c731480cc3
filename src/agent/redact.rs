//! Taking secrets out of what agents hand over and tell.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;

use crate::agent::dispatched::shown;
use crate::agent::environment::Variables;
use crate::domain::agent::Agent;
use crate::process::captured::CapturedFile;

mod address;
mod files;
mod known;
mod pieces;
mod shapes;
mod values;

pub(crate) use known::{WITHHELD, let_go};

/// What stands where a secret stood.
const MARK: &[u8] = b"[redacted]";

/// Values shorter than this are no keys, and would take ordinary words out of texts.
const SHORTEST: usize = 8;

/// Pieces of a value shorter than this tell nothing of it.
const PIECE: usize = 4;

/// No user and password of an address are longer together.
const LONGEST: usize = 4096;

/// What stands where a text was cut.
const CUT: &[u8] = "…".as_bytes();

/// The values that may not be shown.
#[derive(Clone, Default)]
pub struct Secrets {
    values: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.values.len())
    }
}

impl Secrets {
    /// The values that these agents are given, and nobody else.
    #[must_use]
    pub fn of<'a>(agents: impl IntoIterator<Item = &'a Agent>, ours: &Variables) -> Self {
        let given = agents.into_iter();
        Self::new(given.flat_map(|agent| values::given(agent, ours)))
    }

    /// The values of these variables, where they are set.
    #[must_use]
    pub fn named<'a>(names: impl IntoIterator<Item = &'a String>, ours: &Variables) -> Self {
        let values = names.into_iter();
        let values = values.filter_map(|name| ours.get(OsStr::new(name)));
        Self::new(values.map(|value| value.as_bytes().to_vec()))
    }

    fn new(values: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut values: Vec<Vec<u8>> = values
            .map(|value| value.trim_ascii().to_vec())
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(values::with_its_lines)
            .flat_map(|value| values::forms(&value))
            .collect();
        values.sort_unstable();
        values.dedup();
        Self { values }
    }

    /// The bytes without the values, and without what is left of one where somebody cut a text within it
    /// and put `…` there.
    #[must_use]
    pub fn taken_out(&self, bytes: Vec<u8>) -> Vec<u8> {
        let found = self.found_in(&bytes);
        let bytes = if found.is_empty() {
            bytes
        } else {
            without(&bytes, 0, &found)
        };
        if position(&bytes, CUT).is_none() {
            return bytes;
        }
        let mut clean = Vec::with_capacity(bytes.len());
        let mut rest = &bytes[..];
        while let Some(at) = position(rest, CUT) {
            clean.extend_from_slice(&rest[..at]);
            self.take_begun(&mut clean);
            clean.extend_from_slice(CUT);
            rest = &rest[at + CUT.len()..];
        }
        clean.extend_from_slice(rest);
        clean
    }

    /// Whether a text holds one of the values that look drawn at random; others may be ordinary words of it.
    #[must_use]
    pub fn is_in(&self, text: &[u8]) -> bool {
        let mut drawn = self.values.iter().filter(|value| values::is_random(value));
        drawn.any(|value| position(text, value).is_some())
    }

    /// Where the values stand, passwords in addresses and what is a token by its shape, in order and apart
    /// from each other.
    fn found_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found = address::found_in(text, false);
        found.extend(shapes::found_in(text, false));
        for value in &self.values {
            let mut from = 0;
            while let Some(at) = position(&text[from..], value) {
                found.push(from + at..from + at + value.len());
                from += at + 1;
            }
        }
        apart(found)
    }

    /// The same of a part of what somebody printed: where it begins or ends it may do so within a value.
    pub(crate) fn taken_out_of_part(&self, bytes: Vec<u8>, begins: bool, ends: bool) -> Vec<u8> {
        let mut bytes = self.taken_out(bytes);
        if begins && let Some(left) = self.left_of_one(&bytes) {
            drop(bytes.splice(..left, MARK.iter().copied()));
        }
        if ends {
            self.take_begun(&mut bytes);
        }
        bytes
    }

    /// Whether nothing is to be taken out of such a part.
    pub(crate) fn is_clean(&self, part: &[u8], begins: bool, ends: bool) -> bool {
        let cut = position(part, CUT).is_some();
        let is_edged =
            (begins && self.left_of_one(part).is_some()) || (ends && self.begun(part).is_some());
        !cut && !is_edged && self.found_in(part).is_empty()
    }

    /// How much of a value a text begins with that lacks the value's beginning.
    fn left_of_one(&self, text: &[u8]) -> Option<usize> {
        let left = |value: &Vec<u8>| {
            let mut pieces = (1..=value.len() - PIECE).map(|from| &value[from..]);
            pieces
                .find(|piece| text.starts_with(piece))
                .map(<[u8]>::len)
        };
        self.values.iter().filter_map(left).max()
    }

    /// How much of a value, or of an address with one, a text ends with that lacks the value's end.
    fn begun(&self, text: &[u8]) -> Option<usize> {
        let begun = |value: &Vec<u8>| {
            let mut pieces = (PIECE..value.len()).rev().map(|to| &value[..to]);
            pieces.find(|piece| text.ends_with(piece)).map(<[u8]>::len)
        };
        // No user and password are longer.
        let end = &text[text.len().saturating_sub(LONGEST)..];
        let by_rule = [address::found_in(end, true), shapes::found_in(end, true)];
        let by_rule = by_rule.into_iter().flatten();
        let by_rule = by_rule.filter(|range| range.end == end.len());
        let values = self.values.iter().filter_map(begun);
        values.chain(by_rule.map(|range| range.len())).max()
    }

    /// Takes what a value begins with from the end of a text.
    fn take_begun(&self, text: &mut Vec<u8>) {
        if let Some(begun) = self.begun(text) {
            text.truncate(text.len() - begun);
            text.extend_from_slice(MARK);
        }
    }

    /// The last of what a job printed, as it may be shown.
    pub(crate) fn shown_end(&self, file: &CapturedFile) -> String {
        let is_cut = file.bytes_total > file.last.len() as u64;
        let end = self.taken_out_of_part(file.last.clone(), is_cut, false);
        // Again: a control character within a value hides it no more.
        self.taken_out_of_text(&shown(&end))
    }

    /// What is quoted of such a part, which may begin and end where that does.
    pub(crate) fn taken_out_of_quoted(&self, text: &str) -> String {
        let bytes = self.taken_out_of_part(text.as_bytes().to_vec(), true, true);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The text without the values.
    #[must_use]
    pub fn taken_out_of_text(&self, text: &str) -> String {
        let bytes = self.taken_out(text.as_bytes().to_vec());
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Places in order, each behind the one before it: one may hold another, or begin where that one ends.
fn apart(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|range| range.start);
    let mut apart: Vec<Range<usize>> = Vec::new();
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => apart.push(range),
        }
    }
    apart
}

/// A piece that begins at this place of its text, without what is secret there. The mark stands where a
/// secret begins.
fn without(piece: &[u8], begins: usize, secret: &[Range<usize>]) -> Vec<u8> {
    let ends = begins + piece.len();
    let mut kept = Vec::with_capacity(piece.len());
    let mut at = begins;
    for range in secret {
        if range.end <= at || range.start >= ends {
            continue;
        }
        let start = range.start.max(at);
        kept.extend_from_slice(&piece[at - begins..start - begins]);
        if range.start >= begins {
            kept.extend_from_slice(MARK);
        }
        at = range.end.min(ends);
    }
    kept.extend_from_slice(&piece[at - begins..]);
    kept
}

fn position(bytes: &[u8], of: &[u8]) -> Option<usize> {
    let first = of.first()?;
    let mut from = 0;
    loop {
        let at = from + bytes[from..].iter().position(|byte| byte == first)?;
        if bytes[at..].starts_with(of) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests;

//! The rules about lines of text, over one changed file that comes in pieces.

use crate::checks::changed::Changed;
use crate::checks::finding::{Findings, Found};
use crate::checks::rule;
use crate::checks::secret::assigned;
use crate::checks::text::conflict::Conflicts;
use crate::domain::path::RepoPath;

pub(crate) mod conflict;
pub(crate) mod name;
pub(crate) mod unicode;
pub(crate) mod whitespace;

#[cfg(test)]
mod tests;

/// How git tells binary from text.
const SNIFFED: usize = 8000;

/// One changed file under scan.
#[derive(Debug)]
pub(crate) struct FileScan {
    path: RepoPath,
    changed: Changed,
    /// Whether its name says that it is text.
    named_text: bool,
    kind: Kind,
    line: u32,
    /// Whether the next byte begins a line.
    at_start: bool,
    conflicts: Conflicts,
    nul_seen: bool,
    blank_end: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Unknown,
    Text,
    Binary,
}

impl FileScan {
    pub(crate) fn new(path: RepoPath, changed: Changed) -> Self {
        Self {
            named_text: name::is_text(path.as_bytes()),
            path,
            changed,
            kind: Kind::Unknown,
            line: 1,
            at_start: true,
            conflicts: Conflicts::default(),
            nul_seen: false,
            blank_end: None,
        }
    }

    /// The path.
    pub(crate) fn path(&self) -> &RepoPath {
        &self.path
    }
    /// Which lines count.
    pub(crate) fn changed(&self) -> &Changed {
        &self.changed
    }
    /// Takes the next piece.
    pub(crate) fn piece(&mut self, bytes: &[u8], last: bool, findings: &mut Findings) {
        if self.kind == Kind::Unknown {
            self.kind = self.sniff(bytes, findings);
        }
        if self.kind == Kind::Binary {
            return;
        }
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line(line, findings);
        }
        if last {
            self.end(findings);
        }
    }

    fn sniff(&self, bytes: &[u8], findings: &mut Findings) -> Kind {
        let head = &bytes[..bytes.len().min(SNIFFED)];
        if !head.contains(&0) {
            return Kind::Text;
        }
        let wide = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
        if wide {
            let detail = "it is UTF-16, which tools take for binary";
            findings.push(Found::file(rule::BYTE_ORDER_MARK, &self.path, detail));
        } else if self.named_text && self.changed != Changed::Ranges(Vec::new()) {
            let detail = "tools take the file for binary and do not show it";
            findings.push(Found::file(rule::NUL, &self.path, detail));
        }
        Kind::Binary
    }

    fn line(&mut self, raw: &[u8], findings: &mut Findings) {
        let (number, at_start) = (self.line, self.at_start);
        let complete = raw.ends_with(b"\n");
        let text = raw.strip_suffix(b"\n").unwrap_or(raw);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let changed = self.changed.touches(number, number);
        if at_start {
            self.conflicts
                .line(text, number, changed, &self.path, findings);
        }
        if changed {
            self.changed_line(text, number, at_start, findings);
        }
        self.blank_end =
            (changed && at_start && complete && text.trim_ascii().is_empty()).then_some(number);
        self.at_start = complete;
        if complete {
            self.line = number.saturating_add(1);
        }
    }

    fn changed_line(&mut self, text: &[u8], number: u32, at_start: bool, findings: &mut Findings) {
        let file_start = number == 1 && at_start;
        unicode::scan(text, file_start, |rule, detail| {
            findings.push(Found::line(rule, &self.path, number, detail));
        });
        if !self.nul_seen && text.contains(&0) {
            self.nul_seen = true;
            findings.push(Found::line(rule::NUL, &self.path, number, ""));
        }
        if at_start && let Some(detail) = whitespace::find(text) {
            findings.push(Found::line(rule::WHITESPACE, &self.path, number, detail));
        }
        if assigned::find(text).is_some() {
            findings.push(Found::line(rule::ASSIGNED_SECRET, &self.path, number, ""));
        }
    }

    fn end(&mut self, findings: &mut Findings) {
        self.conflicts.end(&self.path, findings);
        if let Some(line) = self.blank_end {
            let detail = "blank line at the end of the file";
            findings.push(Found::line(rule::WHITESPACE, &self.path, line, detail));
        }
    }
}

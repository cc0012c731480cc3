//! Merge conflicts left in a file: an opening marker and, later, a closing one.
//!
//! `=======` alone is never taken for a marker: it underlines headings.

use crate::checks::finding::{Findings, Found};
use crate::checks::rule;
use crate::domain::path::RepoPath;

/// What is known of the markers so far.
#[derive(Debug, Default)]
pub(crate) struct Conflicts {
    /// Line of an opening marker without its closing one, and whether it counts by itself.
    open: Option<(u32, bool)>,
}

impl Conflicts {
    /// Takes the next line, without its end. A whole conflict counts wherever it stands in a
    /// changed file; half of one only in a changed line and with a label.
    pub(crate) fn line(
        &mut self,
        text: &[u8],
        number: u32,
        changed: bool,
        path: &RepoPath,
        findings: &mut Findings,
    ) {
        if let Some(label) = marker(text, b'<') {
            self.end(path, findings);
            self.open = Some((number, changed && label));
        } else if let Some(label) = marker(text, b'>') {
            if let Some((first, _)) = self.open.take() {
                findings.push(Found {
                    lines: Some((first, number)),
                    ..Found::file(rule::CONFLICT, path, "")
                });
            } else if changed && label {
                half(path, number, "a closing one", findings);
            }
        }
    }

    /// The file ended, or another conflict opened.
    pub(crate) fn end(&mut self, path: &RepoPath, findings: &mut Findings) {
        if let Some((line, true)) = self.open.take() {
            half(path, line, "an opening one", findings);
        }
    }
}

fn half(path: &RepoPath, line: u32, detail: &str, findings: &mut Findings) {
    findings.push(Found::line(rule::HALF_CONFLICT, path, line, detail));
}

/// Whether the line is a marker of seven such bytes, and then whether a label follows.
fn marker(text: &[u8], byte: u8) -> Option<bool> {
    let rest = text.strip_prefix(&[byte; 7])?;
    match rest.split_first() {
        None => Some(false),
        Some((b' ', label)) => Some(!label.trim_ascii().is_empty()),
        Some(_) => None,
    }
}

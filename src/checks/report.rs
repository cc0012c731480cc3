//! The report of the `checks` for people. It is promoted: no path of this machine, no secret, and
//! well below the size that the content tree leaves out.

use std::fmt::Write as _;

use crate::checks::cache::Cached;
use crate::checks::command::{Meaning, Ran};
use crate::checks::output::Quote;
use crate::checks::rule::{self, Rule};
use crate::checks::scan::Scanned;
use crate::domain::evidence::{ChangedFile, Evidence, FileStatus};
use crate::domain::finding::Claim;
use crate::domain::identity::Pin;
use crate::domain::severity::Severity;

/// Files that are named one by one.
const FILES: usize = 200;
/// The most a report may have; beyond, quotes of output are left out.
const LIMIT: usize = 768 * 1024;

/// What a report tells.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) pin: &'a Pin,
    pub(crate) evidence: &'a Evidence,
    pub(crate) fail_on: Severity,
    /// `PASS`, `NOT PASS`, or why there is no verdict.
    pub(crate) outcome: &'a str,
    pub(crate) problems: &'a [String],
    pub(crate) claims: &'a [Claim],
    pub(crate) scanned: Option<&'a Scanned>,
    pub(crate) commands: &'a [Ran],
    pub(crate) caches: &'a [Cached],
    pub(crate) secret_rules: &'a [Rule],
}

impl Report<'_> {
    /// The Markdown.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _: std::fmt::Result = self.write(&mut text, true);
        if text.len() > LIMIT {
            text.clear();
            let _: std::fmt::Result = self.write(&mut text, false);
        }
        text
    }

    fn write(&self, out: &mut String, quotes: bool) -> std::fmt::Result {
        let identity = &self.pin.identity;
        writeln!(out, "# Checks: {}\n", self.outcome)?;
        writeln!(out, "- base: {}", identity.base)?;
        writeln!(out, "- head: {}", identity.head)?;
        writeln!(out, "- tree: {}", identity.tree)?;
        writeln!(out, "- fails on: {}", self.fail_on)?;
        if let Some(scanned) = self.scanned {
            writeln!(
                out,
                "- read: {} changed files, {} blobs ({} of them in the history only), {} bytes",
                self.evidence.files.len(),
                scanned.blobs,
                scanned.history,
                scanned.bytes
            )?;
        }
        for problem in self.problems {
            writeln!(out, "- no verdict: {}", one_line(problem))?;
        }
        self.findings(out)?;
        self.files(out)?;
        self.commands(out, quotes)?;
        self.rules(out)
    }

    fn findings(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n## Findings\n")?;
        if self.claims.is_empty() {
            writeln!(out, "None.")?;
        }
        for claim in self.claims {
            let blocks = if claim.blocks(self.fail_on) {
                ", blocks"
            } else {
                ""
            };
            write!(out, "- **{}{blocks}**", claim.severity)?;
            if let Some(path) = &claim.path {
                let line = claim.line.map_or(String::new(), |line| format!(":{line}"));
                write!(out, " {}", code(&format!("{path}{line}")))?;
            }
            writeln!(
                out,
                " {}. {}",
                one_line(&claim.title),
                one_line(first_paragraph(&claim.body))
            )?;
        }
        Ok(())
    }

    fn files(&self, out: &mut String) -> std::fmt::Result {
        let files = &self.evidence.files;
        writeln!(out, "\n## Changed files\n")?;
        for file in files.iter().take(FILES) {
            changed_file(out, file)?;
        }
        if files.len() > FILES {
            writeln!(out, "- and {} more", files.len() - FILES)?;
        }
        Ok(())
    }

    fn commands(&self, out: &mut String, quotes: bool) -> std::fmt::Result {
        writeln!(out, "\n## Commands\n")?;
        if self.commands.is_empty() {
            writeln!(out, "None ran.")?;
        }
        for ran in self.commands {
            let ended = match ran.meaning() {
                Meaning::Passed => "passed".to_owned(),
                Meaning::Failed(words) => words,
                Meaning::NoVerdict { problem, .. } => problem,
            };
            writeln!(
                out,
                "- {} {}: {}",
                code(&ran.configured.name),
                code(&one_line(&ran.configured.run)),
                one_line(&ended)
            )?;
            let quiet = matches!(ran.meaning(), Meaning::Passed);
            if quotes && !quiet {
                quote(out, "standard output", &ran.stdout)?;
                quote(out, "standard error", &ran.stderr)?;
            }
        }
        for cached in self.caches {
            let state = if cached.warm { "warm" } else { "cold" };
            let lost = cached
                .lost
                .as_ref()
                .map_or(String::new(), |why| format!(", not kept: {why}"));
            writeln!(out, "- cache {}: {state}{lost}", code(&cached.path))?;
        }
        Ok(())
    }

    fn rules(&self, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n## Rules that ran\n")?;
        if self.scanned.is_none() {
            return writeln!(out, "Not all: the scan did not end.");
        }
        for rule in rule::ALL.iter().chain(self.secret_rules) {
            writeln!(out, "- `{}` ({}): {}", rule.id, rule.severity, rule.title)?;
        }
        Ok(())
    }
}

fn changed_file(out: &mut String, file: &ChangedFile) -> std::fmt::Result {
    let status = match file.status {
        FileStatus::Added => "added",
        FileStatus::Modified => "modified",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed => "renamed",
        FileStatus::ModeChanged => "mode changed",
        FileStatus::TypeChanged => "type changed",
    };
    write!(out, "- {status} {}", code(&file.path.to_string()))?;
    if let Some(old) = &file.old_path {
        write!(out, " from {}", code(&old.to_string()))?;
    }
    if file.old_mode == file.new_mode {
        write!(out, " {}", file.new_mode)?;
    } else {
        write!(out, " {} → {}", file.old_mode, file.new_mode)?;
    }
    if let Some(kind) = file.unreviewed {
        write!(out, ", not shown to reviewers: {}", kind.as_str())?;
    }
    writeln!(out)
}

fn quote(out: &mut String, channel: &str, quote: &Quote) -> std::fmt::Result {
    if quote.text.trim().is_empty() {
        return Ok(());
    }
    let cut = if quote.before > 0 {
        format!(", the end ({} bytes before it)", quote.before)
    } else {
        String::new()
    };
    let fence = fence(&quote.text);
    writeln!(out, "\n  {channel}{cut}:\n\n  {fence}text")?;
    for line in quote.text.lines() {
        // Workflow commands of CI systems begin a line; the indent and the gap break them.
        writeln!(out, "  {}", line.replacen("::", ": :", 1))?;
    }
    writeln!(out, "  {fence}\n")
}

/// A fence that nothing in the text closes.
fn fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

/// A code span that nothing in the text closes.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let edge = text.starts_with('`') || text.ends_with('`') || text.is_empty();
    let gap = if edge { " " } else { "" };
    format!("{ticks}{gap}{text}{gap}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// What a finding is about. What a command printed stands below `Commands`.
fn first_paragraph(body: &str) -> &str {
    body.split_once("\n\n").map_or(body, |(first, _)| first)
}

fn one_line(text: &str) -> String {
    crate::checks::output::plain(text).replace(['\n', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_a_fence_or_a_span() {
        assert_eq!(fence("a ```` b"), "`````");
        assert_eq!(fence(""), "```");
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
    }
}

//! The rules about what changed besides bytes: modes, links, submodules, what is hidden.

use std::collections::BTreeMap;

use crate::checks::finding::{Findings, Found};
use crate::checks::git::{self, Entry};
use crate::checks::rule::{self, Rule};
use crate::checks::scan::Scanned;
use crate::domain::evidence::{ChangedFile, Evidence, UnreviewedKind};
use crate::domain::glob::Glob;
use crate::domain::path::RepoPath;
use crate::domain::policy::AllowUnreviewed;
use crate::domain::severity::Severity;

const EXECUTABLE: &str = "100755";

/// Reports what the entries of the change break.
pub(crate) fn examine(
    evidence: &Evidence,
    scanned: &Scanned,
    allowed: &[AllowUnreviewed],
    findings: &mut Findings,
) {
    let entries: BTreeMap<&RepoPath, &Entry> = scanned
        .entries
        .iter()
        .map(|entry| (&entry.path, entry))
        .collect();
    for file in &evidence.files {
        modes(file, findings);
        if let Some(target) = scanned.links.get(&file.path) {
            link(&file.path, target, findings);
        } else if file.new_mode == git::LINK {
            let detail = "its target is too long to be a path";
            findings.push(Found::file(rule::LINK_OUTSIDE, &file.path, detail));
        }
        if let Some(entry) = entries.get(&file.path) {
            submodule(entry, allowed, findings);
        }
        hidden(file, findings);
    }
}

fn modes(file: &ChangedFile, findings: &mut Findings) {
    let (old, new) = (file.old_mode.as_str(), file.new_mode.as_str());
    if old == new || new == git::ABSENT || [old, new].contains(&git::SUBMODULE) {
        return;
    }
    let rule = match (old, new) {
        (git::ABSENT, "100644") => return,
        (git::ABSENT, _) => rule::MODE,
        (_, EXECUTABLE) => rule::EXECUTABLE,
        (_, _) => rule::MODE,
    };
    let detail = format!("mode {old} became {new}");
    findings.push(Found::file(rule, &file.path, detail));
}

/// A link that leads out of the tree shows a reviewer other bytes than it shows anyone else.
fn link(path: &RepoPath, target: &[u8], findings: &mut Findings) {
    let reason = if target.starts_with(b"/") {
        Some("its target is absolute")
    } else {
        leads_out(path.as_bytes(), target)
    };
    if let Some(reason) = reason {
        findings.push(Found::file(rule::LINK_OUTSIDE, path, reason));
    }
}

/// Why a relative target leaves the tree, by its text alone.
fn leads_out(path: &[u8], target: &[u8]) -> Option<&'static str> {
    let mut depth = path.split(|byte| *byte == b'/').count() - 1;
    for component in target.split(|byte| *byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." if depth == 0 => return Some("its target is outside the tree"),
            b".." => depth -= 1,
            name if name.eq_ignore_ascii_case(b".git") => {
                return Some("its target is inside `.git`");
            }
            _ => depth += 1,
        }
    }
    None
}

fn submodule(entry: &Entry, allowed: &[AllowUnreviewed], findings: &mut Findings) {
    let is = |mode: &str| mode == git::SUBMODULE;
    let detail = match (is(&entry.old_mode), is(&entry.new_mode)) {
        (false, false) => return,
        (true, true) => format!("moved from {} to {}", entry.old, entry.new),
        (false, true) => format!("added at {}", entry.new),
        (true, false) => format!("removed, was at {}", entry.old),
    };
    let matches = |allow: &AllowUnreviewed| {
        allow.kind == UnreviewedKind::Submodule
            && Glob::parse(&allow.paths).is_ok_and(|glob| glob.matches(entry.path.as_bytes()))
    };
    let severity = if allowed.iter().any(matches) {
        Severity::Info
    } else {
        rule::SUBMODULE.severity
    };
    let rule = Rule {
        severity,
        ..rule::SUBMODULE
    };
    findings.push(Found::file(rule, &entry.path, detail));
}

/// An exclusion is meant for texts; what runs or links must not hide behind it (scenario V06).
fn hidden(file: &ChangedFile, findings: &mut Findings) {
    let runs = [EXECUTABLE, git::LINK].contains(&file.new_mode.as_str());
    if file.unreviewed == Some(UnreviewedKind::Excluded) && runs {
        let detail = format!("mode {}", file.new_mode);
        findings.push(Found::file(rule::EXCLUDED_EXECUTABLE, &file.path, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_leaves_the_tree_by_its_text() {
        assert_eq!(leads_out(b"a/b/link", b"../../c"), None);
        assert_eq!(leads_out(b"a/b/link", b"x/../../../c"), None);
        assert!(leads_out(b"a/b/link", b"../../../c").is_some());
        assert!(leads_out(b"link", b"..").is_some());
        assert!(leads_out(b"link", b"sub/.GIT/config").is_some());
        assert_eq!(leads_out(b"link", b""), None);
    }
}

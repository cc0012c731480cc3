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
use crate::git::tree_id::is_below;

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
            let is_folder = |way: &[u8]| scanned.folders.contains(way);
            if let Some(reason) = leads_out(file.path.as_bytes(), target, is_folder) {
                findings.push(Found::file(rule::LINK_OUTSIDE, &file.path, reason));
            }
        } else if file.new_mode == git::LINK {
            let detail = "its target is too long to be a path";
            findings.push(Found::file(rule::LINK_OUTSIDE, &file.path, detail));
        }
        if let Some(entry) = entries.get(&file.path) {
            submodule(entry, allowed, findings);
        }
        hidden(file, findings);
    }
    // What the change leaves alone leads elsewhere where a folder that it goes up from became a link.
    for (path, target) in &scanned.old_links {
        let is_link = |way: &[u8]| {
            let mut links = scanned.links.keys().map(RepoPath::as_bytes);
            links.any(|link| way == link || is_below(way, link))
        };
        if leads_out(path.as_bytes(), target, |way| !is_link(way)) == Some(GOES_UP) {
            findings.push(Found::file(rule::LINK_OUTSIDE, path, GOES_UP));
        }
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

const GOES_UP: &str = "its target goes up (`..`) from what is no folder of the tree";

/// Why a link may leave the tree, where it would show a reviewer other bytes than it shows anyone else.
///
/// From a folder of the tree `..` leads to the one around it. From a link it leads to wherever that leads,
/// and so it may from what is not there yet.
fn leads_out(
    path: &[u8],
    target: &[u8],
    is_folder: impl Fn(&[u8]) -> bool,
) -> Option<&'static str> {
    if target.starts_with(b"/") {
        return Some("its target is absolute");
    }
    let mut way: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    way.pop();
    let mut is_named = false;
    for component in target.split(|byte| *byte == b'/') {
        match component {
            b".." if is_named && !is_folder(&way.join(&b'/')) => return Some(GOES_UP),
            b".." if way.pop().is_none() => return Some("its target is outside the tree"),
            b"" | b"." | b".." => {}
            name if name.eq_ignore_ascii_case(b".git") => {
                return Some("its target is inside `.git`");
            }
            name => {
                is_named = true;
                way.push(name);
            }
        }
    }
    None
}

/// Whether a target goes up from what it named before.
pub(crate) fn goes_up_again(target: &[u8]) -> bool {
    let parts = target.split(|byte| *byte == b'/');
    let mut named = parts.skip_while(|part| matches!(*part, b"" | b"." | b".."));
    named.any(|part| part == b"..")
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
        let none = |_: &[u8]| false;
        assert_eq!(leads_out(b"a/b/link", b"../../c", none), None);
        assert!(leads_out(b"a/b/link", b"../../../c", none).is_some());
        assert!(leads_out(b"link", b"..", none).is_some());
        assert!(leads_out(b"link", b"sub/.GIT/config", none).is_some());
        assert_eq!(leads_out(b"link", b"", none), None);
    }

    /// What is no folder may be a link, or become one.
    #[test]
    fn only_from_a_folder_does_a_target_go_up() {
        let folders = |way: &[u8]| [&b"a"[..], b"a/b", b"a/b/x", b"d"].contains(&way);
        assert_eq!(leads_out(b"a/b/link", b"x/../../../c", folders), None);
        assert!(leads_out(b"a/b/link", b"x/../../../../c", folders).is_some());
        assert_eq!(leads_out(b"l", b"d/../a/b/x/./../y", folders), None);
        for target in [&b"d/s/../x"[..], b"s/..", b"d/../s/..", b"d/s//.."] {
            assert!(leads_out(b"l", target, folders).is_some());
            assert!(goes_up_again(target));
        }
        for target in [&b"../.././c/d"[..], b"", b"..", b"d/..x"] {
            assert!(!goes_up_again(target));
        }
    }
}
